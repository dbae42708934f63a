// Package money is amounts as integers of a currency's smallest unit. There is no floating point in it and no
// conversion between currencies.
package money

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Currency is an ISO 4217 code that Comanda accepts.
type Currency string

// The accepted currencies.
const (
	VND Currency = "VND"
	TWD Currency = "TWD"
	JPY Currency = "JPY"
	USD Currency = "USD"
	EUR Currency = "EUR"
	SAR Currency = "SAR"
	THB Currency = "THB"
)

// decimals holds the number of digits after the point as restaurants use them. TWD has two in ISO 4217, but no coin or
// gateway has known a cent of it for decades, so its smallest unit here is one dollar.
var decimals = map[Currency]int{VND: 0, TWD: 0, JPY: 0, USD: 2, EUR: 2, SAR: 2, THB: 2}

// Max is the largest amount that can stand anywhere: it is exact in JSON numbers and in Lua (2^53 - 1).
const Max int64 = 1<<53 - 1

// Valid tells whether the currency is accepted.
func (c Currency) Valid() bool { _, ok := decimals[c]; return ok }

// Decimals is the number of digits after the point; 0 for an unknown currency.
func (c Currency) Decimals() int { return decimals[c] }

// Format writes an amount of minor units as a plain decimal number, without a symbol or grouping.
func (c Currency) Format(minor int64) string {
	d := c.Decimals()
	if d == 0 {
		return strconv.FormatInt(minor, 10)
	}
	sign := ""
	u := uint64(minor) //nolint:gosec // the sign is taken care of in the next line
	if minor < 0 {
		sign, u = "-", -u
	}
	p := uint64(math.Pow10(d))
	return fmt.Sprintf("%s%d.%0*d", sign, u/p, d, u%p)
}

// Parse reads a plain decimal number into minor units. More digits after the point than the currency has are refused,
// even zeros, so that 1.000 can never be taken for a thousand.
func (c Currency) Parse(s string) (int64, error) {
	if !c.Valid() {
		return 0, fmt.Errorf("money: unknown currency %q", string(c))
	}
	whole, frac, point := strings.Cut(s, ".")
	d := c.Decimals()
	if whole == "" || point && (len(frac) == 0 || len(frac) > d) {
		return 0, fmt.Errorf("money: %q is not an amount of %s", s, c)
	}
	digits := whole + frac + strings.Repeat("0", d-len(frac))
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, fmt.Errorf("money: %q is not an amount of %s", s, c)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > Max {
		return 0, fmt.Errorf("money: %q is too large", s)
	}
	return n, nil
}

// Times multiplies a price by a quantity; ok is false when either is negative or the product exceeds Max.
func Times(price, qty int64) (product int64, ok bool) {
	if price < 0 || qty < 0 {
		return 0, false
	}
	if price != 0 && qty > Max/price {
		return 0, false
	}
	return price * qty, true
}

// Plus adds two amounts; ok is false when either is negative or the sum exceeds Max.
func Plus(a, b int64) (sum int64, ok bool) {
	if a < 0 || b < 0 || a > Max-b {
		return 0, false
	}
	return a + b, true
}
