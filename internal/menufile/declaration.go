package menufile

import (
	"slices"
	"strings"

	"comanda/internal/seq"
	"comanda/internal/text"
)

// AllergensCell has the cells of allergens: what a dish contains, and of what it may have traces. Codes are GS1's.
type AllergensCell struct {
	Given                bool // false: the cells were empty
	Declared             bool // false: the declaration is to be removed
	Contains, MayContain []string
}

// DietsCell is the cell of diets.
type DietsCell struct {
	Given bool     // false: the cell was empty
	Codes []string // empty: none
}

// None is the content of the cell of allergens of a dish that contains none of the 14. It is not the same as an empty
// cell, which keeps what is stored.
const None = "none"

// word is a code with the words that files have for it. The first one is written.
type word struct {
	code  string
	words []string
}

// Words are English in all files, like the names of columns. The order is that of Regulation (EU) No 1169/2011, Annex II.
var (
	allergenWords = []word{
		{"AW", []string{"gluten", "wheat"}},
		{"AC", []string{"crustaceans", "crustacean", "shellfish"}},
		{"AE", []string{"egg", "eggs"}},
		{"AF", []string{"fish"}},
		{"AP", []string{"peanuts", "peanut"}},
		{"AY", []string{"soya", "soy"}},
		{"AM", []string{"milk", "dairy"}},
		{"AN", []string{"nuts", "nut"}},
		{"BC", []string{"celery"}},
		{"BM", []string{"mustard"}},
		{"AS", []string{"sesame"}},
		{"AU", []string{"sulphites", "sulfites"}},
		{"NL", []string{"lupin"}},
		{"UM", []string{"molluscs", "mollusks", "mollusc"}},
	}
	dietWords = []word{
		{"VEGETARIAN", []string{"vegetarian"}},
		{"VEGAN", []string{"vegan"}},
		{"HALAL", []string{"halal"}},
		{"KOSHER", []string{"kosher"}},
	}
)

// maxWords limits the characters of a cell of words. All 14 allergens have fewer.
const maxWords = 300

// words reads a cell of words or codes that are separated by commas.
func (in *reader) words(d dish, field string, known []word, unknown ProblemCode) (codes []string, what outcome) {
	s, what := in.text(d, field, text.Line, maxWords)
	if what != given || field == "allergens" && strings.EqualFold(s, None) {
		return nil, what
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;/、，；", r) }) {
		if w = trimSpace(w); w == "" {
			continue
		}
		i := slices.IndexFunc(known, func(k word) bool {
			same := func(s string) bool { return strings.EqualFold(s, w) }
			return same(k.code) || slices.ContainsFunc(k.words, same)
		})
		if i < 0 {
			in.addf(d, field, unknown, "%q is not known. Known are %s.", clip(w),
				strings.Join(seq.Map(known, func(k word) string { return k.words[0] }), ", "))
			return nil, rejected
		}
		if !slices.Contains(codes, known[i].code) {
			codes = append(codes, known[i].code)
		}
	}
	return codes, what
}

// declaration reads the cells of allergens and diets.
func (in *reader) declaration(d dish, row *DishRow) {
	contains, what := in.words(d, "allergens", allergenWords, AllergenUnknown)
	traces, more := in.words(d, "may_contain", allergenWords, AllergenUnknown)
	for _, code := range traces {
		if slices.Contains(contains, code) {
			in.addf(d, "may_contain", AllergenTwice, "The dish contains this already: %s.", wordOf(allergenWords, code))
		}
	}
	switch {
	case what == rejected || more == rejected:
	case len(traces) > 0 && what != given:
		// Traces alone would declare that the dish contains none of the 14, which the author may not have meant.
		in.addf(d, "allergens", AllergensMissing, "Write what the dish contains, or %q.", None)
	case what == given:
		row.Allergens = AllergensCell{true, true, contains, traces}
	case what == cleared:
		row.Allergens = AllergensCell{Given: true}
	}
	codes, what := in.words(d, "diets", dietWords, DietUnknown)
	if what == given || what == cleared {
		row.Diets = DietsCell{true, codes}
	}
}

func wordOf(known []word, code string) string {
	return known[slices.IndexFunc(known, func(k word) bool { return k.code == code })].words[0]
}

// wordsOf returns the content of a cell of words.
func wordsOf(known []word, codes []string) string {
	return strings.Join(seq.Map(codes, func(code string) string { return wordOf(known, code) }), ", ")
}

// cells returns the content of the cells of allergens. A removed declaration is written as one that was never made:
// exports have no Clear.
func (a AllergensCell) cells() (contains, traces string) {
	switch {
	case !a.Declared:
		return "", ""
	case len(a.Contains) == 0:
		return None, wordsOf(allergenWords, a.MayContain)
	}
	return wordsOf(allergenWords, a.Contains), wordsOf(allergenWords, a.MayContain)
}
