package report

import (
	"cmp"
	"encoding/json"
	"slices"

	"comanda/internal/price"
)

// Quoted is a paid order with its stored quote; the quote is empty if the total is the sum of the lines.
type Quoted struct {
	Date  string
	Total int64
	Quote string
}

// TaxDay is the turnover of one business date at one rate. Rate is empty for what no rate applies to.
type TaxDay struct {
	Date   string
	Rate   price.Percent
	Base   int64 // without the tax
	Amount int64 // the tax
	Orders int64 // orders with an amount at the rate
}

// TaxSums are the parts of the turnover of a span.
type TaxSums struct {
	Orders   int64
	Goods    int64
	Discount int64
	Service  int64
	Rounding int64
	Taxes    int64
	Total    int64
}

// TaxBook sums up the taxes of paid orders by business date and rate. Every amount is that of the stored quotes (R6): the
// sums are those of the receipts. Fully refunded orders are left out; a partial refund does not name the lines that it
// pays back, so it changes no tax here.
type TaxBook struct {
	Sums TaxSums

	days map[taxKey]*TaxDay
}

type taxKey struct {
	date string
	rate price.Percent
}

// NewTaxBook returns an empty book.
func NewTaxBook() *TaxBook { return &TaxBook{days: map[taxKey]*TaxDay{}} }

// Add adds an order.
func (b *TaxBook) Add(o Quoted) error {
	b.Sums.Orders++
	b.Sums.Total += o.Total
	if o.Quote == "" {
		b.Sums.Goods += o.Total
		b.add(o.Date, "", o.Total, 0)
		return nil
	}
	var r price.QuoteRecord
	if err := json.Unmarshal([]byte(o.Quote), &r); err != nil {
		return err
	}
	q := r.Result
	b.Sums.Goods += q.Goods
	b.Sums.Discount += q.Discount
	b.Sums.Service += q.Service
	b.Sums.Rounding += q.Rounding
	b.Sums.Taxes += q.TaxAmount()
	rest := q.Total - q.Rounding - q.TaxAmount()
	for _, t := range q.Taxes {
		b.add(o.Date, t.Rate, t.Base, t.Amount)
		rest -= t.Base
	}
	if rest != 0 { // untaxed lines and service charges
		b.add(o.Date, "", rest, 0)
	}
	return nil
}

func (b *TaxBook) add(date string, rate price.Percent, base, amount int64) {
	day := b.days[taxKey{date, rate}]
	if day == nil {
		day = &TaxDay{Date: date, Rate: rate}
		b.days[taxKey{date, rate}] = day
	}
	day.Base += base
	day.Amount += amount
	day.Orders++
}

// Days returns the turnover by date and rate, the highest rate first and what is not taxed last.
func (b *TaxBook) Days() []TaxDay {
	days := make([]TaxDay, 0, len(b.days))
	for _, d := range b.days {
		days = append(days, *d)
	}
	slices.SortFunc(days, func(x, y TaxDay) int {
		return cmp.Or(cmp.Compare(x.Date, y.Date), y.Rate.Compare(x.Rate))
	})
	return days
}
