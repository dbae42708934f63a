package linepay

import (
	"encoding/json"
	"fmt"
	"strings"

	"comanda/internal/money"
)

// currencies are those that LINE Pay takes.
var currencies = map[money.Currency]bool{money.TWD: true, money.THB: true, money.USD: true}

// number writes minor units as a number of JSON: 120 for TWD, 120.50 for THB. No float comes near it.
func number(c money.Currency, minor int64) json.Number { return json.Number(c.Format(minor)) }

// minor reads a number of JSON. Zeros at the end of its fraction mean nothing to JSON, so they are not counted here
// either; a fraction of the smallest unit is an error.
func minor(c money.Currency, n json.Number) (int64, error) {
	whole, fraction, _ := strings.Cut(n.String(), ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	if digits, negative := strings.CutPrefix(whole, "-"); negative {
		m, err := c.Parse(digits)
		return -m, err
	}
	return c.Parse(whole)
}

// sum adds parts of an amount, some of which may be negative.
func sum(c money.Currency, parts []json.Number) (int64, error) {
	var total int64
	for _, p := range parts {
		m, err := minor(c, p)
		if err != nil {
			return 0, err
		}
		if total += m; total > money.Max || total < -money.Max {
			return 0, fmt.Errorf("linepay: %s is too much", p)
		}
	}
	return total, nil
}
