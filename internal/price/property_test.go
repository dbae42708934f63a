package price

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/testenv"
)

// fieldsOf returns field and code of each entry of a fault's member errors, as a client reads them.
func fieldsOf(t testing.TB, f *fault.Error) (fields [][2]string) {
	t.Helper()
	text, err := json.Marshal(f.Extra["errors"])
	var entries []struct{ Field, Code, Message string }
	if err == nil {
		err = json.Unmarshal(text, &entries)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Message == "" {
			t.Errorf("%s has no message", e.Field)
		}
		fields = append(fields, [2]string{e.Field, e.Code})
	}
	return fields
}

// drawPercent draws from few rates, so that equal lines and equal remainders are frequent.
func drawPercent(t *rapid.T) Percent {
	return rapid.SampledFrom([]Percent{"0", "5", "7", "8", "8.875", "10", "12", "19", "20", "33.3333", "100"}).Draw(t, "percent")
}

func drawPrice(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, 100_000), rapid.Int64Range(0, 1<<36)).Draw(t, "price")
}

func drawDiscounts(t *rapid.T) []Discount {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Discount {
		if rapid.Bool().Draw(t, "is percent") {
			return Discount{Percent: drawPercent(t)}
		}
		return Discount{Amount: new(drawPrice(t))}
	}), 0, 2).Draw(t, "discounts")
}

func drawLine(t *rapid.T) Line {
	l := Line{Qty: rapid.Int64Range(1, 20).Draw(t, "qty"), UnitPrice: drawPrice(t), Discounts: drawDiscounts(t)}
	switch rapid.IntRange(0, 4).Draw(t, "taxation") {
	case 0:
	case 1:
		l.Components = []Component{{drawPercent(t), rapid.Int64Range(1, 100).Draw(t, "weight")}, {drawPercent(t), 30}}
	default:
		l.Rate = drawPercent(t)
	}
	return l
}

func drawInput(t *rapid.T) Input {
	in := Input{
		Currency: "VND", PriceMode: rapid.SampledFrom([]Mode{Inclusive, Exclusive}).Draw(t, "mode"),
		TaxScope:    rapid.SampledFrom([]TaxScope{PerBill, PerLine}).Draw(t, "scope"),
		TaxRounding: rapid.SampledFrom(roundings).Draw(t, "rounding"), DiscountRounding: rapid.SampledFrom(roundings).Draw(t, "of discounts"),
		Lines: rapid.SliceOfN(rapid.Custom(drawLine), 1, 6).Draw(t, "lines"), Discounts: drawDiscounts(t),
		CashRounding: rapid.SampledFrom([]int64{0, 1, 5, 7, 1000}).Draw(t, "cash"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "charges") {
		s := ServiceCharge{
			Base: rapid.SampledFrom([]Base{"", AfterDiscounts, BeforeDiscounts}).Draw(t, "base"), Taxed: rapid.Bool().Draw(t, "taxed"),
		}
		if rapid.Bool().Draw(t, "is percent") {
			s.Percent = drawPercent(t)
		} else {
			s.Amount = new(drawPrice(t))
		}
		in.ServiceCharges = append(in.ServiceCharges, s)
	}
	return in
}

// P1, P3, and the parts add up to the total.
func TestQuote_adds_up(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		r := testenv.Must(Quote(in))(t)
		var of Sum
		for i, l := range r.Lines {
			of.Gross, of.Discount, of.Service, of.Tax = of.Gross+l.Gross, of.Discount+l.Discount, of.Service+l.Service, of.Tax+l.Tax
			if l.Gross != in.Lines[i].Qty*in.Lines[i].UnitPrice || l.Discount > l.Gross || min(l.Gross, l.Discount, l.Service, l.Tax) < 0 {
				t.Errorf("line %d: %+v", i, l)
			}
		}
		taxes := int64(0)
		for _, tax := range r.Taxes {
			taxes += tax.Amount
			if tax.Base < 0 || tax.Amount < 0 {
				t.Errorf("tax %+v", tax)
			}
		}
		total := r.Goods - r.Discount + r.Service + r.Rounding
		if in.PriceMode == Exclusive {
			total += taxes
		}
		if want := (Sum{r.Goods, r.Discount, r.Service, taxes}); of != want || total != r.Total || r.Total < 0 {
			t.Errorf("lines %+v of %+v", of, r)
		}
		if c := in.CashRounding; c > 0 && (r.Total%c != 0 || 2*r.Rounding > c || 2*r.Rounding < -c) {
			t.Errorf("rounded by %d to %d, the unit is %d", r.Rounding, r.Total, c)
		}
	})
}

