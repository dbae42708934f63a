package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/price"
	"comanda/internal/testenv"
)

func quoteText(t *testing.T, in price.Input) (total int64, text string) {
	t.Helper()
	r := testenv.Must(price.NewQuoteRecord(in))(t)
	return r.Result.Total, string(testenv.Must(json.Marshal(r))(t))
}

func TestTaxBook(t *testing.T) {
	in := price.Input{
		Currency: "VND", PriceMode: price.Inclusive, TaxScope: price.PerBill, TaxRounding: price.HalfUp,
		Lines:          []price.Line{{Qty: 2, UnitPrice: 65_000, Rate: "8"}, {Qty: 3, UnitPrice: 25_000, Rate: "10"}, {Qty: 1, UnitPrice: 5_000}},
		ServiceCharges: []price.ServiceCharge{{Amount: new(int64(10_000))}},
	}
	book := NewTaxBook()
	add := func(date string, in price.Input) {
		total, text := quoteText(t, in)
		testenv.NoError(t, book.Add(Quoted{date, total, text}))
	}
	add("2026-02-26", in)
	in.Discounts = []price.Discount{{Percent: "10"}}
	add("2026-02-26", in)
	in.PriceMode = price.Exclusive
	add("2026-02-27", in)
	testenv.NoError(t, book.Add(Quoted{"2026-02-27", 1000, ""}))

	want := []TaxDay{
		{"2026-02-26", "10", 129_545, 12_955 - 1, 2}, {"2026-02-26", "8", 228_704, 18_296, 2}, {"2026-02-26", "", 29_500, 0, 2},
		{"2026-02-27", "10", 67_500, 6_750, 1}, {"2026-02-27", "8", 117_000, 9_360, 1}, {"2026-02-27", "", 15_500, 0, 2},
	}
	want[0].Base, want[0].Amount = 68_182+61_364, 6_818+6_136
	want[1].Base, want[1].Amount = 120_370+108_333, 9_630+8_667
	if d := cmp.Diff(want, book.Days()); d != "" {
		t.Errorf("the days differ (-want +got):\n%s", d)
	}
	sum := int64(0)
	for _, d := range book.Days() {
		sum += d.Base + d.Amount
	}
	s := book.Sums
	if sum != s.Total || s.Orders != 4 || s.Service != 30_000 || s.Discount != 42_000 {
		t.Errorf("the days add up to %d and the sums are %+v, want the same total, 4 orders, 30000 service and 42000 discount", sum, s)
	}
	if err := book.Add(Quoted{"2026-02-27", 1, "{"}); err == nil {
		t.Error("an unreadable quote is accepted")
	}
}
