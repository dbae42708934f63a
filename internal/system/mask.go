package system

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// hidden stands where a secret was.
const hidden = "[redacted]"

// secret are the names of members that hold secrets, or what secrets could be made of, in whatever others send us.
var secret = regexp.MustCompile(`(?i)pass(word|wd|phrase)|secret|token|authori[sz]ation|cookie|signature|` +
	`api[_-]?key|private|credential|otp|cvv|cvc|(card|pan)[_-]?(number|no)|secure[_-]?hash`)

// Masked gives a payload without the values of members whose names say that they are secret, at any depth. What is no
// JSON is not shown: nobody can tell what is in it.
func Masked(payload json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // amounts and ids stay as they are
	if err := d.Decode(&v); err != nil || d.More() {
		return json.RawMessage(`"[not JSON]"`)
	}
	text, err := json.Marshal(mask(v))
	if err != nil {
		return json.RawMessage(`"[not JSON]"`)
	}
	return text
}

func mask(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if secret.MatchString(name) {
				v[name] = hidden
			} else {
				v[name] = mask(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = mask(v[i])
		}
	}
	return v
}
