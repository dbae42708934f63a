package reporthttp

import (
	"context"

	"comanda/internal/price"
	"comanda/internal/report"
	"comanda/internal/seq"
)

type taxDay struct {
	Date   string        `json:"date"`
	Rate   price.Percent `json:"rate" doc:"In percent; empty for amounts without a rate."`
	Orders int64         `json:"orders" doc:"Orders with an amount at this rate."`
	Base   int64         `json:"base" doc:"Without the tax."`
	Amount int64         `json:"amount" doc:"The tax."`
}

type taxSums struct {
	Orders   int64 `json:"orders"`
	Goods    int64 `json:"goods" doc:"Prices times quantities."`
	Discount int64 `json:"discount"`
	Service  int64 `json:"service"`
	Rounding int64 `json:"rounding"`
	Taxes    int64 `json:"taxes"`
	Total    int64 `json:"total"`
}

type taxesView struct {
	Head
	Days   []taxDay `json:"days" doc:"By business date, the highest rate first."`
	Totals taxSums  `json:"totals" doc:"Of paid orders, without fully refunded ones."`
}

func (r routes) taxes(ctx context.Context, _ *Span, s report.Span) (taxesView, error) {
	book, err := r.service.Taxes(ctx, s)
	if err != nil {
		return taxesView{}, err
	}
	return taxesView{
		Head:   headOf(s),
		Days:   seq.Map(book.Days(), func(d report.TaxDay) taxDay { return taxDay{d.Date, d.Rate, d.Orders, d.Base, d.Amount} }),
		Totals: taxSums(book.Sums),
	}, nil
}

func (v taxesView) sheet() *sheet {
	s := &sheet{columns: []string{"date", "rate", "orders", "base", "tax", "currency"}}
	for _, d := range v.Days {
		s.add(d.Date, string(d.Rate), d.Orders, d.Base, d.Amount, v.Currency)
	}
	return s
}
