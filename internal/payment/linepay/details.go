package linepay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"comanda/internal/money"
	"comanda/internal/payment"
)

// paid is a payment as LINE Pay tells it.
type paid struct {
	Transaction json.Number `json:"transactionId"`
	OrderID     string      `json:"orderId"`
	Currency    string      `json:"currency"`
	Type        string      `json:"transactionType"`
	Status      string      `json:"payStatus"`
	PayInfo     []struct {
		Amount json.Number `json:"amount"`
	} `json:"payInfo"`
	Refunds []struct {
		Transaction json.Number `json:"refundTransactionId"`
		Amount      json.Number `json:"refundAmount"`
	} `json:"refundList"`
}

// report is PAID when everything is as the attempt says, and REVIEW otherwise: money has moved.
func (p paid) report(a payment.Attempt, err error, code, raw string) payment.Report {
	r := payment.Report{State: payment.Review, Ref: a.GatewayRef, Code: code, Raw: raw}
	if ref := p.Transaction.String(); r.Ref == "" && transaction.MatchString(ref) {
		r.Ref = ref
	}
	amount, sumErr := p.amount()
	if err != nil || sumErr != nil {
		return r
	}
	r.Amount, r.Currency = amount, money.Currency(p.Currency)
	whole := p.Status == "" || p.Status == "CAPTURE"
	if whole && p.OrderID == a.ID && p.Transaction.String() == r.Ref && amount == a.Amount && r.Currency == a.Currency {
		r.State = payment.Paid
	}
	return r
}

// amount adds what was paid by each means, points and discounts among them.
func (p paid) amount() (int64, error) {
	parts := make([]json.Number, len(p.PayInfo))
	for i, by := range p.PayInfo {
		parts[i] = by.Amount
	}
	return sum(money.Currency(p.Currency), parts)
}

// details is what LINE Pay's books say of an attempt.
type details struct {
	paid

	raw string
}

func (d details) report(a payment.Attempt, code string) payment.Report {
	return d.paid.report(a, nil, code, d.raw)
}

// details asks for an attempt's payment. Where LINE Pay has no such payment the error is a codeError with 1150.
func (m *Merchant) details(ctx context.Context, a payment.Attempt) (details, error) {
	c := call{name: "details", path: "/payments", timeout: lookupTimeout}
	if a.GatewayRef != "" {
		c.query = "transactionId=" + url.QueryEscape(a.GatewayRef)
	} else {
		c.query = "orderId=" + url.QueryEscape(a.ID)
	}
	got, err := m.ask(ctx, c)
	d := details{raw: got.raw}
	if err != nil {
		return d, err
	}
	if got.Code != codeOK {
		return d, got.fail(c)
	}
	var all []paid
	if err := got.into(&all); err != nil {
		return d, fmt.Errorf("linepay: details: %w", err)
	}
	for _, p := range all {
		if p.is(a) {
			d.paid = p
			return d, nil
		}
	}
	return d, &codeError{c.name, codeUnknown, "the payment is not in the list"}
}

// is tells an attempt's payment from its refunds, which stand in the same list.
func (p paid) is(a payment.Attempt) bool {
	if a.GatewayRef != "" {
		return p.Transaction.String() == a.GatewayRef
	}
	return p.OrderID == a.ID && (p.Type == "" || p.Type == "PAYMENT")
}
