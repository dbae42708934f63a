// Package money represents amounts as integers of a currency's smallest unit. It uses no floating point and converts
// between no currencies.
package money

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Currency is an ISO 4217 code that Comanda accepts. Each branch has one.
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

// decimals is the number of decimal places that restaurants use. TWD has two in ISO 4217, but neither coins nor
// gateways have used cents for decades, so its smallest unit here is one dollar.
var decimals = map[Currency]int{VND: 0, TWD: 0, JPY: 0, USD: 2, EUR: 2, SAR: 2, THB: 2}

// Max is the largest possible amount, 2^53 - 1: it is exact in JSON numbers and in Lua.
const Max int64 = 1<<53 - 1

// Valid reports whether the currency is accepted.
func (c Currency) Valid() bool { _, ok := decimals[c]; return ok }

// Decimals returns the number of decimal places; 0 for an unknown currency.
func (c Currency) Decimals() int { return decimals[c] }

// Format returns an amount in minor units as a plain decimal number, without a symbol or grouping. Gateways read it as
// it is; a page formats it for its language.
func (c Currency) Format(minor int64) string {
	d := c.Decimals()
	if d == 0 {
		return strconv.FormatInt(minor, 10)
	}
	sign := ""
	u := uint64(minor) //nolint:gosec // the next line handles the sign
	if minor < 0 {
		sign, u = "-", -u
	}
	p := uint64(math.Pow10(d))
	return fmt.Sprintf("%s%d.%0*d", sign, u/p, d, u%p)
}

// symbols are those of currencies that have one.
var symbols = map[Currency]string{VND: "₫", TWD: "NT$", USD: "$", EUR: "€", THB: "฿", JPY: "¥"}

// Localized formats an amount in minor units for people, as the guest app does: 65.000 ₫ in Vietnamese, ₫65,000 in any
// other language. language is a BCP 47 tag.
func (c Currency) Localized(minor int64, language string) string {
	sign, plain := "", c.Format(minor)
	if strings.HasPrefix(plain, "-") {
		sign, plain = "−", plain[1:]
	}
	whole, cents, _ := strings.Cut(plain, ".")
	comma, point := ",", "."
	if language == "vi" {
		comma, point = ".", ","
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + comma + whole[i:]
	}
	if cents != "" {
		whole += point + cents
	}
	symbol, ok := symbols[c]
	if !ok || language == "vi" {
		return sign + whole + "\u00a0" + cmp.Or(symbol, string(c))
	}
	return sign + symbol + whole
}

// Parse parses a plain decimal number into minor units. It refuses more decimal places than the currency has, even
// zeros, so that 1.000 is never taken for a thousand. It accepts no sign, no grouping and no exponent. The result is at
// most Max.
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

// Times returns a price times a quantity; ok is false if either is negative or the product exceeds Max.
func Times(price, qty int64) (product int64, ok bool) {
	if price < 0 || qty < 0 {
		return 0, false
	}
	// The comparison uses a division, because the product could overflow.
	if price != 0 && qty > Max/price {
		return 0, false
	}
	return price * qty, true
}

// Plus returns the sum of two amounts; ok is false if either is negative or the sum exceeds Max. It is for totals of
// bills, which have no negative parts.
func Plus(a, b int64) (sum int64, ok bool) {
	if a < 0 || b < 0 || a > Max-b {
		return 0, false
	}
	return a + b, true
}
