package reporthttp

import (
	"context"

	"comanda/internal/price"
	"comanda/internal/report"
	"comanda/internal/seq"
)

type attempts struct {
	Method string `json:"method"`
	State  string `json:"state" doc:"PAID means captured."`
	Number int64  `json:"number"`
	Amount int64  `json:"amount"`
}

type failures struct {
	Method string `json:"method"`
	Result string `json:"result" enum:"FAILED,CANCELED,REVIEW,AMOUNT_MISMATCH"`
	Code   string `json:"code" doc:"The gateway's own code; may be empty."`
	Number int64  `json:"number" doc:"Number of reports; a payment may be reported more than once."`
}

type moneySums struct {
	Captured int64 `json:"captured"`
	Refunded int64 `json:"refunded" doc:"Refunds of sales, decided by staff."`
	Returned int64 `json:"returned" doc:"Payments that do not pay an order: paid twice, or too late."`
	Done     int64 `json:"done" doc:"Part of refunded and returned that is already paid back."`
	Kept     int64 `json:"kept" doc:"The net sales of the same dates."`
}

// maxFailures is the number of newest reports about failed payments that are evaluated. Each is parsed in this process,
// so the number bounds the time and memory of a report after a long outage of a gateway.
const maxFailures = 20_000

type paymentsView struct {
	Head
	Attempts []attempts `json:"attempts"`
	Failures []failures `json:"failures" doc:"From the newest 20000 reports, most frequent first."`
	Refunds  []refunds  `json:"refunds" doc:"By method, reason and state, over all dates."`
	Totals   moneySums  `json:"totals"`
}

// payments reads three lists that are not one snapshot: a payment that arrives between two reads may be in one of them only.
func (r routes) payments(ctx context.Context, _ *Span, s report.Span) (v paymentsView, err error) {
	tries, err := r.service.Attempts(ctx, s)
	if err != nil {
		return v, err
	}
	failed, err := r.service.Failures(ctx, s, maxFailures)
	if err != nil {
		return v, err
	}
	refunded, err := r.service.Refunds(ctx, s)
	m := report.MoneyOf(tries, refunded)
	return paymentsView{
		Head:     headOf(s),
		Attempts: seq.Map(tries, func(a report.Attempts) attempts { return attempts(a) }),
		Failures: seq.Map(failed, func(f report.Failures) failures { return failures(f) }),
		Refunds:  seq.Map(report.Undated(refunded), func(f report.Refunds) refunds { return refunds(f) }),
		Totals:   moneySums{m.Captured, m.Refunded, m.Returned, m.Done, m.Kept()},
	}, err
}

// sheet concatenates the three lists; the first column distinguishes them.
func (v paymentsView) sheet() *sheet {
	s := &sheet{columns: []string{"what", "method", "state", "reason", "number", "amount", "currency"}}
	for _, a := range v.Attempts {
		s.add("payment", a.Method, a.State, "", a.Number, v.amount(a.Amount), v.Currency)
	}
	for _, f := range v.Failures {
		s.add("failure", f.Method, f.Result, f.Code, f.Number, "", "")
	}
	for _, f := range v.Refunds {
		s.add("refund", f.Method, f.State, f.Reason, f.Number, v.amount(f.Amount), v.Currency)
	}
	return s
}

type ended struct {
	Date            string `json:"date"`
	Reason          string `json:"reason" enum:"EXPIRED,USER_CANCELED,STAFF_CANCELED"`
	Orders          int64  `json:"orders"`
	Amount          int64  `json:"amount" doc:"Total of these orders."`
	Abandoned       int64  `json:"abandoned" doc:"Number of orders whose guest was redirected to a gateway's page and did not pay."`
	AbandonedAmount int64  `json:"abandonedAmount"`
}

type endedSums struct {
	Orders          int64 `json:"orders"`
	Amount          int64 `json:"amount"`
	Abandoned       int64 `json:"abandoned"`
	AbandonedAmount int64 `json:"abandonedAmount"`
}

type endedView struct {
	Head
	Rows   []ended   `json:"rows"`
	Totals endedSums `json:"totals"`
}

func (r routes) ended(ctx context.Context, _ *Span, s report.Span) (endedView, error) {
	all, err := r.service.Ended(ctx, s)
	v := endedView{Head: headOf(s), Rows: make([]ended, len(all))}
	for i, e := range all {
		v.Rows[i] = ended(e)
		v.Totals.Orders, v.Totals.Amount = v.Totals.Orders+e.Orders, v.Totals.Amount+e.Amount
		v.Totals.Abandoned, v.Totals.AbandonedAmount = v.Totals.Abandoned+e.Abandoned, v.Totals.AbandonedAmount+e.AbandonedAmount
	}
	return v, err
}

func (v endedView) sheet() *sheet {
	s := &sheet{columns: []string{"date", "reason", "orders", "amount", "abandoned", "abandoned_amount", "currency"}}
	for _, e := range v.Rows {
		s.add(e.Date, e.Reason, e.Orders, v.amount(e.Amount), e.Abandoned, v.amount(e.AbandonedAmount), v.Currency)
	}
	return s
}

type refunds struct {
	Date   string `json:"date,omitempty" doc:"Business date of the order."`
	Method string `json:"method"`
	Reason string `json:"reason" doc:"STAFF for a refund by staff; otherwise why the payment did not pay an order."`
	State  string `json:"state" enum:"DUE,SENDING,DONE,REFUSED,UNKNOWN"`
	Number int64  `json:"number"`
	Amount int64  `json:"amount"`
}

type refundSums struct {
	Number   int64 `json:"number"`
	Refunded int64 `json:"refunded" doc:"Refunds of sales, decided by staff."`
	Returned int64 `json:"returned" doc:"Payments that do not pay an order."`
	Done     int64 `json:"done" doc:"Part of both that is already paid back."`
	Owed     int64 `json:"owed" doc:"Still to be paid back."`
}

type refundsView struct {
	Head
	Rows   []refunds  `json:"rows"`
	Totals refundSums `json:"totals"`
}

func (r routes) refunds(ctx context.Context, _ *Span, s report.Span) (refundsView, error) {
	all, err := r.service.Refunds(ctx, s)
	m := report.MoneyOf(nil, all)
	v := refundsView{Head: headOf(s), Rows: make([]refunds, len(all))}
	// Owed is the money that neither staff nor gateway has paid back yet, in any state but DONE.
	v.Totals = refundSums{Refunded: m.Refunded, Returned: m.Returned, Done: m.Done, Owed: m.Refunded + m.Returned - m.Done}
	for i, f := range all {
		v.Rows[i] = refunds(f)
		v.Totals.Number += f.Number
	}
	return v, err
}

func (v refundsView) sheet() *sheet {
	s := &sheet{columns: []string{"date", "method", "reason", "state", "number", "amount", "currency"}}
	for _, f := range v.Rows {
		s.add(f.Date, f.Method, f.Reason, f.State, f.Number, v.amount(f.Amount), v.Currency)
	}
	return s
}

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
		s.add(d.Date, string(d.Rate), d.Orders, v.amount(d.Base), v.amount(d.Amount), v.Currency)
	}
	return s
}
