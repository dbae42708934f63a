package ordering

import (
	"regexp"
	"strconv"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/payment"
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
	Visit         string  // the party at a table
	Search        *Search // nil for all
	Limit, Offset int
}

// Listed is an order in a list for the staff.
type Listed struct {
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
	Number  int64 // of the order
	BizDate string
}

// NumberFilter selects orders by their short number, either by the whole number or by its digits alone.
type NumberFilter struct {
	Whole  int64 // the order's number; 0 for any
	Digits int64 // the digits after the letters, 1 to 999; 0 for any
}

// ErrNumber reports a text that is not a short number or its digits.
var ErrNumber = fault.New(fault.Invalid, "invalid_number", "An order's number is written like A-042, or 42.")

var shortNumber = regexp.MustCompile(`^([A-Za-z]{0,4})[-\s]?0{0,2}([1-9][0-9]{0,2})$`)

// ParseNumber parses a short number as ShortNumber writes it, or its digits alone. Empty text selects all orders.
func ParseNumber(text string) (NumberFilter, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return NumberFilter{}, nil
	}
	m := shortNumber.FindStringSubmatch(text)
	if m == nil {
		return NumberFilter{}, ErrNumber
	}
	digits, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return NumberFilter{}, ErrNumber.Because(err)
	}
	if m[1] == "" {
		return NumberFilter{Digits: digits}, nil
	}
	series := int64(0)
	for _, letter := range strings.ToUpper(m[1]) {
		series = series*26 + int64(letter-'A') + 1
	}
	return NumberFilter{Whole: (series-1)*numbersPerLetter + digits}, nil
}
