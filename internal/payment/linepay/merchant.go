package linepay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"comanda/internal/payment"
)

// Merchant is payment.Gateway by LINE Pay. It keeps nothing between calls and may be used by many at once.
type Merchant struct {
	conf   Config
	client *http.Client
	nonce  func() string
}

var _ payment.Gateway = (*Merchant)(nil)

// New makes a merchant. The client's transport is used, and nothing else of it that could act by itself: redirects are
// not followed and cookies not kept. The nonce is a different text in every call; Nonce is meant for it.
func New(c Config, client *http.Client, nonce func() string) (*Merchant, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	own := *client
	own.Jar = nil
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Merchant{c.complete(), &own, nonce}, nil
}

// checked are the states that the check knows by its codes. PAID is not among them, since the check names no amount.
var checked = map[string]payment.State{
	codeOK: payment.Redirected, codeApproved: payment.Approved, codeEnded: payment.Failed, codeFailed: payment.Failed,
}

// Check implements payment.Gateway. An attempt without a transaction is looked up by its own id.
func (m *Merchant) Check(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	if a.GatewayRef == "" {
		return m.unstarted(ctx, a)
	}
	c := call{name: "check", timeout: lookupTimeout}
	if err := c.at(a, "/payments/requests/%s/check"); err != nil {
		return payment.Report{}, err
	}
	got, err := m.ask(ctx, c)
	if err != nil {
		return payment.Report{}, payment.ErrGateway.Because(err)
	}
	if state, ok := checked[got.Code]; ok {
		return payment.Report{State: state, Ref: a.GatewayRef, Code: got.Code, Raw: got.raw}, nil
	}
	if got.Code != codePaid {
		return payment.Report{}, payment.ErrGateway.Because(got.fail(c))
	}
	d, err := m.details(ctx, a)
	if err != nil {
		return payment.Report{}, payment.ErrGateway.Because(err)
	}
	return d.report(a, codePaid), nil
}

// unstarted reports on an attempt whose start was never answered. Nobody was shown its page, so LINE Pay can know of a
// payment only if one was confirmed by another hand.
func (m *Merchant) unstarted(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	d, err := m.details(ctx, a)
	if refused, ok := errors.AsType[*codeError](err); ok && refused.code == codeUnknown {
		return payment.Report{State: payment.Redirected, Code: codeUnknown, Raw: d.raw}, nil
	}
	if err != nil {
		return payment.Report{}, payment.ErrGateway.Because(err)
	}
	return d.report(a, codePaid), nil
}

// at writes an attempt's transaction into the path.
func (c *call) at(a payment.Attempt, format string) error {
	if !transaction.MatchString(a.GatewayRef) {
		return payment.ErrGateway.Because(fmt.Errorf("linepay: %s: the attempt has no transaction", c.name))
	}
	c.path = fmt.Sprintf(format, a.GatewayRef)
	return nil
}

// order is the body of the call "confirm".
type order struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
}

// Confirm implements payment.Gateway. What is not certain is UNKNOWN (L2), also when ctx ends: a caller whose guest may
// leave gives a ctx that outlives them.
func (m *Merchant) Confirm(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	if !suitable(a) {
		return payment.Report{}, payment.ErrUnsuitable
	}
	c := call{name: "confirm", body: order{number(a.Currency, a.Amount), string(a.Currency)}, timeout: confirmTimeout}
	if err := c.at(a, "/payments/%s/confirm"); err != nil {
		return payment.Report{}, err
	}
	got, err := m.ask(ctx, c)
	r := payment.Report{State: payment.Unknown, Ref: a.GatewayRef, Code: got.Code, Raw: got.raw}
	if err != nil {
		r.Code = ""   // a code out of an answer that is not LINE Pay's says nothing
		return r, nil //nolint:nilerr // an unheard answer is a report: UNKNOWN
	}
	switch groupOf(got.Code) {
	case success:
		return confirmed(got, a), nil
	case guest:
		r.State = payment.Failed
		if got.Code == codeNotApproved {
			r.State = payment.Redirected
		}
	case merchant:
		return payment.Report{}, payment.ErrGateway.Because(got.fail(c))
	}
	return r, nil
}

// confirmed holds an answer against what was asked for (L3).
func confirmed(got answer, a payment.Attempt) payment.Report {
	var p paid
	err := got.into(&p)
	p.Currency = string(a.Currency) // the answer names none, and the request did
	return p.report(a, err, got.Code, got.raw)
}
