package price

import (
	"cmp"
	"strconv"
	"strings"
)

// Percent is a percentage between 0 and 100 as a decimal string with at most four decimals, such as "8.875". A string
// keeps the exact decimal, of which most have no exact binary fraction.
type Percent string

// whole is 100 % in millionths, the unit in which percents are computed.
const whole = 1_000_000

// decimals is how many decimals a percent may have: one of four is a millionth.
const decimals = 4

// millionths returns the percent in millionths; ok is false if it is malformed or above 100.
func (p Percent) millionths() (n int64, ok bool) {
	integer, fraction, point := strings.Cut(string(p), ".")
	if integer == "" || len(integer) > 2 && integer != "100" || len(fraction) > decimals || point && fraction == "" {
		return 0, false
	}
	digits := integer + fraction + strings.Repeat("0", decimals-len(fraction))
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n <= whole && strings.Trim(digits, "0123456789") == ""
}

// percentOf is the inverse of millionths, without trailing zeros.
func percentOf(millionths int64) Percent {
	digits := strconv.FormatInt(millionths, 10)
	digits = strings.Repeat("0", max(0, decimals+1-len(digits))) + digits
	integer, fraction := digits[:len(digits)-decimals], strings.TrimRight(digits[len(digits)-decimals:], "0")
	if fraction == "" {
		return Percent(integer)
	}
	return Percent(integer + "." + fraction)
}

// Valid reports whether the percent is between 0 and 100 and has at most four decimals.
func (p Percent) Valid() bool {
	_, ok := p.millionths()
	return ok
}

// Covers reports whether part is at most the percent of an amount, rounded up. So a discount of exactly the percent is
// covered, however it was rounded.
func (p Percent) Covers(part, of int64) bool {
	n, _ := p.millionths()
	return part <= Up.share(of, n, whole)
}

// Compare returns -1, 0 or 1. An empty percent is less than any other.
func (p Percent) Compare(q Percent) int {
	value := func(p Percent) int64 {
		if n, ok := p.millionths(); ok {
			return n
		}
		return -1
	}
	return cmp.Compare(value(p), value(q))
}
