package price

import (
	_ "embed"
	"encoding/json"
	"slices"
	"testing"

	"comanda/internal/testenv"
)

// published.json has results that others have published, each with its source.
//
//go:embed testdata/published.json
var publishedText []byte

type published struct {
	TaxInclusive []struct {
		Gross       int64
		RatePercent Percent
		Rounding    Rounding
		Net, Tax    int64
		Source      string
	}
	TaxExclusive []struct {
		Net         int64
		RatePercent Percent
		Rounding    Rounding
		Tax, Total  int64
		Source      string
	}
	TaxScope []struct {
		Lines                      [][2]int64
		RatePercent                Percent
		Inclusive                  bool
		PerLine, PerBill, Total    int64
		PerLineTotal, PerBillTotal int64
		Source                     string
	}
	Allocate []struct {
		Total   int64
		Weights []int64
		Equal   int
		Parts   []int64
		Refused bool
	}
	OrderDiscount []struct {
		Lines   []int64
		Percent Percent
		Parts   []int64
		Source  string
	}
}

func readPublished(t *testing.T) (p published) {
	t.Helper()
	testenv.NoError(t, json.Unmarshal(publishedText, &p))
	return p
}

// taxed returns an input with one line.
func taxed(mode Mode, amount int64, rate Percent, rounding Rounding) Input {
	if rounding == "" {
		rounding = HalfUp
	}
	return Input{
		Currency: "USD", PriceMode: mode, TaxScope: PerBill, TaxRounding: rounding,
		Lines: []Line{{Qty: 1, UnitPrice: amount, Rate: rate}},
	}
}

func mustQuote(t testing.TB, in Input) Result {
	t.Helper()
	return testenv.Must(Quote(in))(t)
}

func TestQuote_published_inclusive(t *testing.T) {
	for _, v := range readPublished(t).TaxInclusive {
		r := mustQuote(t, taxed(Inclusive, v.Gross, v.RatePercent, v.Rounding))
		if tax := r.Taxes[0]; tax.Amount != v.Tax || v.Net != 0 && tax.Base != v.Net || r.Total != v.Gross {
			t.Errorf("%s: Quote = %+v, want tax %d of %d", v.Source, r, v.Tax, v.Gross)
		}
	}
}

func TestQuote_published_exclusive(t *testing.T) {
	for _, v := range readPublished(t).TaxExclusive {
		r := mustQuote(t, taxed(Exclusive, v.Net, v.RatePercent, v.Rounding))
		if tax := r.Taxes[0]; v.Tax != 0 && tax.Amount != v.Tax || v.Total != 0 && r.Total != v.Total || tax.Base != v.Net {
			t.Errorf("%s: Quote = %+v, want tax %d on %d, total %d", v.Source, r, v.Tax, v.Net, v.Total)
		}
	}
}

func TestQuote_published_scope(t *testing.T) {
	for _, v := range readPublished(t).TaxScope {
		in := taxed(Exclusive, 0, v.RatePercent, HalfUp)
		if v.Inclusive {
			in.PriceMode = Inclusive
		}
		in.Lines = nil
		for _, l := range v.Lines {
			in.Lines = append(in.Lines, Line{UnitPrice: l[0], Qty: l[1], Rate: v.RatePercent})
		}
		for scope, want := range map[TaxScope][2]int64{PerLine: {v.PerLine, v.PerLineTotal}, PerBill: {v.PerBill, v.PerBillTotal}} {
			in.TaxScope = scope
			r := mustQuote(t, in)
			total := max(want[1], v.Total)
			if want[0] != 0 && r.Taxes[0].Amount != want[0] || r.Total != total {
				t.Errorf("%s, scope %s: Quote = %+v, want tax %d and total %d", v.Source, scope, r, want[0], total)
			}
		}
	}
}

func TestQuote_published_discount(t *testing.T) {
	for _, v := range readPublished(t).OrderDiscount {
		in := taxed(Inclusive, 0, "8", HalfUp)
		in.Lines, in.Discounts = nil, []Discount{{Percent: v.Percent}}
		for _, l := range v.Lines {
			in.Lines = append(in.Lines, Line{Qty: 1, UnitPrice: l, Rate: "8"})
		}
		var parts []int64
		for _, l := range mustQuote(t, in).Lines {
			parts = append(parts, l.Discount)
		}
		if !slices.Equal(parts, v.Parts) {
			t.Errorf("%s: %v, want %v", v.Source, parts, v.Parts)
		}
	}
}

// The published refusals have no total: moneyphp refuses such weights for every total.
func TestAllocate_published(t *testing.T) {
	for _, v := range readPublished(t).Allocate {
		if v.Refused {
			if parts, err := Allocate(1, v.Weights); err == nil {
				t.Errorf("%v is split into %v", v.Weights, parts)
			}
			continue
		}
		weights := append(v.Weights, slices.Repeat([]int64{1}, v.Equal)...)
		if parts, err := Allocate(v.Total, weights); err != nil || !slices.Equal(parts, v.Parts) {
			t.Errorf("%d by %v: %v, %v, want %v", v.Total, weights, parts, err, v.Parts)
		}
	}
}
