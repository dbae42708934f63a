package linepay

import (
	"context"
	"encoding/json"

	"comanda/internal/payment"
)

// refundBody is the body of "Refund Payment"; without an amount it refunds all.
type refundBody struct {
	Amount json.Number `json:"refundAmount,omitempty"`
}

// Refund implements payment.Gateway. DONE and REFUSED have LINE Pay's code or RefundedElsewhere; UNKNOWN has the
// latter. It may be repeated, because it reads LINE Pay's list before it sends anything (L4). For that, refunds of one
// attempt are sent one after the other, and a retry should wait for LINE Pay's own timeout of 20 seconds, so that an
// earlier refund is in the list.
func (m *Merchant) Refund(ctx context.Context, r payment.RefundRequest) (payment.RefundOutcome, error) {
	a := r.Attempt
	if !suitable(a) || r.Amount <= 0 || r.Full && r.Amount != a.Amount {
		return payment.RefundOutcome{}, payment.ErrUnsuitable
	}
	c := request{name: "refund", body: refundBody{formatMinor(a.Currency, r.Amount)}, timeout: refundTimeout}
	if err := c.setPath(a, "/payments/%s/refund"); err != nil {
		return payment.RefundOutcome{}, err
	}
	if r.Full { // some means of payment only refund in full
		c.body = refundBody{}
	}
	// Before every sending, also the first: since Prepare a refund may have been made in the portal.
	if out, err := m.lookup(ctx, r); out.State != "" || err != nil {
		return out, err
	}
	got, err := m.call(ctx, c)
	if err != nil {
		return payment.RefundOutcome{}, payment.ErrGateway.Because(err)
	}
	switch groupOf(got.Code) {
	case success:
		return payment.RefundOutcome{State: payment.RefundDone, Ref: got.refundID(), Code: got.Code}, nil
	// LINE Pay decides for good. Codes of the other groups are errors, so that the refund is retried: after a lost
	// response the list shows it, and after a correction of the contract it succeeds.
	case guest, refusal:
		return m.refused(ctx, r, got.Code)
	}
	return payment.RefundOutcome{}, payment.ErrGateway.Because(got.codeError(c))
}

// refundID returns LINE Pay's id of the refund just made, or an empty string. Without an id the refund is DONE all the
// same: the code says so, and another one must not be sent.
func (a response) refundID() string {
	var info struct {
		Refund json.Number `json:"refundTransactionId"`
	}
	if a.decodeInfo(&info) != nil || !transactionID.MatchString(info.Refund.String()) {
		return ""
	}
	return info.Refund.String()
}

// lookup finds the outcome of a refund in LINE Pay's list. An empty state means that it must be sent.
func (m *Merchant) lookup(ctx context.Context, r payment.RefundRequest) (payment.RefundOutcome, error) {
	list, out, err := m.listRefunds(ctx, r.Attempt)
	if err != nil || out.State != "" {
		return out, err
	}
	return match(list, r)
}

// refused looks again if the refusal may be about this very refund, sent before and listed late.
func (m *Merchant) refused(ctx context.Context, r payment.RefundRequest, code string) (payment.RefundOutcome, error) {
	if code == codeExceedsLeft || code == codeAlreadyRefunded {
		r.Sent = true
		if out, err := m.lookup(ctx, r); err != nil || out.State != "" {
			return out, err
		}
	}
	return payment.RefundOutcome{State: payment.RefundRefused, Code: code}, nil
}
