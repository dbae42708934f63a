package document

import "encoding/json"

// PeekField returns a field of a document in lookup form: text as it is, numbers in digits, yes or no. ok is false if
// there is none.
func PeekField(doc, name string) (value string, ok bool) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &fields); err != nil {
		return "", false
	}
	switch raw := fields[name]; {
	case len(raw) == 0, string(raw) == null:
		return "", false
	case string(raw) == "true", string(raw) == "false":
		return flagText(string(raw) == "true"), true
	case raw[0] != '"':
		return string(raw), true
	default:
		err := json.Unmarshal(raw, &value)
		return value, err == nil
	}
}

// HasEntry reports whether a document has an index entry. Relations are not in documents and always match. Readers use
// it to detect an index entry that is ahead of or behind its document.
func HasEntry(doc string, e IndexEntry) bool {
	if e.Index.IsRelation() {
		return true
	}
	value, ok := PeekField(doc, e.Index.Field)
	if !ok {
		return false
	}
	encoded, ok := e.Index.Encode(value)
	return ok && encoded == e.Value
}
