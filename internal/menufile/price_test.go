package menufile

import (
	"encoding/json"
	"os"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/money"
)

// The cases are shared with the console's price grid, which parses prices by the same rules.
func TestParsePrice(t *testing.T) {
	raw, err := os.ReadFile("testdata/prices.json")
	var cases []struct {
		Currency money.Currency
		Typed    string
		Amount   int64
		Problem  ProblemCode // empty for a valid amount
	}
	if err == nil {
		err = json.Unmarshal(raw, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		got, p := parsePrice(c.Typed, c.Currency)
		if p.code != c.Problem || p.code == "" && got != c.Amount {
			t.Errorf("%s %q = %d, %q; want %d, %q", c.Currency, c.Typed, got, p.code, c.Amount, c.Problem)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for _, c := range []struct {
		currency money.Currency
		in       string
		want     int64
		code     ProblemCode
	}{
		{money.VND, "65000", 65_000, ""}, {money.VND, "6.5E4", 65_000, ""}, {money.VND, "65000.000000000007", 65_000, ""},
		{money.USD, "0.30000000000000004", 30, ""}, {money.USD, "12.5", 1_250, ""}, {money.USD, "1234.5", 123_450, ""},
		{money.VND, "65.5", 0, PriceUnreadable}, {money.USD, "1.234", 0, PriceUnreadable}, {money.VND, "-1", 0, PriceNegative},
		{money.VND, "NaN", 0, PriceUnreadable}, {money.VND, "1e300", 0, PriceUnreadable}, {money.VND, "1e12", 0, PriceTooLarge},
	} {
		if got, p := parseNumber(c.in, c.currency); p.code != c.code || p.code == "" && got != c.want {
			t.Errorf("%s %s = %d, %q; want %d, %q", c.currency, c.in, got, p.code, c.want, c.code)
		}
	}
}

// An amount with a currency's own separators is either parsed correctly or refused as ambiguous.
func TestParsePrice_never_guesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]money.Currency{money.VND, money.TWD, money.JPY, money.USD, money.EUR, money.THB}).Draw(t, "currency")
		n := rapid.Int64Range(0, MaxPrice).Draw(t, "amount")
		if c.Decimals() == 0 {
			n = rapid.Int64Range(0, MaxPrice).Draw(t, "whole")
		}
		marks := rapid.SampledFrom([]string{".,", ",.", " ,", " .", "'."}).Draw(t, "marks")
		s := group(c, n, marks[:1], marks[1:])
		got, p := parsePrice(s, c)
		if p.code == PriceAmbiguous {
			return
		}
		if p.code != "" || got != n {
			t.Fatalf("%s %d written %q is read as %d, %s", c, n, s, got, p.code)
		}
	})
}

// group formats an amount with separators.
func group(c money.Currency, n int64, thousands, point string) string {
	s := c.Format(n)
	fraction := ""
	if d := c.Decimals(); d > 0 {
		s, fraction = s[:len(s)-d-1], point+s[len(s)-d:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + thousands + s[i:]
	}
	return s + fraction
}
