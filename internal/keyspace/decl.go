package keyspace

import (
	"strings"
	"time"
)

// Type is a Redis type as the TYPE command names it.
type Type string

// The types in use.
const (
	String    Type = "string"
	Hash      Type = "hash"
	Set       Type = "set"
	SortedSet Type = "zset"
)

// Class says what the loss of a key means.
type Class string

// The classes.
const (
	Derived Class = "derived" // computed from SQL; on loss it is rebuilt
	Guarded Class = "guarded" // written to SQL first; on loss it is rebuilt and readers fail closed meanwhile
	Lossy   Class = "lossy"   // on loss it is forgotten
)

// TTL bounds the life that a key is given when it is written. The zero value is a key without a TTL.
type TTL struct{ Min, Max time.Duration }

// Segment is a variable part of a pattern, written there as %name%.
type Segment struct {
	Name string
	Of   Alphabet
	Max  int // characters; the least is always 1
}

// Alphabet is a set of characters as a list of ranges: "09az" is 0-9 and a-z.
type Alphabet string

// The alphabets of segments.
const (
	digits    Alphabet = "09"
	dateChars Alphabet = "09--"
	uidChars  Alphabet = "09av"
	hashChars Alphabet = "27az"
	nameChars Alphabet = "09AZaz..__--" // what other systems may call their reservations and items

	// Values that documents are found by are percent-encoded, with small letters, outside of these.
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

// String writes the alphabet as a class of a regular expression; - stands last in every alphabet that has it.
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

// Decl declares one family of keys.
type Decl struct {
	Pattern  string    // the key, with %name% where a segment stands
	Segments []Segment // in the order of the pattern
	Type     Type
	TTL      TTL
	Class    Class
	Owner    string // the room that writes it
	Source   string // the SQL tables that it is computed from or guarded by
	Tag      string // the hash tag with its braces, as in the pattern; empty when any node will do
	Also     string // literal characters beyond those of K3, taken over from the reference documents
	Exact    bool   // every segment has Max characters, not fewer
	Long     bool   // over values or ids of others, which may be longer than K2 allows
	Rebuild  string // what restores it after a loss
	Purpose  string
}

// part is a piece of a pattern: literal text, or a segment when of is set.
type part struct {
	text string
	of   Alphabet
	min  int
	max  int
}

// parts cuts the pattern. A segment that is not declared gives a part that Lint reports.
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