// P2: the order of lines changes nothing. Equal lines may swap a remainder of one unit, so lines are compared as a set.
func TestQuote_permutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if rapid.Bool().Draw(t, "repeat a line") {
			in.Lines = append(in.Lines, in.Lines[0])
		}
		seed := rapid.Uint64().Draw(t, "seed")
		other := in
		other.Lines = slices.Clone(in.Lines)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(other.Lines), func(i, j int) {
			other.Lines[i], other.Lines[j] = other.Lines[j], other.Lines[i]
		})
		a, err := Quote(in)
		b, otherErr := Quote(other)
		if err != nil || otherErr != nil {
			t.Fatal(err, otherErr)
		}
		for _, r := range []Result{a, b} {
			slices.SortFunc(r.Lines, func(x, y Sum) int {
				return slices.Compare([]int64{x.Gross, x.Discount, x.Service, x.Tax}, []int64{y.Gross, y.Discount, y.Service, y.Tax})
			})
		}
		testenv.Equal(t, a, b)
	})
}

// A discount of 0 % changes nothing. P4: one of 100 % leaves only service charges on the undiscounted amount.
func TestQuote_discounts_of_all_and_nothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		plain := testenv.Must(Quote(in))(t)
		in.Discounts = append(slices.Clone(in.Discounts), Discount{Percent: "0"})
		if same, err := Quote(in); err != nil || cmp.Diff(plain, same) != "" {
			t.Errorf("Quote with a discount of 0 %%: error %v, (-without +with):\n%s", err, cmp.Diff(plain, same))
		}
		in.Discounts = append(in.Discounts, Discount{Percent: "100"})
		in.ServiceCharges = []ServiceCharge{{Percent: drawPercent(t), Taxed: true}}
		r, err := Quote(in)
		if err != nil || r.Total != 0 || r.Discount != r.Goods {
			t.Errorf("Quote with a discount of 100 %% = %+v, %v, want total 0", r, err)
		}
		for _, tax := range r.Taxes {
			if tax.Amount != 0 {
				t.Errorf("%+v of nothing", tax)
			}
		}
	})
}

// The net amount of an inclusive price, taxed again, equals the price within one unit.
func TestQuote_inclusive_and_back(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rounding, rate := rapid.SampledFrom(roundings[:3]).Draw(t, "rounding"), drawPercent(t)
		inclusive := testenv.Must(Quote(taxed(Inclusive, drawPrice(t), rate, rounding)))(t)
		exclusive, err := Quote(taxed(Exclusive, inclusive.Taxes[0].Base, rate, rounding))
		if d := exclusive.Total - inclusive.Total; err != nil || d < -1 || d > 1 {
			t.Errorf("%+v and %+v, %v", inclusive, exclusive, err)
		}
	})
}

func TestAllocate_properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, money.Max).Draw(t, "total")
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, money.Max/10)), 1, 10).Draw(t, "weights")
		parts, err := Allocate(total, weights)
		if sumOf(weights) == 0 && total > 0 {
			if err == nil {
				t.Errorf("%d by %v is %v", total, weights, parts)
			}
			return
		}
		if err != nil || sumOf(parts) != total {
			t.Fatalf("Allocate = %v, %v, want parts that add up to %d", parts, err, total)
		}
		for i, w := range weights {
			down := Down.share(total, w, max(1, sumOf(weights)))
			if parts[i] < down || parts[i] > down+1 || w == 0 && parts[i] != 0 {
				t.Errorf("part %d of %d by %v is %d", i, total, weights, parts[i])
			}
		}
	})
}

func TestAllocate_refuses(t *testing.T) {
	for name, c := range map[string]struct {
		total   int64
		weights []int64
		field   string
	}{
		"negative total": {-1, []int64{1}, "total"}, "large total": {money.Max + 1, []int64{1}, "total"},
		"negative weight": {1, []int64{1, -1}, "weights[1]"}, "sum of weights": {1, []int64{money.Max, 1}, "weights[1]"},
		"no weights": {1, nil, "weights"}, "zeros": {1, []int64{0, 0}, "weights"},
		"many": {1, slices.Repeat([]int64{1}, MaxParts+1), "weights"},
	} {
		parts, err := Allocate(c.total, c.weights)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || fieldsOf(t, f)[0][0] != c.field {
			t.Errorf("Allocate with %s = %v, %v, want a fault about %s", name, parts, err, c.field)
		}
	}
	for _, weights := range [][]int64{nil, {0, 0}, {1}} {
		if parts, err := Allocate(0, weights); err != nil || len(parts) != len(weights) || sumOf(parts) != 0 {
			t.Errorf("nothing by %v: %v, %v", weights, parts, err)
		}
	}
}
