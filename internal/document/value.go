package document

import "strings"

// maxEncodedValue is the longest encoded value in keys, see package keyspace.
const maxEncodedValue = 768

// Encode returns a value as a segment of a key: trimmed, case-folded as the index declares, and percent-encoded in
// lower case outside of a-z 0-9 @ . _ + -. ok is false for a value that is not indexed, because it is empty, too long
// or not OnlyValue; SQL finds it.
func (x *Index) Encode(value string) (encoded string, ok bool) {
	value = strings.TrimSpace(value)
	if x.isEncoded(value) {
		encoded = value
	} else {
		encoded = x.escape(value)
	}
	return encoded, encoded != "" && len(encoded) <= maxEncodedValue && (x.OnlyValue == "" || x.OnlyValue == encoded)
}

// isEncoded reports whether a value is its own encoding, as nearly all are.
func (x *Index) isEncoded(value string) bool {
	for i := range len(value) {
		if c := value[i]; !unreserved(c) && (x.Case != Keep || c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// unreserved reports whether a byte stands for itself in a key. Capital letters do only in indexes that keep them.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("@._+-", c) >= 0
}

const hexDigits = "0123456789abcdef"

// escape encodes byte by byte, so that a value in any script has an encoding of bounded length.
func (x *Index) escape(value string) string {
	b := make([]byte, 0, 3*len(value))
	for i := range len(value) {
		c := value[i]
		capital := 'A' <= c && c <= 'Z'
		switch {
		case capital && x.Case == Fold:
			b = append(b, c+'a'-'A')
		case unreserved(c), capital && x.Case == Keep:
			b = append(b, c)
		default:
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(b)
}

// Lookup returns a value as SQL compares it: trimmed and case-folded, but not encoded. It folds A-Z only, because
// SQLite's lower() folds no other letters.
func (x *Index) Lookup(value string) string {
	value = strings.TrimSpace(value)
	if x.Case != Fold {
		return value
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, value)
}

// IndexEntry is one value under which a document is found: an index and the encoded value. For a relation, the value
// is the id of the related row.
type IndexEntry struct {
	Index *Index
	Value string
}

// String returns the entry in the form of memos.
func (e IndexEntry) String() string { return e.Index.Name + "=" + e.Value }

// ParseEntry parses the result of String; ok is false for an index that the entity does not have (any more).
func (e *Entity) ParseEntry(text string) (entry IndexEntry, ok bool) {
	name, value, _ := strings.Cut(text, "=")
	x := e.Index(name)
	return IndexEntry{x, value}, x != nil
}
