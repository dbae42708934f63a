package system

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// hidden replaces a secret.
const hidden = "[redacted]"

// secret matches names of members that may hold secrets in messages of other systems. It rather hides too much: "otp"
// and "private" match anywhere in a name.
var secret = regexp.MustCompile(`(?i)pass(word|wd|phrase)|secret|token|authori[sz]ation|cookie|signature|` +
	`api[_-]?key|private|credential|otp|cvv|cvc|(card|pan)[_-]?(number|no)|secure[_-]?hash`)

// Masked returns a payload without the values of members whose names indicate a secret, at any depth. A payload that is
// not JSON is not shown, because its content is unknown.
func Masked(payload json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // numbers keep their exact form
	if err := d.Decode(&v); err != nil || d.More() {
		return json.RawMessage(`"[not JSON]"`)
	}
	text, err := json.Marshal(mask(v))
	if err != nil {
		return json.RawMessage(`"[not JSON]"`)
	}
	return text
}

// mask changes the decoded value in place. A secret member is replaced as a whole, whatever it contains.
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
