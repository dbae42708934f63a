package ordering

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Search is a parsed search text. An order matches if any part matches.
type Search struct {
	Numbers []int64  // order numbers that the text may mean
	Table   string   // table label, in lower case
	Phone   string   // last digits of a telephone number, at least phoneEnd of them
	Words   []string // each is the start of a word of the receiver's name
}

const (
	phoneEnd  = 4  // digits that index a telephone number
	phoneTail = 9  // digits compared; without the country code or the leading 0
	maxSeries = 27 // letters of a short number: A to Z and AA, 26,973 orders a day
	maxWords  = 8
)

// ParseSearch parses a search text. It accepts every text; some match no order.
func ParseSearch(text string) Search {
	text = strings.TrimSpace(text)
	s := Search{Table: strings.ToLower(text)}
	if n, err := ParseNumber(text); err == nil {
		s.Numbers = n.all()
	}
	if s.Phone = phoneIn(text); s.Phone == "" && s.Numbers == nil {
		s.Words = slices.DeleteFunc(distinct(words(text)), func(w string) bool { return len(w) < 2 }) // "a" matches too many
	}
	return s
}

// WithoutReceiver returns the search without its parts about the receiver, for staff who may not see receivers.
func (s Search) WithoutReceiver() Search {
	s.Phone, s.Words = "", nil
	return s
}

// PhoneEnd returns the last phoneEnd digits of Phone, which telephone numbers are indexed by.
func (s Search) PhoneEnd() string { return s.Phone[max(0, len(s.Phone)-phoneEnd):] }

// all returns the numbers that the filter selects. Digits alone match every series.
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

// phoneIn returns the digits to compare if text is a telephone number or its end, or else "". It leaves out the
// country code, so that 0912 345 678 matches a stored +84912345678.
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

// NameWords returns the distinct words that a name is indexed under. Chinese names have no spaces, so each of their
// characters starts a word.
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

// words splits text into at most maxWords words in lower case without accents, so that Nguyen matches Nguyễn.
func words(text string) []string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r): // a combining accent
			return -1
		case r == 'đ' || r == 'Đ': // not decomposed by NFKD; keyboards without it type d
			return 'd'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	all := strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return all[:min(len(all), maxWords)]
}
