package linepay

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/money"
	"comanda/internal/testenv"
)

func TestParseMinor(t *testing.T) {
	for _, c := range []struct {
		currency money.Currency
		text     string
		want     int64
		ok       bool
	}{
		{"TWD", "360", 360, true}, {"TWD", "360.0", 360, true}, {"TWD", "360.00", 360, true}, {"TWD", "-60", -60, true},
		{"TWD", "360.5", 0, false}, {"TWD", "3e2", 0, false}, {"TWD", "", 0, false}, {"TWD", "-", 0, false},
		{"THB", "12.5", 1250, true}, {"THB", "12.50", 1250, true}, {"THB", "12.500", 1250, true}, {"THB", "12", 1200, true},
		{"THB", "-0.05", -5, true}, {"THB", "12.505", 0, false}, {"USD", "0.10", 10, true}, {"USD", "--1", 0, false},
		{"TWD", "9007199254740992", 0, false}, {"", "1", 0, false}, {"TWD", "NaN", 0, false},
	} {
		got, err := parseMinor(c.currency, json.Number(c.text))
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("parseMinor(%s, %q) = %d, %v, want %d and success %t", c.currency, c.text, got, err, c.want, c.ok)
		}
	}
}

// Every amount survives formatting and parsing.
func TestFormatMinor_round_trip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]money.Currency{money.TWD, money.THB, money.USD}).Draw(t, "currency")
		amount := rapid.Int64Range(0, money.Max).Draw(t, "amount")
		text := testenv.Must(json.Marshal(confirmBody{formatMinor(c, amount), string(c)}))(t)
		var decoded confirmBody
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatalf("body %s: %v", text, err)
		}
		if got, err := parseMinor(c, decoded.Amount); err != nil || got != amount {
			t.Errorf("%s is parsed as %d, want %d, %v", text, got, amount, err)
		}
	})
}

func TestSum_bounded(t *testing.T) {
	most := formatMinor(money.TWD, money.Max)
	if got, err := sum(money.TWD, []json.Number{most, "1"}); err == nil {
		t.Errorf("sum above the maximum = %d, want an error", got)
	}
}
