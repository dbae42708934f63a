package document

import (
	"encoding/json"
	"strings"
)

// Peek gives a value of a document as it is looked up, without reading all of it: text as it is, numbers in digits, yes
// or no. ok is false when there is none.
func PeekField(doc, name string) (value string, ok bool) {
	raw, found := rawField(doc, name)
	switch {
	case !found, raw == null:
		return "", false
	case raw == "true":
		return flagText(true), true
	case raw == "false":
		return flagText(false), true
	case raw[0] != '"':
		return raw, true
	case strings.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1], true
	}
	err := json.Unmarshal([]byte(raw), &value)
	return value, err == nil
}

// Has tells whether a document is found under an entry. What a relation holds is not in documents: it is believed.
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

// member gives the text of one member of a JSON object that we have written ourselves: without spaces around.
func rawField(doc, name string) (raw string, ok bool) {
	for i := 1; i < len(doc) && doc[i] == '"'; i++ {
		end := skipText(doc, i)
		if end+1 >= len(doc) {
			return "", false
		}
		key := doc[i+1 : end-1]
		from := end + 1 // behind the colon
		i = skipValue(doc, from)
		if i < 0 || i >= len(doc) { // an object of ours ends behind its last value
			return "", false
		}
		if key == name {
			return doc[from:i], i > from
		}
	}
	return "", false
}

// skipText gives the place behind a string that begins at i.
func skipText(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// skipValue gives the place behind a value that begins at i.
func skipValue(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = skipText(s, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}
