package linepay

import (
	"context"
	"encoding/json"

	"comanda/internal/payment"
)

// repayment is the body of the call "refund"; without an amount it is all.
type repayment struct {
	Amount json.Number `json:"refundAmount,omitempty"`
}

// Refund implements payment.Gateway: DONE and REFUSED come with LINE Pay's code or RefundedElsewhere, UNKNOWN with the
// latter. It is safe to repeat, because LINE Pay's list is read before anything is sent (L4). For that, refunds of one
// attempt are sent one after the other. After an error a repetition should wait until LINE Pay's own time is over, 20
// seconds, so that what was sent before has come to its list.
func (m *Merchant) Refund(ctx context.Context, r payment.Repayment) (payment.Outcome, error) {
	a := r.Attempt
	if !suitable(a) || r.Amount <= 0 || r.Whole && r.Amount != a.Amount {
		return payment.Outcome{}, payment.ErrUnsuitable
	}
	c := call{name: "refund", body: repayment{number(a.Currency, r.Amount)}, timeout: refundTimeout}
	if err := c.at(a, "/payments/%s/refund"); err != nil {
		return payment.Outcome{}, err
	}
	if r.Whole { // some means of paying give back all or nothing
		c.body = repayment{}
	}
	if out, err := m.look(ctx, r); out.State != "" || err != nil {
		return out, err
	}
	got, err := m.ask(ctx, c)
	if err != nil {
		return payment.Outcome{}, payment.ErrGateway.Because(err)
	}
	switch groupOf(got.Code) {
	case success:
		return payment.Outcome{State: payment.RefundDone, Ref: got.refund(), Code: got.Code}, nil
	case guest, refusal:
		return m.refused(ctx, r, got.Code)
	}
	return payment.Outcome{}, payment.ErrGateway.Because(got.fail(c))
}

// refund is what LINE Pay calls what it has just given back; empty when it does not say.
func (a answer) refund() string {
	var info struct {
		Refund json.Number `json:"refundTransactionId"`
	}
	if a.into(&info) != nil || !transaction.MatchString(info.Refund.String()) {
		return ""
	}
	return info.Refund.String()
}

// look finds in LINE Pay's list what is to become of a refund. An empty state says that it is to be sent.
func (m *Merchant) look(ctx context.Context, r payment.Repayment) (payment.Outcome, error) {
	list, out, err := m.list(ctx, r.Attempt)
	if err != nil || out.State != "" {
		return out, err
	}
	return match(list, r)
}

// refused looks again where the refusal may be about this very refund, sent before and heard of late.
func (m *Merchant) refused(ctx context.Context, r payment.Repayment, code string) (payment.Outcome, error) {
	if code == codeMore || code == codeAgain {
		r.Sent = true
		if out, err := m.look(ctx, r); err != nil || out.State != "" {
			return out, err
		}
	}
	return payment.Outcome{State: payment.RefundRefused, Code: code}, nil
}
