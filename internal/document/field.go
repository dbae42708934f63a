package document

import (
	"encoding/json"
	"strings"
)

// PeekField returns a field of a document in lookup form without parsing the whole document: text as it is, numbers
// in digits, yes or no. ok is false if there is none.
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

// rawField returns the text of one field of a JSON object that this package has written: without white space.
func rawField(doc, name string) (raw string, ok bool) {
	for i := 1; i < len(doc) && doc[i] == '"'; i++ {
		end := skipText(doc, i)
		if end+1 >= len(doc) {
			return "", false
		}
		key := doc[i+1 : end-1]
		from := end + 1 // after the colon
		i = skipValue(doc, from)
		if i < 0 || i >= len(doc) { // the object ends after its last value
			return "", false
		}
		if key == name {
			return doc[from:i], i > from
		}
	}
	return "", false
}

// skipText returns the index after a string that begins at i. Escaped characters are skipped in pairs, so that an
// escaped quote does not end the string.
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

// skipValue returns the index after a value that begins at i, or -1.
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
