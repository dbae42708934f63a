package keyspace

import (
	"strings"
	"time"
)

// Type is a Redis type as the TYPE command returns it.
type Type string

// The types in use.
const (
	String    Type = "string"
	Hash      Type = "hash"
	Set       Type = "set"
	SortedSet Type = "zset"
)

// Class is the consequence of losing a key.
type Class string

// The classes.
const (
	Derived Class = "derived" // computed from SQL and rebuilt after a loss
	Guarded Class = "guarded" // written to SQL first, and rebuilt after a loss; until then readers fail closed
	Lossy   Class = "lossy"   // not restored after a loss
)

// TTL is the range of time-to-live values that writers set. The zero value is a key without a TTL.
type TTL struct{ Min, Max time.Duration }

// Segment is a variable part of a pattern, written as %name% in the pattern. The maximum bounds the length of the whole
// key (K2).
type Segment struct {
	Name string
	Of   Alphabet
	Max  int // maximum number of characters; the minimum is 1
}

// Alphabet is a set of characters as a list of ranges: "09az" is 0-9 and a-z.
type Alphabet string

// The alphabets of segments.
const (
	digits    Alphabet = "09"
	dateChars Alphabet = "09--"
	uidChars  Alphabet = "09av"
	hashChars Alphabet = "27az"
	nameChars Alphabet = "09AZaz..__--" // for reservation and item ids of other systems

	// Indexed values are percent-encoded, in lower case, outside of these.
	valueChars Alphabet = "09az%%++..@@__--"
	exactChars Alphabet = "09AZaz%%++..@@__--"
)

func (a Alphabet) has(c byte) bool {
	for i := 0; i+1 < len(a); i += 2 {
		if a[i] <= c && c <= a[i+1] {
			return true
		}
	}
	return false
}

// String returns the alphabet as a regular-expression class. If it contains -, that comes last.
func (a Alphabet) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; i+1 < len(a); i += 2 {
		b.WriteByte(a[i])
		if a[i] != a[i+1] {
			b.WriteString("-" + string(a[i+1]))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// Decl declares a family of keys. Lint checks it, Markdown documents it, and the audit compares live keys with it. Its
// JSON is that of the command line.
type Decl struct {
	Pattern  string    `json:"pattern"` // the key, with %name% for each segment
	Segments []Segment `json:"-"`       // in the order of the pattern
	Type     Type      `json:"type"`
	TTL      TTL       `json:"ttl"`
	Class    Class     `json:"class"`
	Owner    string    `json:"owner"`                // the package that writes it
	Source   string    `json:"source,omitempty"`     // the SQL tables that it is computed from, or that guard it
	Tag      string    `json:"-"`                    // the hash tag with its braces, as in the pattern; empty if the node does not matter
	Also     string    `json:"-"`                    // literal characters beyond those of K3, required by the reference documents
	Exact    bool      `json:"-"`                    // every segment has exactly Max characters
	Long     bool      `json:"-"`                    // contains external values or ids, so it may exceed the limit of K2
	Rebuild  string    `json:"restoredBy,omitempty"` // the function that restores it after a loss
	Purpose  string    `json:"holds"`
}

// part is a piece of a pattern: literal text, or a segment if of is set.
type part struct {
	text string
	of   Alphabet
	min  int
	max  int
}

// parts splits the pattern. An undeclared segment becomes a part that Lint reports.
func (d Decl) parts() []part {
	var ps []part
	for i, text := range strings.Split(d.Pattern, "%") {
		switch {
		case i%2 == 1:
			s := d.segment(text)
			least := 1
			if d.Exact {
				least = s.Max
			}
			ps = append(ps, part{text: text, of: s.Of, min: least, max: s.Max})
		case text != "":
			ps = append(ps, part{text: text, max: len(text)})
		}
	}
	return ps
}

func (d Decl) segment(name string) Segment {
	for _, s := range d.Segments {
		if s.Name == name {
			return s
		}
	}
	return Segment{Name: name}
}
