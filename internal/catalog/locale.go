package catalog

import (
	"maps"
	"slices"
)

// Locale is a language tag (BCP 47).
type Locale string

// The locales that Comanda supports.
const (
	Vietnamese Locale = "vi"
	Chinese    Locale = "zh-TW"
	English    Locale = "en"
	Japanese   Locale = "ja"
	Thai       Locale = "th"
)

var locales = []Locale{Vietnamese, Chinese, English, Japanese, Thai}

// Valid reports whether the locale is supported.
func (l Locale) Valid() bool { return slices.Contains(locales, l) }

// Texts is one text in several locales.
type Texts map[Locale]string

// Locales returns the locales of the texts in a stable order.
func (t Texts) Locales() []Locale { return slices.Sorted(maps.Keys(t)) }

// In returns the text in the first preferred locale that has one, then in English, then in the first locale by tag. It
// returns an empty string only if there is no text.
func (t Texts) In(preferred ...Locale) string {
	for _, l := range preferred {
		if s := t[l]; s != "" {
			return s
		}
	}
	if s := t[English]; s != "" {
		return s
	}
	for _, l := range t.Locales() {
		if s := t[l]; s != "" {
			return s
		}
	}
	return ""
}
