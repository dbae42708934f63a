package linepay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"comanda/internal/payment"
)

// RefundedElsewhere is the code of a refund that was refused here and not by LINE Pay: its list shows money given back
// that we have not sent, in its portal for example. Sending more would be a guess.
const RefundedElsewhere = "REFUNDED_ELSEWHERE"

// repayment is the body of the call "refund"; without an amount it is all.
type repayment struct {
	Amount json.Number `json:"refundAmount,omitempty"`
}

// Refund implements payment.Gateway: DONE and REFUSED come with LINE Pay's code. It is safe to repeat, because LINE
// Pay's list is read before anything is sent (L4). For that, refunds of one attempt are sent one after the other, and
// Earlier counts what this gateway gave back and nothing that was given by hand. After an error a repetition should wait
// until LINE Pay's own time is over, 20 seconds, so that what was sent before has come to its list.
func (m *Merchant) Refund(ctx context.Context, r payment.Repayment) (payment.RefundState, string, error) {
	a := r.Attempt
	if !suitable(a) || r.Amount <= 0 || r.Earlier < 0 || r.Whole && (r.Amount != a.Amount || r.Earlier != 0) {
		return "", "", payment.ErrUnsuitable
	}
	c := call{name: "refund", body: repayment{number(a.Currency, r.Amount)}, timeout: refundTimeout}
	if err := c.at(a, "/payments/%s/refund"); err != nil {
		return "", "", err
	}
	if r.Whole { // some means of paying give back all or nothing
		c.body = repayment{}
	}
	if state, code, err := m.look(ctx, r); state != "" || err != nil {
		return state, code, err
	}
	got, err := m.ask(ctx, c)
	if err != nil {
		return "", "", payment.ErrGateway.Because(err)
	}
	switch groupOf(got.Code) {
	case success:
		return payment.RefundDone, got.Code, nil
	case guest, refusal:
		return m.refused(ctx, r, got.Code)
	}
	return "", "", payment.ErrGateway.Because(got.fail(c))
}

// look compares LINE Pay's list of refunds with ours. An empty state says that this refund is the next one to send.
func (m *Merchant) look(ctx context.Context, r payment.Repayment) (payment.RefundState, string, error) {
	d, err := m.details(ctx, r.Attempt)
	if refused, ok := errors.AsType[*codeError](err); ok && groupOf(refused.code) == refusal {
		return payment.RefundRefused, refused.code, nil
	}
	if err != nil {
		return "", "", payment.ErrGateway.Because(err)
	}
	back, err := d.refunded(r.Attempt)
	switch {
	case err != nil:
		return "", "", payment.ErrGateway.Because(err)
	case back == r.Earlier:
		return "", "", nil
	case back == r.Earlier+r.Amount:
		return payment.RefundDone, codeOK, nil
	case back < r.Earlier: // its list is behind
		return "", "", payment.ErrGateway.Because(fmt.Errorf("linepay: %d were given back, its list says %d", r.Earlier, back))
	}
	return payment.RefundRefused, RefundedElsewhere, nil
}

// refused looks again where the refusal may be about this very refund, sent before and heard of late.
func (m *Merchant) refused(ctx context.Context, r payment.Repayment, code string) (payment.RefundState, string, error) {
	if code == codeMore || code == codeAgain {
		if state, _, err := m.look(ctx, r); err != nil || state == payment.RefundDone {
			return state, codeOK, err
		}
	}
	return payment.RefundRefused, code, nil
}

// refunded adds what was given back. LINE Pay writes these amounts with a minus, and some of its versions without.
func (p paid) refunded(a payment.Attempt) (int64, error) {
	parts := make([]json.Number, len(p.Refunds))
	for i, back := range p.Refunds {
		parts[i] = back.Amount
	}
	total, err := sum(a.Currency, parts)
	return max(total, -total), err
}
