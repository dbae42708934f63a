package keyspace

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// expression converts a pattern to a regular expression, an independent implementation that Find must agree with.
func expression(d Decl) *regexp.Regexp {
	var b strings.Builder
	b.WriteByte('^')
	for _, p := range d.parts() {
		if p.of == "" {
			b.WriteString(regexp.QuoteMeta(p.text))
			continue
		}
		b.WriteString(p.of.String() + "{" + decimal(int64(p.min)) + "," + decimal(int64(p.max)) + "}")
	}
	b.WriteByte('$')
	return regexp.MustCompile(b.String())
}

func TestFind_agrees_with_regular_expressions(t *testing.T) {
	all := Declarations()
	expressions := make([]*regexp.Regexp, len(all))
	for i, d := range all {
		expressions[i] = expression(d)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(expressions[rapid.IntRange(0, len(all)-1).Draw(t, "family")].String()).Draw(t, "raw")
		if rapid.Bool().Draw(t, "corrupt") {
			at := rapid.IntRange(0, len(raw)).Draw(t, "at")
			cut := rapid.IntRange(at, min(at+3, len(raw))).Draw(t, "cut")
			raw = raw[:at] + rapid.SampledFrom([]string{"", "0", "a", "A", ":", "{", "}", "-", "é"}).Draw(t, "put") + raw[cut:]
		}
		want := -1
		for i, e := range expressions {
			if e.MatchString(raw) {
				want = i
			}
		}
		got, ok := Find(raw)
		if ok != (want >= 0) || ok && got != want {
			t.Fatalf("Find(%q) = %d, %t; want %d", raw, got, ok, want)
		}
		if k, parsed := Parse(raw); parsed != ok || k.Valid() != ok || ok && (k.String() != raw || k.Decl().Pattern != all[want].Pattern) {
			t.Fatalf("Parse(%q) = %v, %t", raw, k, parsed)
		}
	})
}

// Patterns that no declaration has yet: a segment that requires backtracking.
func TestMatch_backtracks(t *testing.T) {
	of := []Segment{{"id", digits, 4}, {"word", "09az", 10}}
	for pattern, cases := range map[string]map[string]bool{
		"%id%7":       {"17": true, "777": true, "12347": true, "123457": false, "7": false, "18": false},
		"%word%%id%x": {"a1x": true, "1x": false, "ax": false, "abc123x": true},
		"%word%b%id%": {"abb1": true, "bb1": true, "b1": false},
	} {
		parts := Decl{Pattern: pattern, Segments: of}.parts()
		for s, want := range cases {
			if match(parts, s) != want {
				t.Errorf("%s matches %q: %t", pattern, s, !want)
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	keys := every()
	raw := make([]string, len(keys)+1)
	for i, k := range keys {
		raw[i] = k.String()
	}
	raw[len(keys)] = "session:of:somebody:else"
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Find(raw[i%len(raw)])
	}
}
