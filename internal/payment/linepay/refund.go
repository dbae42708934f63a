package linepay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	if !supportsAmount(a) || r.Amount <= 0 || r.Full && r.Amount != a.Amount {
		return payment.RefundOutcome{}, payment.ErrUnsuitable
	}
	c := request{name: "refund", body: refundBody{formatMinor(a.Currency, r.Amount)}, timeout: refundTimeout}
	if err := c.setPath(a, "/payments/%s/refund"); err != nil {
		return payment.RefundOutcome{}, err
	}
	if r.Full { // some means of payment only refund in full
		c.body = refundBody{}
	}
	// The list is read before every sending, even the first: since Prepare, a refund may have been made in the portal.
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
	// LINE Pay's decision is final. Codes of the other groups are errors, so the refund is retried: after a lost
	// response the list shows it, and after a correction of the contract it succeeds.
	case guest, refusal:
		return m.refused(ctx, r, got.Code)
	}
	return payment.RefundOutcome{}, payment.ErrGateway.Because(got.codeError(c))
}

// refundID returns LINE Pay's id of the refund just made, or an empty string. Without an id the refund is still DONE,
// because the code says so, and it must not be sent again.
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

// refused reads the list again, because LINE Pay may refuse this refund only because it was sent before and is listed
// late.
func (m *Merchant) refused(ctx context.Context, r payment.RefundRequest, code string) (payment.RefundOutcome, error) {
	if code == codeExceedsLeft || code == codeAlreadyRefunded {
		r.Sent = true
		if out, err := m.lookup(ctx, r); err != nil || out.State != "" {
			return out, err
		}
	}
	return payment.RefundOutcome{State: payment.RefundRefused, Code: code}, nil
}

// RefundedElsewhere is the code of a refund that was not sent, because LINE Pay's list has a refund that Comanda did
// not make, such as one made in LINE Pay's portal, or one that cannot be told apart from this refund.
const RefundedElsewhere = "REFUNDED_ELSEWHERE"

// listedRefund is a refund in LINE Pay's list. Two of them are equal only if both ids and amounts are equal; a portal
// reference is verified in this way.
type listedRefund struct {
	id     string
	amount int64
}

// Prepare implements payment.Gateway. It returns the ids in LINE Pay's list. If the list has refunds that Comanda
// did not make, it refuses the refund until staff have checked them and approve the refund again.
func (m *Merchant) Prepare(
	ctx context.Context, r payment.RefundRequest,
) (before []string, out payment.RefundOutcome, err error) {
	list, out, err := m.listRefunds(ctx, r.Attempt)
	if err != nil || out.State != "" {
		return nil, out, err
	}
	// After RefundedElsewhere the staff have checked the list and approved the refund again, so it is not refused
	// twice.
	if r.Code != RefundedElsewhere {
		if out, err = match(list, r); err != nil || out.State != "" {
			return nil, out, err
		}
	}
	for _, g := range list {
		before = append(before, g.id)
	}
	return before, out, nil
}

// listRefunds returns the refunds of an attempt. A payment that LINE Pay does not have cannot be refunded. Some API
// versions list refunds with a minus, others without.
func (m *Merchant) listRefunds(ctx context.Context, a payment.Attempt) ([]listedRefund, payment.RefundOutcome, error) {
	d, err := m.details(ctx, a)
	if refused, ok := errors.AsType[*codeError](err); ok && groupOf(refused.code) == refusal {
		return nil, payment.RefundOutcome{State: payment.RefundRefused, Code: refused.code}, nil
	}
	if err != nil {
		return nil, payment.RefundOutcome{}, payment.ErrGateway.Because(err)
	}
	list := make([]listedRefund, len(d.Refunds))
	for i, listed := range d.Refunds {
		id := listed.Transaction.String()
		amount, err := parseMinor(a.Currency, listed.Amount)
		if err != nil || !transactionID.MatchString(id) {
			return nil, payment.RefundOutcome{}, payment.ErrGateway.Because(
				fmt.Errorf("linepay: details: refund %.20q of %.20q is not in its form", id, listed.Amount.String()))
		}
		list[i] = listedRefund{id, max(amount, -amount)}
	}
	return list, payment.RefundOutcome{}, nil
}

// match compares LINE Pay's list with Comanda's refunds. Amounts do not identify refunds, so known ids are used: those
// of the other refunds, and those listed before this refund was first sent. A later entry with this refund's amount is
// this refund, unless it may be one that was made by hand. An empty state means that no entry is this refund and that
// every entry is known.
func match(list []listedRefund, r payment.RefundRequest) (payment.RefundOutcome, error) {
	ours, manual := knownRefunds(list, r.OtherRefunds)
	if name, ok := findMissing(list, ours, r.PriorRefunds); ok {
		return payment.RefundOutcome{}, payment.ErrGateway.Because(fmt.Errorf("linepay: refund %s is not in its list", name))
	}
	var since []listedRefund
	for _, g := range list {
		switch {
		case slices.Contains(ours, g.id):
		// The entry was listed before this refund was sent, so it is another one. It may be one that was made by hand
		// without a reference, which then counts as known.
		case slices.Contains(r.PriorRefunds, g.id):
			manual[g.amount] = max(0, manual[g.amount]-1)
		default:
			since = append(since, g)
		}
	}
	// A refund that was never sent cannot be in the list. A refund that may have been sent may be, and is then not
	// sent again.
	if r.Sent {
		return findSent(since, r.Amount, manual), nil
	}
	if hasUnknown(since, manual) {
		return payment.RefundOutcome{State: payment.RefundRefused, Code: RefundedElsewhere}, nil
	}
	return payment.RefundOutcome{}, nil
}

// knownRefunds returns the ids of Comanda's refunds, and the number of completed refunds without an id by amount. A
// portal reference counts as an id only if the list contains it, because people make mistakes when they copy it.
func knownRefunds(list []listedRefund, all []payment.Refund) (names []string, manual map[int64]int) {
	manual = map[int64]int{}
	for _, r := range all {
		switch {
		case r.GatewayRef != "":
			names = append(names, r.GatewayRef)
		case slices.Contains(list, listedRefund{r.PortalRef, r.Amount}):
			names = append(names, r.PortalRef)
		case r.State == payment.RefundDone:
			manual[r.Amount]++
		}
	}
	return names, manual
}

// findMissing returns an id that should be in the list but is not; the list is then out of date.
func findMissing(list []listedRefund, names ...[]string) (string, bool) {
	for _, name := range slices.Concat(names...) {
		if !slices.ContainsFunc(list, func(g listedRefund) bool { return g.id == name }) {
			return name, true
		}
	}
	return "", false
}

// findSent looks for a refund that may have been sent, among the entries since then.
func findSent(since []listedRefund, amount int64, manual map[int64]int) payment.RefundOutcome {
	var same, rest []listedRefund
	for _, g := range since {
		if g.amount == amount {
			same = append(same, g)
		} else {
			rest = append(rest, g)
		}
	}
	switch {
	case len(same) == 1 && manual[amount] == 0:
		return payment.RefundOutcome{State: payment.RefundDone, Ref: same[0].id, Code: codeOK}
	case len(same) > 0, hasUnknown(rest, manual):
		return payment.RefundOutcome{State: payment.RefundUnknown, Code: RefundedElsewhere}
	}
	return payment.RefundOutcome{}
}

// hasUnknown reports whether the list has an entry of unknown origin. It decrements the counts in manual.
func hasUnknown(list []listedRefund, manual map[int64]int) bool {
	for _, g := range list {
		if manual[g.amount] == 0 {
			return true
		}
		manual[g.amount]--
	}
	return false
}
