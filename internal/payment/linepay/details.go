package linepay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"comanda/internal/money"
	"comanda/internal/payment"
)

// paymentInfo is a payment in LINE Pay's responses. Numbers are json.Number, because a transaction id does not fit in a
// float (L5) and an amount must stay exact. A confirmation has only some of the fields: type, status, currency and
// refunds are then empty.
type paymentInfo struct {
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

// report returns PAID if the payment matches the attempt, and REVIEW otherwise, because money has moved. err is the
// error of decoding p. The transaction is compared with r.Ref: the attempt's transaction or, for an attempt whose
// start got no response, the transaction of p.
func (p paymentInfo) report(a payment.Attempt, err error, code, raw string) payment.Report {
	r := payment.Report{State: payment.Review, Ref: a.GatewayRef, Code: code, Raw: raw}
	if ref := p.Transaction.String(); r.Ref == "" && transactionID.MatchString(ref) {
		r.Ref = ref
	}
	amount, sumErr := p.amount()
	if err != nil || sumErr != nil {
		return r
	}
	r.Amount, r.Currency = amount, money.Currency(p.Currency)
	// Other states are authorizations without a capture, which Comanda never requests. A confirmation has no status.
	whole := p.Status == "" || p.Status == "CAPTURE"
	if whole && p.OrderID == a.ID && p.Transaction.String() == r.Ref && amount == a.Amount && r.Currency == a.Currency {
		r.State = payment.Paid
	}
	return r
}

// amount returns the sum that was paid by all means, including points and discounts. A bill that is partly paid with
// points has one entry for each means, and only their sum is the requested amount (L3).
func (p paymentInfo) amount() (int64, error) {
	parts := make([]json.Number, len(p.PayInfo))
	for i, by := range p.PayInfo {
		parts[i] = by.Amount
	}
	return sum(money.Currency(p.Currency), parts)
}

// details is LINE Pay's record of an attempt's payment ("Retrieve Payment Details").
type details struct {
	paymentInfo

	raw string
}

func (d details) report(a payment.Attempt, code string) payment.Report {
	return d.paymentInfo.report(a, nil, code, d.raw)
}

// details requests an attempt's payment. An unknown payment is a codeError with 1150.
func (m *Merchant) details(ctx context.Context, a payment.Attempt) (details, error) {
	c := request{name: "details", path: "/payments", timeout: lookupTimeout}
	if a.GatewayRef != "" {
		c.query = "transactionId=" + url.QueryEscape(a.GatewayRef)
	} else {
		c.query = "orderId=" + url.QueryEscape(a.ID)
	}
	got, err := m.call(ctx, c)
	d := details{raw: got.raw}
	if err != nil {
		return d, err
	}
	if got.Code != codeOK {
		return d, got.codeError(c)
	}
	var all []paymentInfo
	if err := got.decodeInfo(&all); err != nil {
		return d, fmt.Errorf("linepay: details: %w", err)
	}
	for _, p := range all {
		if p.matches(a) {
			d.paymentInfo = p
			return d, nil
		}
	}
	return d, &codeError{c.name, codeUnknown, "the payment is not in the list"}
}

// matches reports whether p is the attempt's payment. LINE Pay's list also contains the refunds of the payment.
func (p paymentInfo) matches(a payment.Attempt) bool {
	if a.GatewayRef != "" {
		return p.Transaction.String() == a.GatewayRef
	}
	return p.OrderID == a.ID && (p.Type == "" || p.Type == "PAYMENT")
}
