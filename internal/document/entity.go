package document

import (
	"encoding/json"
	"slices"
	"strings"

	"comanda/internal/keyspace"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// Entity declares one model: the content of its documents and how they are found. Documents, keys, imports and exports
// are derived from it. The id is the first field and the version the last one; other code relies on both.
type Entity struct {
	Name       string // in keys and exports
	Fields     []Field
	Indexes    []*Index
	Keys       *keyspace.Documents
	Numeric    bool // ids are numbers, otherwise text
	ExportOnly bool // exported, never imported

	UniqueTogether []string // fields whose combination is unique

	// ShowsEntries states that documents contain the values of all indexes as text, none of them in an Object. A document
	// whose values need no encoding then has no memo: its JSON shows its version and index entries.
	ShowsEntries bool
	Immutable    bool // documents never change after version 1; they can only be deleted
	Kept         bool // rows are never deleted, so that they are counted once
}

// Field is one value of a row. The values of a row have the order in which the fields are declared.
type Field struct {
	Name     string // in the document
	Kind     Kind
	Null     bool   // may be missing
	Derived  bool   // computed from other rows; never imported
	Hidden   bool   // not in the document; an export writes it beside the document
	Refers   string // the entity that the value identifies
	Optional bool   // an import may omit it
	Default  int64  // the number that an import without the field stores
	OmitNull bool   // omitted if NULL: such documents equal those of releases before the field
	OneOf    []string
	Between  [2]int64 // minimum and maximum of a number; {0, 0} for any

	Typed text.Kind // kind of typed text, including texts in an object by locale: an import normalizes them as routes do
}

// Kind is the way in which a value is written.
type Kind int

// The kinds.
const (
	Text      Kind = iota // text
	Number                // a whole number
	ID                    // a number, written as text
	Flag                  // 0 or 1, written as false or true
	Instant               // unix milliseconds, written as RFC 3339 in UTC; 0 is null
	Object                // JSON, written as it is
	Localised             // a JSON object of texts by locale, of which one is written
	Members               // a JSON array of numbers: the ids that a relation holds
)

// isText reports whether SQL stores the kind as text.
func (k Kind) isText() bool { return k == Text || k >= Object }

// Index finds documents by a value.
type Index struct {
	Name      string // in queries and memos
	Field     string
	Unique    bool
	Case      Case
	OnlyValue string // the only indexed value; empty for all
	Keys      []*keyspace.DocumentIndex

	field int // position of Field in Entity.Fields
}

// Case is the treatment of capital letters in a value that is looked up.
type Case int

// The cases.
const (
	Fold   Case = iota // A-Z become lower case, no other letters, so that SQL does the same
	Escape             // distinguished, and escaped because keys have no capitals
	Keep               // distinguished and kept: role names and payment references, as in the reference documents
)

// IsRelation reports whether the index lists the members of one document, rather than the documents with one value.
func (x *Index) IsRelation() bool { return x.Keys[0].Own }

// define completes a declaration. It panics on a mistake in it, at program start.
func define(e Entity) *Entity {
	for _, x := range e.Indexes {
		x.field = slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == x.Field })
		if x.field < 0 {
			panic("document: " + e.Name + " has no field " + x.Field)
		}
	}
	return &e
}

// Index returns an index by name; nil if there is none.
func (e *Entity) Index(name string) *Index {
	for _, x := range e.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// position returns the position of a field that exists.
func (e *Entity) position(field string) int {
	return slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == field })
}

// Sets returns the indexes that Find accepts as conditions, in the order of declaration. SQL statements take their
// arguments in this order.
func (e *Entity) Sets() []*Index {
	return seq.Filter(e.Indexes, func(x *Index) bool { return !x.Unique && !x.IsRelation() })
}

// ByName returns an entity by name; nil if there is none.
func ByName(name string) *Entity {
	for _, e := range Entities {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Ref identifies a document. It is comparable, so it serves as the key of maps.
type Ref struct {
	Entity *Entity
	ID     string
}

// String returns the key of the document.
func (r Ref) String() string { return r.Entity.Name + ":" + r.ID }

// Kind returns the kind of the values of an index.
func (e *Entity) Kind(x *Index) Kind { return e.Fields[x.field].Kind }

// PeekField returns a field of a document in lookup form: text unchanged, numbers in digits, flags as yes or no. ok is
// false if the document lacks the field.
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

// HasEntry reports whether a document has an index entry. Relations are not part of documents, so their entries always
// match. Readers detect with it that an index entry is newer or older than its document.
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

// maxEncodedValue is the longest encoded value in keys, see package keyspace.
const maxEncodedValue = 768

// Encode returns a value as a segment of a key: trimmed, case-folded as the index declares, and percent-encoded in
// lower case outside of a-z 0-9 @ . _ + -. ok is false for a value that is not indexed, because it is empty, too long
// or not OnlyValue; such values are looked up in SQL.
func (x *Index) Encode(value string) (encoded string, ok bool) {
	value = strings.TrimSpace(value)
	if x.isEncoded(value) {
		encoded = value
	} else {
		encoded = x.escape(value)
	}
	return encoded, encoded != "" && len(encoded) <= maxEncodedValue && (x.OnlyValue == "" || x.OnlyValue == encoded)
}

// isEncoded reports whether a value equals its encoding, which is true for nearly all values.
func (x *Index) isEncoded(value string) bool {
	for i := range len(value) {
		if c := value[i]; !unreserved(c) && (x.Case != Keep || c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// unreserved reports whether a byte is written unchanged in a key. Capital letters are, only in indexes that keep
// them.
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

// ParseEntry parses the result of String; ok is false for an index that the entity does not have, or no longer has.
func (e *Entity) ParseEntry(text string) (entry IndexEntry, ok bool) {
	name, value, _ := strings.Cut(text, "=")
	x := e.Index(name)
	return IndexEntry{x, value}, x != nil
}
