package price

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/testenv"
)

// The worked examples of docs/decisions/0051-one-price-engine.md.
func TestQuote_examples(t *testing.T) {
	hanoi := Input{
		Currency: "VND", PriceMode: Inclusive, TaxScope: PerBill, TaxRounding: HalfUp,
		Lines: []Line{{Qty: 2, UnitPrice: 65_000, Rate: "8"}, {Qty: 3, UnitPrice: 25_000, Rate: "10"}},
	}
	for name, c := range map[string]struct {
		in   func(*Input)
		want Result
	}{
		"two rates": {func(*Input) {}, Result{
			Goods: 205_000, Total: 205_000, Taxes: []Tax{{"10", 68_182, 6_818}, {"8", 120_370, 9_630}},
			Lines: []Sum{{Gross: 130_000, Tax: 9_630}, {Gross: 75_000, Tax: 6_818}},
		}},
		"ten percent off": {func(in *Input) { in.Discounts = []Discount{{Percent: "10"}} }, Result{
			Goods: 205_000, Discount: 20_500, Total: 184_500, Taxes: []Tax{{"10", 61_364, 6_136}, {"8", 108_333, 8_667}},
			Lines: []Sum{{Gross: 130_000, Discount: 13_000, Tax: 8_667}, {Gross: 75_000, Discount: 7_500, Tax: 6_136}},
		}},
		"percents before amounts": {func(in *Input) {
			in.Lines = in.Lines[:1]
			in.Lines[0].Discounts = []Discount{{Percent: "10"}, {Amount: new(int64(500))}}
			in.Discounts = []Discount{{Percent: "10"}}
		}, Result{
			Goods: 130_000, Discount: 25_200, Total: 104_800, Taxes: []Tax{{"8", 97_037, 7_763}},
			Lines: []Sum{{Gross: 130_000, Discount: 25_200, Tax: 7_763}},
		}},
		"Taipei, ten percent service": {func(in *Input) {
			in.Lines = []Line{{Qty: 1, UnitPrice: 460, Rate: "5"}}
			in.ServiceCharges = []ServiceCharge{{Percent: "10", Taxed: true}}
		}, Result{
			Goods: 460, Service: 46, Total: 506, Taxes: []Tax{{"5", 482, 24}}, Lines: []Sum{{Gross: 460, Service: 46, Tax: 24}},
		}},
		"Berlin, lunch combo": {func(in *Input) {
			in.Lines = []Line{{Qty: 1, UnitPrice: 2_000, Components: []Component{{"19", 30}, {"7", 70}}}}
		}, Result{
			Goods: 2_000, Total: 2_000, Taxes: []Tax{{"19", 504, 96}, {"7", 1_308, 92}}, Lines: []Sum{{Gross: 2_000, Tax: 188}},
		}},
		"untaxed service": {func(in *Input) {
			in.ServiceCharges = []ServiceCharge{{Amount: new(int64(10_000))}}
		}, Result{
			Goods: 205_000, Service: 10_000, Total: 215_000, Taxes: []Tax{{"10", 68_182, 6_818}, {"8", 120_370, 9_630}},
			Lines: []Sum{{Gross: 130_000, Service: 6_341, Tax: 9_630}, {Gross: 75_000, Service: 3_659, Tax: 6_818}},
		}},
		"service before discounts stays": {func(in *Input) {
			in.Discounts = []Discount{{Percent: "100"}}
			in.ServiceCharges = []ServiceCharge{{Percent: "10", Base: BeforeDiscounts}}
		}, Result{
			Goods: 205_000, Discount: 205_000, Service: 20_500, Total: 20_500, Taxes: []Tax{{"10", 0, 0}, {"8", 0, 0}},
			Lines: []Sum{
				{Gross: 130_000, Discount: 130_000, Service: 13_000}, {Gross: 75_000, Discount: 75_000, Service: 7_500},
			},
		}},
		"everything for free": {func(in *Input) {
			in.Discounts = []Discount{{Percent: "100"}}
			in.ServiceCharges = []ServiceCharge{{Percent: "10", Taxed: true}}
		}, Result{
			Goods: 205_000, Discount: 205_000, Taxes: []Tax{{"10", 0, 0}, {"8", 0, 0}},
			Lines: []Sum{{Gross: 130_000, Discount: 130_000}, {Gross: 75_000, Discount: 75_000}},
		}},
		"amount above the sum": {func(in *Input) {
			in.Lines = in.Lines[:1]
			in.Discounts = []Discount{{Amount: new(int64(1_000_000))}}
		}, Result{
			Goods: 130_000, Discount: 130_000, Taxes: []Tax{{"8", 0, 0}}, Lines: []Sum{{Gross: 130_000, Discount: 130_000}},
		}},
		"cash rounding up": {func(in *Input) {
			in.Lines, in.CashRounding = []Line{{Qty: 1, UnitPrice: 64_500}}, 1_000
		}, Result{Goods: 64_500, Rounding: 500, Total: 65_000, Taxes: []Tax{}, Lines: []Sum{{Gross: 64_500}}}},
		"cash rounding down": {func(in *Input) {
			in.Lines, in.CashRounding = []Line{{Qty: 1, UnitPrice: 64_499}}, 1_000
		}, Result{Goods: 64_499, Rounding: -499, Total: 64_000, Taxes: []Tax{}, Lines: []Sum{{Gross: 64_499}}}},
		"exclusive, service taxed": {func(in *Input) {
			in.PriceMode, in.Lines = Exclusive, []Line{{Qty: 1, UnitPrice: 1_000, Rate: "8.8750"}}
			in.ServiceCharges = []ServiceCharge{{Percent: "10", Taxed: true}}
		}, Result{
			Goods: 1_000, Service: 100, Total: 1_198, Taxes: []Tax{{"8.875", 1_100, 98}},
			Lines: []Sum{{Gross: 1_000, Service: 100, Tax: 98}},
		}},
		"free dishes, service in equal parts": {func(in *Input) {
			in.Lines = []Line{{Qty: 1, Rate: "8"}, {Qty: 1, Rate: "8"}}
			in.ServiceCharges = []ServiceCharge{{Amount: new(int64(5))}}
		}, Result{Service: 5, Total: 5, Taxes: []Tax{{"8", 0, 0}}, Lines: []Sum{{Service: 3}, {Service: 2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			in := hanoi
			in.Lines = slices.Clone(hanoi.Lines)
			c.in(&in)
			testenv.Equal(t, c.want, mustQuote(t, in))
		})
	}
}

func TestRounding_share(t *testing.T) {
	for r, want := range map[Rounding][4]int64{ // rounded 1.25, 1.5, 2.5 and 1.75
		HalfUp: {1, 2, 3, 2}, HalfEven: {1, 2, 2, 2}, HalfDown: {1, 1, 2, 2}, Up: {2, 2, 3, 2}, Down: {1, 1, 2, 1},
	} {
		if got := [4]int64{r.share(5, 1, 4), r.share(3, 1, 2), r.share(5, 1, 2), r.share(7, 1, 4)}; got != want {
			t.Errorf("%s: %v, want %v", r, got, want)
		}
	}
	if got := HalfUp.share(money.Max, whole, whole); got != money.Max { // the product has 73 bits
		t.Errorf("all of the largest amount is %d", got)
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[Percent]int64{
		"0": 0, "8": 80_000, "8.875": 88_750, "0.0001": 1, "100": whole, "100.0000": whole, "08.5": 85_000,
	} {
		if n, ok := text.millionths(); !ok || n != want {
			t.Errorf("%q is %d, %t", text, n, ok)
		}
	}
	for _, text := range []Percent{"", ".", "8.", ".5", "100.0001", "101", "-1", "+1", "8,5", "1e1", "8.12345", "1000", "008", " 8"} {
		if n, ok := text.millionths(); ok {
			t.Errorf("%q is read as %d", text, n)
		}
	}
	for n, want := range map[int64]Percent{0: "0", 1: "0.0001", 80_000: "8", 88_750: "8.875", whole: "100", 5_500: "0.55"} {
		if got := percentOf(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// A discount of exactly the percent is covered, although it is rounded up.
func TestPercent_Covers(t *testing.T) {
	for _, c := range []struct {
		percent  Percent
		part, of int64
		want     bool
	}{
		{"20", 1000, 5000, true}, {"20", 1001, 5000, false}, {"20", 1001, 5003, true}, {"20", 1002, 5003, false},
		{"0", 0, 5000, true}, {"0", 1, 5000, false}, {"100", 5000, 5000, true},
	} {
		if got := c.percent.Covers(c.part, c.of); got != c.want {
			t.Errorf("%s %% of %d covers %d: %t, want %t", c.percent, c.of, c.part, got, c.want)
		}
	}
}

func TestPercent_Compare(t *testing.T) {
	all := []Percent{"", "0", "5.5", "8", "8.875", "10", "100"} // ascending
	for i, p := range all {
		for j, q := range all {
			if got, want := p.Compare(q), cmp.Compare(i, j); got != want {
				t.Errorf("%q compared with %q is %d, want %d", p, q, got, want)
			}
		}
	}
}

func TestQuote_refuses(t *testing.T) {
	for name, c := range map[string]struct {
		corrupt     func(*Input)
		field, code string
	}{
		"currency":             {func(in *Input) { in.Currency = "XYZ" }, "currency", codeUnknown},
		"mode":                 {func(in *Input) { in.PriceMode = "" }, "priceMode", codeUnknown},
		"scope":                {func(in *Input) { in.TaxScope = "ROW" }, "taxScope", codeUnknown},
		"rounding":             {func(in *Input) { in.TaxRounding = "half_up" }, "taxRounding", codeUnknown},
		"rounding of discount": {func(in *Input) { in.DiscountRounding = "X" }, "discountRounding", codeUnknown},
		"cash":                 {func(in *Input) { in.CashRounding = -1 }, "cashRounding", codeRange},
		"no lines":             {func(in *Input) { in.Lines = nil }, "lines", codeMissing},
		"too many lines": {
			func(in *Input) { in.Lines = slices.Repeat([]Line{{Qty: 1}}, MaxLines+1) }, "lines", codeTooMany,
		},
		"no quantity":    {func(in *Input) { in.Lines[0].Qty = 0 }, "lines[0].qty", codeRange},
		"negative price": {func(in *Input) { in.Lines[0].UnitPrice = -1 }, "lines[0].unitPrice", codeRange},
		"product":        {func(in *Input) { in.Lines[0].Qty = money.Max }, "lines[0]", codeRange},
		"sum of lines": {func(in *Input) {
			in.Lines = []Line{{Qty: 1, UnitPrice: money.Max}, {Qty: 1, UnitPrice: 1}}
		}, "lines[1]", codeRange},
		"rate":                  {func(in *Input) { in.Lines[0].Rate = "101" }, "lines[0].rate", codePercent},
		"five decimals":         {func(in *Input) { in.Lines[0].Rate = "8.12345" }, "lines[0].rate", codePercent},
		"rate and components":   {func(in *Input) { in.Lines[0].Components = []Component{{"8", 1}} }, "lines[0]", codeOneOf},
		"component's rate":      {components(Component{"x", 1}), "lines[0].components[0].rate", codePercent},
		"component's weight":    {components(Component{"8", -1}), "lines[0].components[0].weight", codeRange},
		"components of nothing": {components(Component{"8", 0}), "lines[0].components", codeAllZero},
		"empty discount":        {discounts(Discount{}), "discounts[0]", codeOneOf},
		"discount twice":        {discounts(Discount{"1", new(int64(1))}), "discounts[0]", codeOneOf},
		"discount's percent":    {discounts(Discount{Percent: "100.5"}), "discounts[0].percent", codePercent},
		"discount's amount":     {discounts(Discount{Amount: new(int64(-1))}), "discounts[0].amount", codeRange},
		"too many discounts":    {discounts(slices.Repeat([]Discount{{Percent: "1"}}, 21)...), "discounts", codeTooMany},
		"line's discount": {
			func(in *Input) { in.Lines[0].Discounts = []Discount{{}} }, "lines[0].discounts[0]", codeOneOf,
		},
		"service's base": {
			func(in *Input) { in.ServiceCharges = []ServiceCharge{{Percent: "1", Base: "X"}} }, "serviceCharges[0].base", codeUnknown,
		},
		"service above the largest amount": {
			func(in *Input) { in.ServiceCharges = []ServiceCharge{{Amount: new(money.Max)}} }, "serviceCharges", codeRange,
		},
		"tax above the largest amount": {func(in *Input) {
			in.PriceMode, in.Lines = Exclusive, []Line{{Qty: 1, UnitPrice: money.Max, Rate: "8"}}
		}, "total", codeRange},
	} {
		t.Run(name, func(t *testing.T) {
			in := taxed(Inclusive, 65_000, "8", HalfUp)
			c.corrupt(&in)
			r, err := Quote(in)
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != fault.Invalid || f.PublicCode() != "invalid" {
				t.Fatalf("Quote = %+v, %v, want Invalid", r, err)
			}
			if got := fieldsOf(t, f); !slices.Contains(got, [2]string{c.field, c.code}) {
				t.Errorf("refused %v, want %s %s", got, c.field, c.code)
			}
		})
	}
}

// All errors of an input are reported together.
func TestQuote_refuses_all(t *testing.T) {
	_, err := Quote(Input{Lines: []Line{{Rate: "x"}}})
	f, _ := errors.AsType[*fault.Error](err)
	want := [][2]string{
		{"currency", codeUnknown}, {"priceMode", codeUnknown}, {"taxScope", codeUnknown}, {"taxRounding", codeUnknown},
		{"lines[0].qty", codeRange}, {"lines[0].rate", codePercent},
	}
	testenv.Equal(t, want, fieldsOf(t, f))
}

func components(parts ...Component) func(*Input) {
	return func(in *Input) { in.Lines[0].Rate, in.Lines[0].Components = "", parts }
}

func discounts(list ...Discount) func(*Input) { return func(in *Input) { in.Discounts = list } }
