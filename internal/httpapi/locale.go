package httpapi

import (
	"strconv"
	"strings"
)

const (
	// The headers of browsers are far shorter. The limits bound the work that a header of the maximum size can cause.
	maxAcceptLanguage = 512 // bytes of the header that are read
	maxLanguages      = 16  // languages of the header that are considered
)

// Locale returns the locale of have, which lists the available locales by preference, that matches an Accept-Language
// header best (RFC 4647, lookup): the same tag, else the tag shortened from its end, else another region or script of
// the same language. It returns the first of have if none matches, and "" if have is empty.
func Locale[L ~string](acceptLanguage string, have ...L) L {
	best, bestQ := L(""), 0.0
	if len(acceptLanguage) > maxAcceptLanguage {
		acceptLanguage = acceptLanguage[:maxAcceptLanguage]
	}
	count := 0
	for part := range strings.SplitSeq(acceptLanguage, ",") {
		if count++; count > maxLanguages {
			break
		}
		tag, params, _ := strings.Cut(part, ";")
		q := quality(params)
		if q <= bestQ { // the first of equal weights wins
			continue
		}
		if found := lookup(strings.TrimSpace(tag), have); found != "" {
			best, bestQ = found, q
		}
	}
	if best == "" && len(have) > 0 {
		return have[0]
	}
	return best
}

// quality parses "q=0.8"; invalid values count as 0.
func quality(params string) float64 {
	params = strings.TrimSpace(params)
	if params == "" {
		return 1
	}
	value, ok := strings.CutPrefix(params, "q=")
	q, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}

// lookup returns the available locale that matches one tag best, or "". The wildcard * matches none, so that the
// caller's default applies.
func lookup[L ~string](tag string, have []L) L {
	if tag == "" {
		return ""
	}
	for prefix := tag; prefix != ""; prefix = shorten(prefix) {
		for _, h := range have {
			if strings.EqualFold(string(h), prefix) {
				return h
			}
		}
	}
	language, _, _ := strings.Cut(tag, "-")
	for _, h := range have {
		if l, _, _ := strings.Cut(string(h), "-"); strings.EqualFold(l, language) {
			return h
		}
	}
	return ""
}

// shorten removes the last subtag, as in zh-Hant-TW to zh-Hant; a tag without a hyphen becomes empty.
func shorten(tag string) string {
	return tag[:max(0, strings.LastIndexByte(tag, '-'))]
}

// NameOrder is embedded in the inputs of routes whose answers have names of people, see text.PersonName.
type NameOrder struct {
	AcceptLanguage string `header:"Accept-Language" doc:"Decides whether names of people begin with the family name."`
}

// Language returns the language in whose order the client shows names.
func (o NameOrder) Language() string { return Locale(o.AcceptLanguage, "en", "vi", "zh") }

// Language is embedded in the inputs of routes with localized texts.
type Language struct {
	Locale         string `query:"locale" text:"exact" maxLength:"16" doc:"Takes precedence over Accept-Language."`
	AcceptLanguage string `header:"Accept-Language"`
}
