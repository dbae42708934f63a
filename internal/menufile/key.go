package menufile

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// KeyOf returns the key of a dish without one: its name in lower case, with a dash for everything between words. Accents
// stay, because they distinguish dishes: bún bò and bún bơ.
func KeyOf(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(norm.NFKC.String(name)) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	key := norm.NFC.String(b.String())
	if key == "" {
		key = trimSpace(name) // only signs, such as an emoji
	}
	if runes := []rune(key); len(runes) > MaxKey {
		key = strings.TrimRight(string(runes[:MaxKey]), "-")
	}
	return key
}

func trimSpace(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }
