package text

import (
	"strings"
	"unicode"
)

// PersonName returns a person's name as a reader of a language (BCP 47) writes it: Lan Nguyen, Nguyễn Lan, 陳美玲. Readers of
// Vietnamese and Chinese write the family name first; a name in Han characters only has no space. The result is empty
// if both parts are. The web apps have the same rule in names.ts.
func PersonName(language, given, family string) string {
	first, second := strings.TrimSpace(given), strings.TrimSpace(family)
	if base, _, _ := strings.Cut(strings.ToLower(language), "-"); base == "vi" || base == "zh" {
		first, second = second, first
	}
	if isHan(first) && isHan(second) {
		return first + second
	}
	return strings.TrimSpace(first + " " + second)
}

// isHan reports whether all characters are Han characters.
func isHan(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.Is(unicode.Han, r) })
}
