package catalog

import (
	"maps"
	"slices"
)

// Locale is a language tag (BCP 47) in which texts are kept.
type Locale string

// The locales in which Comanda keeps texts.
const (
	Vietnamese Locale = "vi"
	Chinese    Locale = "zh-TW"
	English    Locale = "en"
	Japanese   Locale = "ja"
	Thai       Locale = "th"
)

var locales = []Locale{Vietnamese, Chinese, English, Japanese, Thai}

// Valid tells whether texts are kept in the locale.
func (l Locale) Valid() bool { return slices.Contains(locales, l) }

// Texts is one text in several locales.
type Texts map[Locale]string

// Locales returns those in which there is a text, always in the same order.
func (t Texts) Locales() []Locale { return slices.Sorted(maps.Keys(t)) }

// In gives the text in the first of the preferred locales that has one, else in English, else in any, always the same.
// It is empty only when there is no text at all.
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
