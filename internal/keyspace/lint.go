package keyspace

import (
	"fmt"
	"strings"
)

const (
	maxLen                  = 50 // keys are most of the memory of small values
	literalChars   Alphabet = "09az::__--{{}}"
	segmentChars   Alphabet = "09AZaz%%++..@@__--" // a colon would change a key's structure, a brace its slot
	admissionOwner          = "stock"
)

// Lint returns all violations of rules K1 to K6.
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
		add(p.of == "" && p.max > 0 && d.strange(p.text) != "", "the characters %q are not allowed", d.strange(p.text)) // K3
		add(p.of != "" && p.of.strange() != "", "the segment %s may hold %q", p.text, p.of.strange())
	}
	add(longest > maxLen && !d.Long, "a key may have %d characters", longest) // K2
	add(strings.Count(d.Pattern, "%") != 2*len(d.Segments), "the segments are not those of the pattern")
	add(d.Type == "" || d.Owner == "" || d.Purpose == "", "type, owner or purpose is missing")
	add(d.TTL.Min < 0 || d.TTL.Max < d.TTL.Min, "the minimum TTL exceeds the maximum")
	add(d.TTL.Max == 0 && d.Class != Derived, "neither a TTL nor derived") // K4
	switch d.Class {
	case Derived, Guarded:
		add(d.Rebuild == "" || d.Source == "", "%s without a source and a rebuilder", d.Class) // K5
	case Lossy:
	default:
		add(true, "unknown class %q", d.Class)
	}
	before, after, tagged := strings.Cut(d.Pattern, d.Tag)
	add(!tagged || strings.ContainsAny(before+after, "{}"), "the hash tag %q is not the only one", d.Tag)
	add(d.Owner == admissionOwner && d.Tag != branchTag, "a key of the admission cache without the branch's hash tag") // K6
	return found
}

// strange returns the characters of a literal that are neither allowed nor declared.
func (d Decl) strange(literal string) string {
	var b strings.Builder
	for i := range len(literal) {
		if c := literal[i]; !literalChars.has(c) && !strings.ContainsRune(d.Also, rune(c)) {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// strange returns the characters of the alphabet that segments must not contain.
func (a Alphabet) strange() string {
	var b strings.Builder
	for c := range 256 {
		if a.has(byte(c)) && !segmentChars.has(byte(c)) {
			b.WriteByte(byte(c))
		}
	}
	return b.String()
}

// step is a position in a pattern: one character of an alphabet, repeatable in a segment. A pattern becomes a list of
// steps, which is an automaton without branches.
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

// overlap reports whether some text matches both patterns, as the product of two automata. It treats segments without
// an exact length as unbounded, so it may report an overlap that a length prevents, but never misses one.
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
		if seen[p] || !meet(x.of, y.of) {
			return false
		}
		seen[p] = true
		return walk(place{p.i + 1, p.j + 1}) ||
			x.repeat && walk(place{p.i, p.j + 1}) ||
			y.repeat && walk(place{p.i + 1, p.j})
	}
	return walk(place{})
}

func meet(a, b Alphabet) bool {
	for c := range 256 {
		if a.has(byte(c)) && b.has(byte(c)) {
			return true
		}
	}
	return false
}
