package text

import (
	"iter"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Query is what a person typed to find a text. A text is found if it contains every word, anywhere, when both are folded.
// The guest app does the same (web/guest/src/menu/search.ts); testdata/search.json has cases that both must pass.
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
