package ordering

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/text"
)

// Dates is a range of business dates, both ends included. An empty end is open.
type Dates struct{ From, To string }

// OrderFilter selects orders of one branch. Zero values select all.
type OrderFilter struct {
	Branch        int64
	Dates         Dates
	Status        Status
	PaymentStatus PaymentStatus
	CancelReason  CancelReason
	Number        NumberFilter
	Visit         string  // only orders of this visit
	Search        *Search // nil for all
	Limit, Offset int
}

// ListedOrder is an order in a list for the staff. The table is the one at which the visit sits now.
type ListedOrder struct {
	Order
	Table string // label; empty unless DINE_IN
}

// AttemptFilter selects payment attempts of one branch by business date. Zero values select all.
type AttemptFilter struct {
	Branch        int64
	Dates         Dates
	Method        payment.Method
	State         payment.State
	Limit, Offset int
}

// ListedAttempt is an attempt with the short number of its order.
type ListedAttempt struct {
	payment.Attempt
	Number  int64 // order number
	BizDate string
}

// NumberFilter selects orders by their short number, either by the whole number or by its digits alone.
type NumberFilter struct {
	Whole  int64 // the order's number; 0 for any
	Digits int64 // the digits after the letters, 1 to 999; 0 for any
}

// ErrInvalidNumber reports a text that is not a short number or its digits.
var ErrInvalidNumber = fault.New(fault.Invalid, "invalid_number", "An order number is written like A-042 or 42.")

// shortNumber matches a short number or its digits. Four letters are more than one business date ever needs.
// Leading zeros are optional, because people often omit them.
var shortNumber = regexp.MustCompile(`^([A-Za-z]{0,4})[-\s]?0{0,2}([1-9][0-9]{0,2})$`)

// ParseNumber parses a short number as ShortNumber writes it, or its digits alone. Empty text selects all orders.
func ParseNumber(s string) (NumberFilter, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return NumberFilter{}, nil
	}
	m := shortNumber.FindStringSubmatch(s)
	if m == nil {
		return NumberFilter{}, ErrInvalidNumber
	}
	digits, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return NumberFilter{}, ErrInvalidNumber.Because(err)
	}
	if m[1] == "" {
		return NumberFilter{Digits: digits}, nil
	}
	series := int64(0)
	// The inverse of ShortNumber: A is series 1.
	for _, letter := range strings.ToUpper(m[1]) {
		series = series*26 + int64(letter-'A') + 1
	}
	return NumberFilter{Whole: (series-1)*numbersPerLetter + digits}, nil
}

// Search is a parsed search text. An order matches if any part matches. Empty parts match nothing.
type Search struct {
	Numbers []int64  // order numbers that the text may mean
	Table   string   // a table's label, folded as by text.Fold
	Phone   string   // last digits of a telephone number, at least phoneEnd of them
	Words   []string // each is the start of a word of the receiver's name
}

const (
	phoneEnd  = 4  // last digits by which a telephone number is found
	phoneTail = 9  // digits compared; without the country code or the leading 0
	maxSeries = 27 // letters of a short number: A to Z and AA, 26,973 orders a day
	maxWords  = 8
)

// ParseSearch parses a search text. It accepts every text; some match no order.
func ParseSearch(typed string) Search {
	typed = strings.TrimSpace(typed)
	s := Search{Table: text.Fold(typed)}
	if n, err := ParseNumber(typed); err == nil {
		s.Numbers = n.all()
	}
	// Names contain no digits, so a text of digits is not searched in the index of words.
	if s.Phone = phoneIn(typed); s.Phone == "" && s.Numbers == nil {
		s.Words = slices.DeleteFunc(distinct(words(typed)), func(w string) bool { return len(w) < 2 }) // "a" matches too many
	}
	return s
}

// WithoutReceiver returns the search without its parts about the receiver, for staff who may not see receivers.
// Otherwise the number of results would reveal the receivers that the response hides.
func (s Search) WithoutReceiver() Search {
	s.Phone, s.Words = "", nil
	return s
}

// PhoneEnd returns the last phoneEnd digits of Phone. The index of telephone numbers contains these digits.
func (s Search) PhoneEnd() string { return s.Phone[max(0, len(s.Phone)-phoneEnd):] }

// all returns the order numbers that the filter selects. Digits alone match every series. The index contains whole
// numbers only, so digits alone are searched as one number per series.
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
// characters starts a word. It must fold like ParseSearch, or the index would not contain what a search looks for.
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

// distinct sorts words in place and removes repetitions.
func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// words splits text into at most maxWords words in lower case without accents, so that Nguyen matches Nguyễn. The limit
// bounds the rows of one name in the index, and the ranges of one search.
func words(s string) []string {
	all := strings.FieldsFunc(text.Fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return all[:min(len(all), maxWords)]
}
