package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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
