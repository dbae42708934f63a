package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// Locale is a language tag (BCP 47).
type Locale string

// The locales that texts of menus may have. The apps' own texts have three of them. A guest whose app is in a language
// that a branch lacks reads its dishes in English, or else in the branch's first language.
const (
	Vietnamese Locale = "vi"
	Chinese    Locale = "zh-TW"
	English    Locale = "en"
	Japanese   Locale = "ja"
	Thai       Locale = "th"
	German     Locale = "de"
)

var locales = []Locale{Vietnamese, Chinese, English, Japanese, Thai, German}

// localeList returns the supported locales for an error.
func localeList() string {
	return strings.Join(seq.Map(locales, func(l Locale) string { return string(l) }), ", ")
}

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

// Encode returns the texts in these locales as JSON, sorted by locale; empty for none. Encoding a map would take several
// times as long. Stored names of ordered dishes are found by this text, so its escapes are those of encoding/json.
func (t Texts) Encode(locales ...Locale) string {
	var b []byte
	for _, l := range slices.Compact(slices.Sorted(slices.Values(locales))) {
		if t[l] == "" {
			continue
		}
		encoded, _ := json.Marshal(t[l]) // a string cannot fail
		b = append(append(append(b, `,"`...), l...), `":`...)
		b = append(b, encoded...)
	}
	if b == nil {
		return ""
	}
	b[0] = '{'
	return string(append(b, '}'))
}

// appendJSON appends the texts as JSON, sorted by locale.
func (t Texts) appendJSON(b []byte) []byte {
	var room [8]Locale // more than nearly all texts have, so that sorting them needs no memory
	locales := room[:0]
	for l := range t {
		locales = append(locales, l)
	}
	slices.Sort(locales)
	b = append(b, '{')
	for i, l := range locales {
		if i > 0 {
			b = append(b, ',')
		}
		b = text.AppendJSON(b, string(l))
		b = text.AppendJSON(append(b, ':'), t[l])
	}
	return append(b, '}')
}

// only returns the texts in the given locales: t itself if it has no others. The result must not be changed.
func (t Texts) only(locales []Locale) Texts {
	found := 0
	for i, l := range locales {
		if t[l] != "" && !slices.Contains(locales[:i], l) {
			found++
		}
	}
	if found == len(t) { // nearly always: then nothing is copied
		return t
	}
	out := make(Texts, found)
	for _, l := range locales {
		if s := t[l]; s != "" {
			out[l] = s
		}
	}
	return out
}

// match reports whether a text in some locale has the words of a query.
func (t Texts) match(q text.Query) bool {
	return q.Empty() || slices.ContainsFunc(slices.Collect(maps.Values(t)), func(s string) bool { return q.In(text.Fold(s)) })
}

// Country is an ISO 3166-1 alpha-2 code. It is empty for branches that were created before countries were stored.
type Country string

// CountryProfile has the defaults of a new branch in a country.
type CountryProfile struct {
	Country   Country
	Currency  money.Currency
	Timezones []string // IANA; a branch in a country with several must choose
	DayStart  int      // an hour after the last guests and before the first ones
	Locales   []Locale
}

// usualDayStart is the default start of the business day: the last guests of the night have left by then.
const usualDayStart = 4

// The faults of a new branch for whose country no single default exists.
var (
	ErrCountry = fault.New(fault.Invalid, "country_unknown", "The country must be an ISO 3166 code such as VN.").
			With("field", "country")
	ErrTimezoneRequired = fault.New(fault.Invalid, "timezone_required",
		"Choose the time zone: the country does not determine it.").
		With("field", "timezone")
	ErrCurrencyRequired = fault.New(fault.Invalid, "currency_required",
		"Choose the currency: the country does not determine it.").
		With("field", "currency")
)

// profiles has the countries whose currency is accepted.
var profiles = slices.Concat(
	[]CountryProfile{
		{"AT", money.EUR, []string{"Europe/Vienna"}, usualDayStart, []Locale{German, English}},
		{"DE", money.EUR, []string{"Europe/Berlin"}, usualDayStart, []Locale{German, English}},
		{"JP", money.JPY, []string{"Asia/Tokyo"}, 5, []Locale{Japanese, English}},
		{"SA", money.SAR, []string{"Asia/Riyadh"}, 6, []Locale{English}},
		{"TH", money.THB, []string{"Asia/Bangkok"}, usualDayStart, []Locale{Thai, English}},
		{"TW", money.TWD, []string{"Asia/Taipei"}, usualDayStart, []Locale{Chinese, English}},
		{"VN", money.VND, []string{"Asia/Ho_Chi_Minh"}, usualDayStart, []Locale{Vietnamese, English}},
	},
	inEnglish(money.USD, map[Country][]string{
		"EC": {"America/Guayaquil", "Pacific/Galapagos"},
		"PA": {"America/Panama"},
		"PR": {"America/Puerto_Rico"},
		"SV": {"America/El_Salvador"},
		"US": {
			"America/New_York", "America/Chicago", "America/Denver", "America/Phoenix", "America/Los_Angeles", "America/Anchorage",
			"Pacific/Honolulu", "America/Detroit", "America/Indiana/Indianapolis", "America/Boise", "America/Adak",
		},
	}),
	inEnglish(money.EUR, map[Country][]string{
		"BE": {"Europe/Brussels"}, "BG": {"Europe/Sofia"}, "CY": {"Asia/Nicosia"},
		"EE": {"Europe/Tallinn"}, "ES": {"Europe/Madrid", "Atlantic/Canary", "Africa/Ceuta"},
		"FI": {"Europe/Helsinki"}, "FR": {"Europe/Paris"}, "GR": {"Europe/Athens"}, "HR": {"Europe/Zagreb"},
		"IE": {"Europe/Dublin"}, "IT": {"Europe/Rome"}, "LT": {"Europe/Vilnius"}, "LU": {"Europe/Luxembourg"},
		"LV": {"Europe/Riga"}, "MT": {"Europe/Malta"}, "NL": {"Europe/Amsterdam"},
		"PT": {"Europe/Lisbon", "Atlantic/Madeira", "Atlantic/Azores"}, "SI": {"Europe/Ljubljana"}, "SK": {"Europe/Bratislava"},
	}),
)

// inEnglish returns profiles of countries whose own languages are not supported: their menus start in English.
func inEnglish(currency money.Currency, zones map[Country][]string) []CountryProfile {
	all := make([]CountryProfile, 0, len(zones))
	for c, z := range zones {
		all = append(all, CountryProfile{c, currency, z, usualDayStart, []Locale{English}})
	}
	return all
}

// Valid reports whether c is the code of a country.
func (c Country) Valid() bool {
	// The parser also accepts codes of three letters or digits, and former or informal codes.
	r, err := language.ParseRegion(string(c))
	return err == nil && r.IsCountry() && r.Canonicalize() == r && r.String() == string(c) && len(c) == 2
}

// Profile returns the profile of a country; ok is false if it has none.
func (c Country) Profile() (p CountryProfile, ok bool) {
	i := slices.IndexFunc(profiles, func(p CountryProfile) bool { return p.Country == c })
	if i < 0 {
		return CountryProfile{}, false
	}
	return profiles[i], true
}

// CountryProfiles returns all profiles by country.
func CountryProfiles() []CountryProfile {
	return slices.SortedFunc(slices.Values(profiles), func(a, b CountryProfile) int {
		return cmp.Compare(a.Country, b.Country)
	})
}
