package text

import (
	"iter"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Query is a typed search. A text is found if it contains every word, anywhere, when both are folded. The guest app
// does the same (web/guest/src/menu/search.ts); testdata/search.json has cases that both must pass.
//
// Whole words are not required: Chinese has no spaces, and a search answers while its last word is being typed. The zero
// value finds every text.
type Query struct {
	folded string
	words  []string
}

// ParseQuery parses a search text. Every text is valid.
func ParseQuery(typed string) Query {
	words := strings.Fields(Fold(typed))
	return Query{strings.Join(words, " "), words}
}

// Empty reports whether nothing was typed, so that every text is found.
func (q Query) Empty() bool { return len(q.words) == 0 }

// In reports whether a folded text contains every word.
func (q Query) In(folded string) bool {
	for _, word := range q.words {
		if !strings.Contains(folded, word) {
			return false
		}
	}
	return true
}

// FoldLines returns folded texts, each on a line, so that no word is found across two of them.
func FoldLines(texts iter.Seq[string]) string {
	var b strings.Builder
	for t := range texts {
		b.WriteString(Fold(t) + "\n")
	}
	return b.String()
}

// Begins reports whether a folded text begins with what was typed.
func (q Query) Begins(folded string) bool { return strings.HasPrefix(folded, q.folded) }

// String returns the folded words with one space between them. It is composed again, because counts and reports show it:
// Korean syllables would otherwise be three letters each.
func (q Query) String() string { return norm.NFC.String(q.folded) }

// Fold returns a text as searches compare it: in lower case and without accents, so that Nguyen matches Nguyễn. SQL
// cannot do this on both engines: lower of SQLite changes A to Z only. The index of orders stores folded words, so a
// change of Fold needs a new index.
func Fold(s string) string { return fold(s, func(r rune) bool { return unicode.Is(unicode.Mn, r) }) }

// fold returns a decomposed text in lower case without the marks that drop selects.
func fold(s string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case drop(r):
			return -1
		case r == 'đ' || r == 'Đ': // not decomposed by NFKD; keyboards without it type d
			return 'd'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// Slug returns a text as a segment of a readable address: its words in lower case, joined by dashes, at most limit
// characters. Latin letters lose their accents. Marks of other scripts stay, because without them a word is another one:
// ガ is not カ. A text without letters and digits has an empty slug.
func Slug(s string, limit int) string {
	const firstAccent, lastAccent = '\u0300', '\u036f'
	folded := norm.NFC.String(fold(s, func(r rune) bool { return r >= firstAccent && r <= lastAccent }))
	words := strings.FieldsFunc(folded, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	slug := []rune(strings.Join(words, "-"))
	if len(slug) <= limit {
		return string(slug)
	}
	cut := string(slug[:limit])
	// A word is cut only if the first one is too long already.
	if i := strings.LastIndexByte(cut, '-'); i > 0 && slug[limit] != '-' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, "-")
}
