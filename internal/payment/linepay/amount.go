package linepay

import (
	"encoding/json"
	"fmt"
	"strings"

	"comanda/internal/money"
)

// formatMinor formats minor units as a JSON number: 120 for TWD, 120.50 for THB. It uses no floats. LINE Pay compares
// the amount of a confirmation with that of the request, so both come from here.
func formatMinor(c money.Currency, minor int64) json.Number { return json.Number(c.Format(minor)) }

// parseMinor parses a JSON number as minor units. It ignores trailing zeros of the fraction; a fraction of a minor unit
// is an error. LINE Pay lists refunds with a minus. money.Parse refuses one, so the sign is handled here.
func parseMinor(c money.Currency, n json.Number) (int64, error) {
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

// sum adds parts of an amount, some of which may be negative, such as discounts. The limit is checked after each part:
// two numbers within it cannot overflow an int64.
func sum(c money.Currency, parts []json.Number) (int64, error) {
	var total int64
	for _, p := range parts {
		m, err := parseMinor(c, p)
		if err != nil {
			return 0, err
		}
		if total += m; total > money.Max || total < -money.Max {
			return 0, fmt.Errorf("linepay: %s is too much", p)
		}
	}
	return total, nil
}
