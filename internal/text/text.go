// Package text implements the rule for text that people type: names, labels, notes, descriptions, search terms.
//
// Free text is trimmed, normalized to Unicode NFC, and refused if it contains invisible characters that change how
// other characters are shown, or if nothing of it is visible. The rule is applied on input, before text is counted,
// compared, hashed or stored. Text that was stored before the rule existed stays unchanged; Printable cleans it for
// printers.
//
// The profiles of RFC 8264 (golang.org/x/text/secure/precis) are not a substitute: they refuse most emoji, which contain
// variation selectors, joiners and tags, and all letters newer than their tables (decision 38).
package text

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is the treatment of a text. The zero value is invalid, so every declaration must choose one.
type Kind int

// The kinds.
const (
	Exact Kind = iota + 1 // not typed by people, or secret: ids, tokens, passwords; never changed
	Line                  // one line: a name, a label, a search term
	Lines                 // notes and descriptions, which may have line feeds
)

// KindOf returns the kind for a struct tag: exact, line or lines; zero for any other value. The caller treats zero as a
// defect: package jsonbody panics when it registers a field of free text without a kind.
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

// Reasons for refusing a text. They complete a sentence that begins with the name of a field.
var (
	ErrControl   = errors.New("must not contain control characters")
	ErrOneLine   = errors.New("must be a single line")
	ErrDirection = errors.New("must not contain characters that change the direction of text")
	ErrInvisible = errors.New("must contain at least one visible character")
	ErrEncoding  = errors.New("must be valid UTF-8")
)

// Clean returns a text in its stored form, or the reason why it is refused. An empty text, or one of white space only,
// becomes empty and is not refused; the caller decides whether a text is required. Cleaning a cleaned text changes
// nothing. Exact returns every text unchanged, also invalid UTF-8.
func (k Kind) Clean(s string) (string, error) {
	if k != Line && k != Lines || plain(s) {
		return s, nil
	}
	// UTF-8 is checked first: range would read invalid bytes as U+FFFD, which is a valid character.
	if !utf8.ValidString(s) {
		return "", ErrEncoding
	}
	given := s
	if k == Lines {
		s = lineFeeds.Replace(s)
	}
	if s = trim(s); s == "" && strings.ContainsFunc(given, isFormat) {
		return "", ErrInvisible // only joiners and similar characters, which is not a way to leave a field empty
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

// plain reports whether Clean would not change an ASCII text. This fast path covers most texts. It is ASCII without
// control characters and without a space at an end, which is in NFC.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s == "" || s[0] != ' ' && s[len(s)-1] != ' '
}

// lineFeeds normalizes line ends: browsers send CRLF from forms, word processors U+2028 and U+2029.
var lineFeeds = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n")

// check returns the reason why a character is refused, or nil. A line end in a Line has its own reason, because people
// understand what to change.
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

// directing are the embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, sections 2.1 to 2.5):
// they make the displayed text differ from the stored one. The marks U+200E, U+200F and U+061C are not included: they
// affect only adjacent neutral characters, and Hebrew and Arabic texts need them.
var directing = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x202A, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}},
}

// hiding are characters that control how others are displayed (deprecated shaping, annotations), and noncharacters.
var hiding = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x206A, Hi: 0x206F, Stride: 1}, {Lo: 0xFDD0, Hi: 0xFDEF, Stride: 1}, {Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1},
		{Lo: 0xFFFE, Hi: 0xFFFF, Stride: 1},
	},
	R32: nonCharacters(),
}

// nonCharacters returns the last two code points of each plane. They are never assigned, and some programs use them as
// markers of their own.
func nonCharacters() (ranges []unicode.Range32) {
	for plane := uint32(1); plane <= unicode.MaxRune>>16; plane++ {
		ranges = append(ranges, unicode.Range32{Lo: plane<<16 | 0xFFFE, Hi: plane<<16 | 0xFFFF, Stride: 1})
	}
	return ranges
}

// isInvisible reports whether a character alone is invisible. U+2800 is the empty Braille pattern.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || isFormat(r) || r == 0x2800 ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isFormat reports whether a character only affects its neighbours: joiners, marks, the soft hyphen, tags. The visible
// signs around Arabic numbers are in the same category and are excluded.
func isFormat(r rune) bool {
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// trim removes white space and invisible characters at both ends. Characters that must be refused do not count as white
// space: U+0085, vertical tabs and form feeds are refused at the ends too.
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

// isEdge reports whether trim removes a character. Refused characters are not an edge, so that they are reported and
// not dropped in silence.
func isEdge(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp) {
		return true
	}
	return isFormat(r) && !isTag(r) && !unicode.In(r, directing, hiding)
}

// isTag reports whether a character can end a flag emoji, such as that of Wales.
func isTag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

// joins reports whether the last character of a text, of n bytes, is a joiner that belongs to the preceding letter:
// after a virama it selects the letter's form, as in the chillu letters at the end of Malayalam words (RFC 5892,
// appendix A).
func joins(s string, r rune, n int) bool {
	const virama = 9 // canonical combining class
	if r != '\u200c' && r != '\u200d' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
	return norm.NFC.PropertiesString(string(before)).CCC() == virama
}

// Printable removes the characters that Clean refuses, for paper and screens: text that was stored before the rule
// existed may contain printer escape sequences. Line feeds are kept.
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

// IsToken reports whether s has the form of a random token: n characters of base64url without padding.
func IsToken(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// EscapesNUL reports whether a JSON text has an escaped character of code 0, which PostgreSQL cannot store. The text
// \\u0000, an escaped backslash before four zeros, has none.
func EscapesNUL(json []byte) bool {
	escape := []byte(`\u0000`)
	for i := 0; ; {
		n := bytes.Index(json[i:], escape)
		if n < 0 {
			return false
		}
		at := i + n
		// Backslashes before this one form pairs from the left, so after an odd number of them this one is escaped
		// itself.
		before := at - len(bytes.TrimRight(json[:at], `\`))
		if before%2 == 0 {
			return true
		}
		i = at + len(escape)
	}
}
