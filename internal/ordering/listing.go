package ordering

import (
	"regexp"
	"strconv"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/payment"
)

// Dates is a range of business dates, both ends included; an empty end is open.
type Dates struct{ From, To string }

// OrderFilter chooses orders of one branch; zero values choose all.
type OrderFilter struct {
	Branch        int64
	Dates         Dates
	Status        Status
	PaymentStatus PaymentStatus
	CancelReason  CancelReason
	Number        NumberFilter
	Visit         string  // a table's party
	Search        *Search // nil for all
	Limit, Offset int
}

// Listed is an order in a list of the staff.
type Listed struct {
	Order
	Table string // its label; empty away from tables
}

// AttemptFilter chooses attempts to pay orders of one branch and some business dates; zero values choose all.
type AttemptFilter struct {
	Branch        int64
	Dates         Dates
	Method        payment.Method
	State         payment.State
	Limit, Offset int
}

// ListedAttempt is an attempt with what people call its order.
type ListedAttempt struct {
	payment.Attempt
	Number  int64 // of the order
	BizDate string
}

// NumberFilter is what somebody says of a short number: all of it, or its digits alone, as they are called out.
type NumberFilter struct {
	Whole  int64 // the number itself; 0 for any
	Digits int64 // those behind the letters, 1 to 999; 0 for any
}

// ErrNumber refuses what can be no part of a short number.
var ErrNumber = fault.New(fault.Invalid, "invalid_number", "An order's number is written like A-042, or 42.")

var shortNumber = regexp.MustCompile(`^([A-Za-z]{0,4})[-\s]?0{0,2}([1-9][0-9]{0,2})$`)

// ParseNumber reads a short number the other way round than ShortNumber writes it. Nothing chooses all.
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
