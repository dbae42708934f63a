package keyspace

import (
	"strings"
	"testing"
	"time"
)

func TestLint_registry(t *testing.T) {
	for _, problem := range Lint(Declarations()) {
		t.Error(problem)
	}
}

// valid returns a declaration that satisfies every rule; each case below breaks one.
func valid() Decl {
	return Decl{
		Pattern: "a:%id%:b", Segments: []Segment{{"id", digits, 10}}, Type: String, TTL: TTL{time.Second, time.Minute},
		Class: Lossy, Owner: "visit", Purpose: "a test",
	}
}

// redis-key-naming (001-C7): a declaration states what the checklist asks for, or Lint finds it.
func TestLint_sees(t *testing.T) {
	if found := Lint([]Decl{valid()}); found != nil {
		t.Fatalf("a sound declaration is blamed: %v", found)
	}
	for name, c := range map[string]struct {
		breaks func(*Decl)
		want   string
	}{
		"K2": {func(d *Decl) { d.Segments[0].Max = 47 }, "51 characters"},
		"K3": {func(d *Decl) { d.Pattern = "a:%id%:B" }, `"B" are not allowed`},
		"K4": {func(d *Decl) { d.TTL = TTL{} }, "neither a TTL nor derived"},
		"K5": {func(d *Decl) { d.Class = Guarded }, "without a source and a rebuilder"},
		"K6": {func(d *Decl) { d.Owner = "stock" }, "without the branch's hash tag"},
		"K7": {func(d *Decl) { d.Source = "x" }, "does not state what invalidates it"},

		"colon in a segment":  {func(d *Decl) { d.Segments[0].Of = "09::" }, `the segment id may hold ":"`},
		"brace in a segment":  {func(d *Decl) { d.Segments[0].Of = "09{}" }, `the segment id may hold "{|}"`},
		"long, not indexed":   {func(d *Decl) { d.Pattern = "a:%id%:" + strings.Repeat("b", 40) }, "53 characters"},
		"derived, no source":  {func(d *Decl) { d.Class, d.Rebuild = Derived, "x" }, "without a source and a rebuilder"},
		"derived, no rebuild": {func(d *Decl) { d.Class, d.Source = Derived, "x" }, "without a source and a rebuilder"},
		"guarded forever": {func(d *Decl) {
			d.Class, d.Source, d.Rebuild, d.TTL = Guarded, "x", "x", TTL{}
		}, "neither a TTL nor derived"},

		"undeclared segment": {func(d *Decl) { d.Pattern = "a:%other%:b" }, "the segment other is not declared"},
		"unused segment":     {func(d *Decl) { d.Pattern = "a:b" }, "not those of the pattern"},
		"undeclared tag":     {func(d *Decl) { d.Pattern = "a:{%id%}" }, "is not the only one"},
		"second tag":         {func(d *Decl) { d.Pattern, d.Tag = "a:{%id%}:{x}", "{%id%}" }, "is not the only one"},
		"no purpose":         {func(d *Decl) { d.Purpose = "" }, "purpose is missing"},
		"unknown type":       {func(d *Decl) { d.Type = "bits" }, `unknown type "bits"`},
		"unknown class":      {func(d *Decl) { d.Class = "dear" }, `unknown class "dear"`},
		"reversed TTL":       {func(d *Decl) { d.TTL = TTL{time.Hour, time.Minute} }, "exceeds the maximum"},
	} {
		d := valid()
		c.breaks(&d)
		if found := strings.Join(Lint([]Decl{d}), "\n"); !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
}

func TestLint_sees_overlap(t *testing.T) { // K1
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a:%id%", "a:%id%", true},
		{"a:%id%", "a:7", true},
		{"a:%id%:b", "a:%id%:c", false},
		{"a:%id%%word%", "a:%id%", false},
		{"a:%word%:%id%", "a:b:%id%", true},
		{"a:%word%", "a:%id%:%id%", false},
		{"a:%id%7", "a:%id%8", false},
		{"a:%id%77", "a:7%id%", true},
	} {
		of := []Segment{{"id", digits, 10}, {"word", uidChars[2:], 10}}
		a, b := Decl{Pattern: c.a, Segments: of}, Decl{Pattern: c.b, Segments: of}
		if got := overlap(a.parts(), b.parts()); got != c.want || overlap(b.parts(), a.parts()) != c.want {
			t.Errorf("overlap(%s, %s) = %t", c.a, c.b, got)
		}
	}
}

// Bitmaps and HyperLogLogs are strings to the TYPE command; every other type is what it is declared as.
func TestType_Stored(t *testing.T) {
	for _, of := range types {
		want := of
		if of == Bitmap || of == HyperLogLog {
			want = String
		}
		if got := of.Stored(); got != want {
			t.Errorf("a %s is stored as a %s, want %s", of, got, want)
		}
	}
}
