package money

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var all = []Currency{VND, TWD, JPY, USD, EUR, SAR, THB}

func currency() *rapid.Generator[Currency] { return rapid.SampledFrom(all) }

func amount() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(0, 1_000), rapid.Int64Range(0, Max), rapid.Just(Max))
}

func TestCurrency_Decimals(t *testing.T) {
	want := map[Currency]int{VND: 0, TWD: 0, JPY: 0, USD: 2, EUR: 2, SAR: 2, THB: 2}
	if len(want) != len(decimals) {
		t.Errorf("%d currencies are accepted, this test knows %d", len(decimals), len(want))
	}
	for c, d := range want {
		if !c.Valid() || c.Decimals() != d {
			t.Errorf("%s: valid %t, decimals %d", c, c.Valid(), c.Decimals())
		}
	}
	for _, c := range []Currency{"", "vnd", "XXX", "KWD"} {
		if c.Valid() {
			t.Errorf("%q is accepted", c)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		cur   Currency
		minor int64
		want  string
	}{
		{VND, 65000, "65000"}, {VND, 0, "0"}, {VND, -5, "-5"}, {JPY, math.MinInt64, "-9223372036854775808"},
		{USD, 0, "0.00"}, {USD, 5, "0.05"}, {USD, 123456, "1234.56"}, {USD, -5, "-0.05"}, {EUR, -100, "-1.00"},
		{USD, math.MinInt64, "-92233720368547758.08"}, {USD, math.MaxInt64, "92233720368547758.07"},
	} {
		if got := c.cur.Format(c.minor); got != c.want {
			t.Errorf("%s %d = %q, want %q", c.cur, c.minor, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		cur  Currency
		in   string
		want int64
	}{
		{VND, "65000", 65000}, {VND, "0", 0}, {VND, "007", 7}, {USD, "1", 100}, {USD, "1.5", 150}, {USD, "1.05", 105},
		{USD, "0.01", 1}, {VND, "9007199254740991", Max}, {USD, "90071992547409.91", Max},
	} {
		if got, err := c.cur.Parse(c.in); err != nil || got != c.want {
			t.Errorf("%s %q = %d, %v; want %d", c.cur, c.in, got, err, c.want)
		}
	}
	for _, c := range []struct {
		cur Currency
		in  string
	}{
		{VND, ""}, {VND, "."}, {VND, "1."}, {VND, ".5"}, {VND, "1.0"}, {VND, "-1"}, {VND, "+1"}, {VND, " 1"}, {VND, "1e3"},
		{VND, "1,000"}, {VND, "1_000"}, {VND, "0x10"}, {VND, "١"}, {VND, "9007199254740992"}, {VND, "99999999999999999999"},
		{USD, "1.000"}, {USD, "1.005"}, {USD, "1..5"}, {USD, "1.5.5"}, {USD, "1.-5"}, {USD, "90071992547409.92"},
		{"XXX", "1"}, {"", "1"},
	} {
		if got, err := c.cur.Parse(c.in); err == nil {
			t.Errorf("%s %q = %d, want a refusal", c.cur, c.in, got)
		}
	}
}

func TestParse_ReadsWhatFormatWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n := currency().Draw(t, "currency"), amount().Draw(t, "amount")
		got, err := c.Parse(c.Format(n))
		if err != nil || got != n {
			t.Fatalf("%s: %d formatted as %q is parsed as %d, %v", c, n, c.Format(n), got, err)
		}
	})
}

// FuzzParse compares with exact rational arithmetic: every accepted text is a plain decimal number, parsed to the right
// value.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "65000", "1.5", "1.05", "9007199254740991", "-1", "1.000", "1e9", ".", "٣", "0.0"} {
		f.Add(uint8(0), s)
		f.Add(uint8(3), s)
	}
	f.Fuzz(func(t *testing.T, pick uint8, s string) {
		c := all[int(pick)%len(all)]
		n, err := c.Parse(s)
		if err != nil {
			return
		}
		if strings.Trim(s, "0123456789.") != "" {
			t.Fatalf("%s accepts %q", c, s)
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%s accepts %q, which is not a number", c, s)
		}
		got := big.NewRat(n, int64(math.Pow10(c.Decimals())))
		if got.Cmp(want) != 0 || n < 0 || n > Max {
			t.Fatalf("%s: %q is parsed as %d, want its value in minor units", c, s, n)
		}
	})
}

// Times and Plus agree with arithmetic that cannot overflow.
func TestArithmetic_IsExactOrRefused(t *testing.T) {
	operand := rapid.OneOf(amount(), rapid.Int64(), rapid.SampledFrom([]int64{
		-1, 0, 1, Max - 1, Max + 1, math.MaxInt64, math.MinInt64, 94906265, 94906266,
	}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := operand.Draw(t, "a"), operand.Draw(t, "b")
		check := func(name string, got int64, ok bool, exact *big.Int) {
			right := a >= 0 && b >= 0 && exact.Cmp(big.NewInt(Max)) <= 0
			if ok != right || ok && got != exact.Int64() {
				t.Fatalf("%s(%d, %d) = %d, %t; exactly %s", name, a, b, got, ok, exact)
			}
		}
		x, y := big.NewInt(a), big.NewInt(b)
		product, ok := Times(a, b)
		check("Times", product, ok, new(big.Int).Mul(x, y))
		sum, ok := Plus(a, b)
		check("Plus", sum, ok, new(big.Int).Add(x, y))
	})
}

// Max is the largest integer up to which a float64, and therefore JavaScript and Lua, is exact.
func TestMax_IsExactInAFloat(t *testing.T) {
	if float64(Max) == float64(Max-1) || strconv.FormatFloat(float64(Max), 'f', -1, 64) != strconv.FormatInt(Max, 10) {
		t.Error("Max is not exact as a float64")
	}
}

func TestCurrency_Localized(t *testing.T) {
	for _, c := range []struct {
		currency Currency
		minor    int64
		language string
		want     string
	}{
		{VND, 65000, "vi", "65.000\u00a0₫"}, {VND, 1234567, "en", "₫1,234,567"}, {TWD, 440, "zh-TW", "NT$440"},
		{USD, 123456, "en", "$1,234.56"}, {USD, 123456, "vi", "1.234,56\u00a0$"}, {SAR, 1250, "en", "12.50\u00a0SAR"},
		{VND, -500, "en", "−₫500"}, {VND, -1500, "vi", "−1.500\u00a0₫"},
	} {
		if got := c.currency.Localized(c.minor, c.language); got != c.want {
			t.Errorf("%s %d in %s is %q, want %q", c.currency, c.minor, c.language, got, c.want)
		}
	}
}
