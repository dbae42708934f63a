package document

import (
	"slices"

	"comanda/internal/keyspace"
	"comanda/internal/text"
)

// Entity declares one model: the content of its documents and how they are found. All else is derived from it. The id
// is the first field and the version the last one; other code relies on both.
type Entity struct {
	Name       string // in keys and exports
	Fields     []Field
	Indexes    []*Index
	Keys       *keyspace.Documents
	Numeric    bool // ids are numbers, otherwise text
	ExportOnly bool // exported, never imported

	UniqueTogether []string // fields whose combination is unique
}

// Field is one value of a row. Rows have their values in the order of declaration.
type Field struct {
	Name     string // in the document
	Kind     Kind
	Null     bool   // may be missing
	Derived  bool   // computed from other rows; never imported
	Hidden   bool   // not in the document; an export writes it beside the document
	Refers   string // the entity that the value identifies
	Optional bool   // an import may omit it
	OmitNull bool   // omitted if NULL: such documents equal those of releases before the field
	OneOf    []string
	Between  [2]int64 // of a number: minimum and maximum; {0, 0} for any

	Typed text.Kind // of texts that people type, also in an object by locale: an import normalizes them as routes do
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
	Keep               // distinguished and kept: role names and payment references, as in the reference
)

// IsRelation reports whether the index lists what belongs to a document, rather than the documents with a value.
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

// Sets returns the indexes by which Find selects, in the order of declaration. SQL statements take their arguments in
// this order.
func (e *Entity) Sets() []*Index {
	var sets []*Index
	for _, x := range e.Indexes {
		if !x.Unique && !x.IsRelation() {
			sets = append(sets, x)
		}
	}
	return sets
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
