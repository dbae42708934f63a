package document

import (
	"slices"

	"comanda/internal/keyspace"
	"comanda/internal/text"
)

// Entity declares one model: what its documents hold and how they are found. Everything else follows from it.
type Entity struct {
	Name       string // as in keys and in lines of an export
	Fields     []Field
	Indexes    []*Index
	Keys       *keyspace.Documents
	Numeric    bool // ids are numbers; otherwise they are text
	ExportOnly bool // belongs to the ledger: exported, never imported

	UniqueTogether []string // fields whose values no two rows share all of
}

// Field is one value of a row. Rows have their values in the order of the declaration.
type Field struct {
	Name     string // in the document
	Kind     Kind
	Null     bool   // may be missing
	Derived  bool   // computed from other rows: shown, but never imported
	Hidden   bool   // not in the document; it stands beside it in an export
	Refers   string // the entity whose id it holds
	Optional bool   // may be left out by an import
	OmitNull bool   // left out where it is missing: documents without it are as releases before the field wrote them
	OneOf    []string
	Between  [2]int64 // of a number: the least and the most; without them, any

	Typed text.Kind // of texts that people type, also in an object by locale: an import cleans them as routes do
}

// Kind says how a value is written.
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

// isText tells whether SQL keeps the kind as text.
func (k Kind) isText() bool { return k == Text || k >= Object }

// Index is a way to find documents by a value.
type Index struct {
	Name      string // in questions and memos
	Field     string
	Unique    bool
	Case      Case
	OnlyValue string // the one value that is indexed; empty: all
	Keys      []*keyspace.DocumentIndex

	field int // place of Field
}

// Case says what becomes of capital letters in a value that is looked up.
type Case int

// The cases.
const (
	Fold   Case = iota // they are made small: A-Z, no other letters, so that SQL does it in the same way
	Escape             // they are told apart, and written as escapes because keys have none
	Keep               // they are told apart and stay: names of roles and references of payments, as the reference has them
)

// Relation tells whether the index holds what belongs to a document, and not where the document belongs.
func (x *Index) IsRelation() bool { return x.Keys[0].Own }

// define finishes a declaration.
func define(e Entity) *Entity {
	for _, x := range e.Indexes {
		x.field = slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == x.Field })
		if x.field < 0 {
			panic("document: " + e.Name + " has no field " + x.Field)
		}
	}
	return &e
}

// Index gives an index by its name; nil when there is none.
func (e *Entity) Index(name string) *Index {
	for _, x := range e.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// Sets are the indexes by which Find chooses, in the order of the declaration.
func (e *Entity) Sets() []*Index {
	var sets []*Index
	for _, x := range e.Indexes {
		if !x.Unique && !x.IsRelation() {
			sets = append(sets, x)
		}
	}
	return sets
}

// ByName gives an entity; nil when there is none.
func ByName(name string) *Entity {
	for _, e := range Entities {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// ByKeys gives the entity of a family of keys; nil when there is none.
func ByKeys(f *keyspace.Documents) *Entity {
	for _, e := range Entities {
		if e.Keys == f {
			return e
		}
	}
	return nil
}

// ByIndex gives the entity and the index to which a family of keys belongs.
func ByIndex(k *keyspace.DocumentIndex) (*Entity, *Index) {
	for _, e := range Entities {
		for _, x := range e.Indexes {
			if slices.Contains(x.Keys, k) {
				return e, x
			}
		}
	}
	return nil, nil
}

// Ref names a document.
type Ref struct {
	Entity *Entity
	ID     string
}

// String is the key of the document.
func (r Ref) String() string { return r.Entity.Name + ":" + r.ID }

// Kind is the kind of the values of an index.
func (e *Entity) Kind(x *Index) Kind { return e.Fields[x.field].Kind }
