package ordering

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Search is what somebody has typed to find an order, taken apart: an order is found by any of it.
type Search struct {
	Numbers []int64  // that the text may mean
	Table   string   // its label, in lower case
	Phone   string   // the last digits of a telephone number, at least phoneEnd
	Words   []string // each begins a word of the receiver's name
}

const (
	phoneEnd  = 4  // digits of a telephone number by which it is looked up
	phoneTail = 9  // digits that are compared; a country code, or the 0 instead of one, stands in front
	maxSeries = 27 // letters in front of a short number: A to Z and AA, 26,973 orders a day
	maxWords  = 8
)

// ParseSearch takes a search apart. Every text is a search; nothing may be found by it.
func ParseSearch(text string) Search {
	text = strings.TrimSpace(text)
	s := Search{Table: strings.ToLower(text)}
	if n, err := ParseNumber(text); err == nil {
		s.Numbers = n.all()
	}
	if s.Phone = phoneIn(text); s.Phone == "" && s.Numbers == nil {
		s.Words = slices.DeleteFunc(distinct(words(text)), func(w string) bool { return len(w) < 2 }) // a letter finds too much
	}
	return s
}

// WithoutReceiver returns the search for people who may not know who receives an order.
func (s Search) WithoutReceiver() Search {
	s.Phone, s.Words = "", nil
	return s
}

// PhoneEnd returns the digits under which a telephone number is indexed, and Phone ends with.
func (s Search) PhoneEnd() string { return s.Phone[max(0, len(s.Phone)-phoneEnd):] }

// all lists the numbers that are meant: digits alone may belong to any series.
func (n NumberFilter) all() []int64 {
	switch {
	case n.Whole != 0:
		return []int64{n.Whole}
	case n.Digits == 0:
		return nil
	}
	numbers := make([]int64, maxSeries)
	for i := range numbers {
		numbers[i] = int64(i)*numbersPerLetter + n.Digits
	}
	return numbers
}

// phoneIn returns the digits to compare if a text is a telephone number or its end, else nothing. Its country code is left
// out: a guest says 0912 345 678 where +84912345678 was entered.
func phoneIn(text string) string {
	var digits strings.Builder
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits.WriteRune(r)
		case !strings.ContainsRune(" +-().", r):
			return ""
		}
	}
	if d := digits.String(); len(d) >= phoneEnd {
		return d[max(0, len(d)-phoneTail):]
	}
	return ""
}

// NameWords returns the words under which a name is found, each once. Names in Chinese are not spaced, so each of their
// characters begins a word.
func NameWords(name string) []string {
	var all []string
	for _, w := range words(name) {
		all = append(all, w)
		for i, r := range w {
			if i > 0 && unicode.Is(unicode.Han, r) {
				all = append(all, w[i:])
			}
		}
	}
	return distinct(all)
}

func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// words splits a text into words in lower case and without accents, so that Nguyen finds Nguyễn.
func words(text string) []string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent that was taken off its letter
			return -1
		case r == 'đ' || r == 'Đ': // a letter of its own, that people without a Vietnamese keyboard type as d
			return 'd'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	all := strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return all[:min(len(all), maxWords)]
}
