package keyspace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Type is the way in which a key is used. Stored returns the type that the TYPE command returns.
type Type string

// The types that may be declared.
const (
	String      Type = "string"
	Hash        Type = "hash"
	Set         Type = "set"
	SortedSet   Type = "zset"
	Stream      Type = "stream"
	List        Type = "list"
	Bitmap      Type = "bitmap"      // a string that is read and written by bit
	HyperLogLog Type = "hyperloglog" // a string of PFADD
)

// types are all types, for Lint.
var types = []Type{String, Hash, Set, SortedSet, Stream, List, Bitmap, HyperLogLog}

// Stored returns the type as the TYPE command returns it.
func (t Type) Stored() Type {
	if t == Bitmap || t == HyperLogLog {
		return String
	}
	return t
}

// Class is the kind of data in a key, by the consequence of losing it.
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

	// Characters of indexed values. All other characters are percent-encoded, in lower case.
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

// String returns the alphabet as a regular-expression class. A hyphen is written last.
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

// Decl declares a family of keys. Lint checks it, Markdown documents it, and the audit compares live keys with it. The
// command line prints it as JSON.
type Decl struct {
	Pattern  string    `json:"pattern"` // the key, with %name% for each segment
	Segments []Segment `json:"-"`       // in the order of the pattern
	Type     Type      `json:"type"`
	TTL      TTL       `json:"ttl"`
	Class    Class     `json:"class"`
	Owner    string    `json:"owner"`                // the package that writes the keys
	Source   string    `json:"source,omitempty"`     // the SQL tables that the key is computed from, or that protect it
	Tag      string    `json:"-"`                    // the hash tag with its braces, as in the pattern; empty if the node does not matter
	Also     string    `json:"-"`                    // literal characters beyond those of K3, required by the reference documents
	Exact    bool      `json:"-"`                    // every segment has exactly Max characters
	Long     bool      `json:"-"`                    // contains external values or ids, so it may exceed the limit of K2
	Rebuild  string    `json:"restoredBy,omitempty"` // the function that restores the keys after a loss
	// Invalidated states what replaces or removes a value before it expires; empty for the default of the class, see
	// InvalidatedBy.
	Invalidated string `json:"-"`
	Purpose     string `json:"holds"`
}

// InvalidatedBy returns what replaces or removes a value before it expires.
func (d Decl) InvalidatedBy() string {
	switch {
	case d.Invalidated != "":
		return d.Invalidated
	case d.Class == Lossy:
		return "expiry, or its owner"
	}
	return "a change of its source"
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

const (
	maxLen                  = 50 // keys are most of the memory of small values
	literalChars   Alphabet = "09az::__--{{}}"
	segmentChars   Alphabet = "09AZaz%%++..@@__--" // a colon would change a key's structure, a brace its slot
	admissionOwner          = "stock"
)

// Lint returns all violations of rules K1 to K7.
func Lint(ds []Decl) []string {
	var found []string
	for i, d := range ds {
		for _, problem := range d.lint() {
			found = append(found, d.Pattern+": "+problem)
		}
		for _, e := range ds[:i] {
			if overlap(d.parts(), e.parts()) {
				found = append(found, fmt.Sprintf("%s: a key may also be one of %s", d.Pattern, e.Pattern)) // K1
			}
		}
	}
	return found
}

// lint returns the rules K2 to K7 that a declaration breaks. A test runs it on all declarations, so a wrong key fails the
// build and not a restaurant.
func (d Decl) lint() []string {
	var found []string
	add := func(broken bool, format string, args ...any) {
		if broken {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	longest := 0
	for _, p := range d.parts() {
		longest += p.max
		add(p.max == 0, "the segment %s is not declared", p.text)
		invalid := d.invalidChars(p.text)
		add(p.of == "" && p.max > 0 && invalid != "", "the characters %q are not allowed", invalid) // K3
		add(p.of != "" && p.of.invalidChars() != "", "the segment %s may hold %q", p.text, p.of.invalidChars())
	}
	add(longest > maxLen && !d.Long, "a key may have %d characters", longest) // K2
	add(strings.Count(d.Pattern, "%") != 2*len(d.Segments), "the segments are not those of the pattern")
	add(d.Type == "" || d.Owner == "" || d.Purpose == "", "type, owner or purpose is missing")
	add(d.Type != "" && !slices.Contains(types, d.Type), "unknown type %q", d.Type)
	add(d.TTL.Min < 0 || d.TTL.Max < d.TTL.Min, "the minimum TTL exceeds the maximum")
	add(d.TTL.Max == 0 && d.Class != Derived, "neither a TTL nor derived") // K4
	switch d.Class {
	case Derived, Guarded:
		add(d.Rebuild == "" || d.Source == "", "%s without a source and a rebuilder", d.Class) // K5
	case Lossy:
		add(d.Source != "" && d.Invalidated == "", "a copy of SQL data that does not state what invalidates it") // K7
	default:
		add(true, "unknown class %q", d.Class)
	}
	before, after, tagged := strings.Cut(d.Pattern, d.Tag)
	add(!tagged || strings.ContainsAny(before+after, "{}"), "the hash tag %q is not the only one", d.Tag)
	add(d.Owner == admissionOwner && d.Tag != branchTag, "a key of the admission cache without the branch's hash tag") // K6
	return found
}

// invalidChars returns the characters of a literal that neither K3 nor the declaration allows.
func (d Decl) invalidChars(literal string) string {
	var b strings.Builder
	for i := range len(literal) {
		if c := literal[i]; !literalChars.has(c) && !strings.ContainsRune(d.Also, rune(c)) {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// invalidChars returns the characters of the alphabet that segments must not contain.
func (a Alphabet) invalidChars() string {
	var b strings.Builder
	for c := range 256 {
		if a.has(byte(c)) && !segmentChars.has(byte(c)) {
			b.WriteByte(byte(c))
		}
	}
	return b.String()
}

// step is a position in a pattern: one character of an alphabet, which may repeat in a segment. A list of steps is an
// automaton without branches.
type step struct {
	of     Alphabet
	repeat bool
}

func steps(ps []part) []step {
	var ss []step
	for _, p := range ps {
		if p.of != "" {
			for range p.min - 1 {
				ss = append(ss, step{of: p.of})
			}
			ss = append(ss, step{p.of, p.min < p.max})
			continue
		}
		for _, c := range []byte(p.text) {
			ss = append(ss, step{of: Alphabet([]byte{c, c})})
		}
	}
	return ss
}

// overlap reports whether some text matches both patterns, using the product of their two automata. It treats segments
// without an exact length as unbounded. So it may report an overlap that lengths prevent, but never misses one.
func overlap(a, b []part) bool {
	sa, sb := steps(a), steps(b)
	type place struct{ i, j int }
	seen := map[place]bool{}
	var walk func(p place) bool
	walk = func(p place) bool {
		if p.i == len(sa) || p.j == len(sb) {
			return p.i == len(sa) && p.j == len(sb)
		}
		x, y := sa[p.i], sb[p.j]
		if seen[p] || !intersects(x.of, y.of) {
			return false
		}
		seen[p] = true
		return walk(place{p.i + 1, p.j + 1}) ||
			x.repeat && walk(place{p.i, p.j + 1}) ||
			y.repeat && walk(place{p.i + 1, p.j})
	}
	return walk(place{})
}

func intersects(a, b Alphabet) bool {
	for c := range 256 {
		if a.has(byte(c)) && b.has(byte(c)) {
			return true
		}
	}
	return false
}
