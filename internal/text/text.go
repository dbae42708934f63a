// Package text is the one rule for what people type: names, labels, notes, descriptions, search terms.
//
// Every free text is trimmed, brought to the Unicode normalization form NFC, and refused when it contains what cannot be
// seen and yet changes what others see, or when nothing of it can be seen. The rule is applied where a text enters, so
// before it is counted, compared, digested or stored. Texts that were stored before are left as they are; Printable
// cleans those on their way to a printer.
//
// The profiles of RFC 8264 (golang.org/x/text/secure/precis) are no substitute: they refuse most emoji, because these are
// written with variation selectors, joiners and tags, and all letters that are newer than their tables (decision 38).
package text

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind says how a text is treated. The zero value is no kind: whoever declares a text chooses one.
type Kind int

// The kinds.
const (
	Exact Kind = iota + 1 // not typed by people, or secret: ids, tokens, passwords. It is left as it is
	Line                  // one line: a name, a label, a search term
	Lines                 // notes and descriptions, which may have line feeds
)

// KindOf returns the kind that a struct tag names: exact, line or lines. Another name has no kind.
func KindOf(name string) Kind {
	return map[string]Kind{"exact": Exact, "line": Line, "lines": Lines}[name]
}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < Exact || k > Lines {
		return ""
	}
	return [...]string{"exact", "line", "lines"}[k-Exact]
}

// The reasons for which a text is refused. They complete a sentence that begins with the name of a field.
var (
	ErrControl   = errors.New("must not contain control characters")
	ErrOneLine   = errors.New("must be a single line")
	ErrDirection = errors.New("must not contain characters that change the direction of text")
	ErrInvisible = errors.New("must contain at least one visible character")
	ErrEncoding  = errors.New("must be valid UTF-8")
)

// Clean returns a text as it is kept, or why it is refused. An empty text, and one of white space only, is empty and not
// refused: whether a text is needed is for its owner to say.
func (k Kind) Clean(s string) (string, error) {
	if k != Line && k != Lines || plain(s) {
		return s, nil
	}
	if !utf8.ValidString(s) {
		return "", ErrEncoding
	}
	given := s
	if k == Lines {
		s = lineFeeds.Replace(s)
	}
	if s = trim(s); s == "" && strings.ContainsFunc(given, isFormat) {
		return "", ErrInvisible // only joiners and their like, which nobody types to leave a field empty
	}
	visible := false
	for _, r := range s {
		if err := k.check(r); err != nil {
			return "", err
		}
		visible = visible || !isInvisible(r)
	}
	if s != "" && !visible {
		return "", ErrInvisible
	}
	return norm.NFC.String(s), nil
}

// plain reports whether Clean would not change an ASCII text. Most texts are such, and orders are counted in thousands
// per second.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s == "" || s[0] != ' ' && s[len(s)-1] != ' '
}

// lineFeeds writes the ends of lines in one way: browsers send CRLF from forms, word processors U+2028 and U+2029.
var lineFeeds = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n")

func (k Kind) check(r rune) error {
	switch {
	case k == Lines && r == '\n':
		return nil
	case k == Line && (r == '\n' || r == '\r' || unicode.In(r, unicode.Zl, unicode.Zp)):
		return ErrOneLine
	case unicode.IsControl(r), unicode.Is(hiding, r):
		return ErrControl
	case unicode.Is(directing, r):
		return ErrDirection
	}
	return nil
}

// directing are the embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, sections 2.1 to 2.5): they
// make a reader see another text than was stored. The marks U+200E, U+200F and U+061C are not among them. They move
// nothing but neutral characters beside them, and Hebrew and Arabic texts need them.
var directing = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x202A, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}},
}

// hiding are characters that control how others are shown (deprecated shaping, annotations) or that are none at all.
var hiding = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x206A, Hi: 0x206F, Stride: 1}, {Lo: 0xFDD0, Hi: 0xFDEF, Stride: 1}, {Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1},
		{Lo: 0xFFFE, Hi: 0xFFFF, Stride: 1},
	},
	R32: nonCharacters(),
}

// nonCharacters returns the last two code points of each plane.
func nonCharacters() (ranges []unicode.Range32) {
	for plane := uint32(1); plane <= unicode.MaxRune>>16; plane++ {
		ranges = append(ranges, unicode.Range32{Lo: plane<<16 | 0xFFFE, Hi: plane<<16 | 0xFFFF, Stride: 1})
	}
	return ranges
}

// isInvisible reports whether a character alone leaves no trace. U+2800 is the empty pattern of Braille.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || isFormat(r) || r == 0x2800 ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isFormat reports whether a character only affects its neighbours: joiners, marks, the soft hyphen, tags. The signs that
// stand around Arabic numbers are of the same category but can be seen.
func isFormat(r rune) bool {
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// trim removes white space and invisible characters at both ends. What is to be refused is no white space here: U+0085,
// vertical tabs and form feeds are refused at the ends as well.
func trim(s string) string {
	s = strings.TrimLeftFunc(s, isEdge)
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		if !isEdge(r) || joins(s, r, n) {
			return s
		}
		s = s[:len(s)-n]
	}
	return s
}

func isEdge(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp) {
		return true
	}
	return isFormat(r) && !isTag(r) && !unicode.In(r, directing, hiding)
}

// isTag reports whether a character ends the emoji of a flag, such as that of Wales.
func isTag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

// joins reports whether the last character of a text, of n bytes, is a joiner that belongs to the letter before it:
// behind a virama it chooses the letter's form, as in the chillu letters at the end of Malayalam words (RFC 5892,
// appendix A).
func joins(s string, r rune, n int) bool {
	const virama = 9 // the combining class
	if r != '\u200c' && r != '\u200d' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
	return norm.NFC.PropertiesString(string(before)).CCC() == virama
}

// Printable returns a text without what Clean refuses, for paper and screens: texts that were stored before there was a
// rule may contain the escape sequences of a printer. Line feeds stay.
func Printable(s string) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if Lines.check(r) != nil {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
