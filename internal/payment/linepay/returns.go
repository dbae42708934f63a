package linepay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"comanda/internal/payment"
)

// RefundedElsewhere is the code of a refund that was not sent: LINE Pay's list shows money given back that nobody has
// told us of, in its portal for example, or that may be this refund and may be another. Sending more would be a guess.
const RefundedElsewhere = "REFUNDED_ELSEWHERE"

// given is a refund in LINE Pay's list.
type given struct {
	id     string
	amount int64
}

// Prepare implements payment.Gateway. It lists what stands in LINE Pay's list, and refuses a refund beside others of which
// nobody has told us, until somebody who has looked wants it sent all the same.
func (m *Merchant) Prepare(ctx context.Context, r payment.Repayment) (before []string, out payment.Outcome, err error) {
	list, out, err := m.list(ctx, r.Attempt)
	if err != nil || out.State != "" {
		return nil, out, err
	}
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

// list reads what was given back of an attempt. A payment of which LINE Pay tells nothing cannot be refunded. It writes
// these amounts with a minus, and some of its versions without.
func (m *Merchant) list(ctx context.Context, a payment.Attempt) ([]given, payment.Outcome, error) {
	d, err := m.details(ctx, a)
	if refused, ok := errors.AsType[*codeError](err); ok && groupOf(refused.code) == refusal {
		return nil, payment.Outcome{State: payment.RefundRefused, Code: refused.code}, nil
	}
	if err != nil {
		return nil, payment.Outcome{}, payment.ErrGateway.Because(err)
	}
	list := make([]given, len(d.Refunds))
	for i, back := range d.Refunds {
		id := back.Transaction.String()
		amount, err := minor(a.Currency, back.Amount)
		if err != nil || !transaction.MatchString(id) {
			return nil, payment.Outcome{}, payment.ErrGateway.Because(
				fmt.Errorf("linepay: details: refund %.20q of %.20q is not in its form", id, back.Amount.String()))
		}
		list[i] = given{id, max(amount, -amount)}
	}
	return list, payment.Outcome{}, nil
}

// match holds LINE Pay's list against our books. Amounts tell no two refunds apart, so names do, as far as we know them:
// those of our other refunds, and those that were listed before this one was sent. What is new since then and has this
// one's amount is this one, unless it may as well be one that was given back by hand. An empty state says that nothing in
// the list is this refund, and that somebody has told us of everything else in it.
func match(list []given, r payment.Repayment) (payment.Outcome, error) {
	ours, told := books(list, r.Others)
	if name, ok := missing(list, ours, r.Before); ok {
		return payment.Outcome{}, payment.ErrGateway.Because(fmt.Errorf("linepay: refund %s is not in its list", name))
	}
	var since []given
	for _, g := range list {
		switch {
		case slices.Contains(ours, g.id):
		case slices.Contains(r.Before, g.id):
			told[g.amount] = max(0, told[g.amount]-1)
		default:
			since = append(since, g)
		}
	}
	if r.Sent {
		return find(since, r.Amount, told), nil
	}
	if foreign(since, told) {
		return payment.Outcome{State: payment.RefundRefused, Code: RefundedElsewhere}, nil
	}
	return payment.Outcome{}, nil
}

// books are the names of refunds, and how many without a name were given back by their amounts. What somebody has read in
// the portal is a name if it stands in the list; people write such numbers down with mistakes.
func books(list []given, all []payment.Refund) (names []string, told map[int64]int) {
	told = map[int64]int{}
	for _, r := range all {
		switch {
		case r.GatewayRef != "":
			names = append(names, r.GatewayRef)
		case slices.Contains(list, given{r.PortalRef, r.Amount}):
			names = append(names, r.PortalRef)
		case r.State == payment.RefundDone:
			told[r.Amount]++
		}
	}
	return names, told
}

// missing gives a name that ought to be in a list and is not: then the list is behind.
func missing(list []given, names ...[]string) (string, bool) {
	for _, name := range slices.Concat(names...) {
		if !slices.ContainsFunc(list, func(g given) bool { return g.id == name }) {
			return name, true
		}
	}
	return "", false
}

// find looks for a refund that may have been sent among what is new since then.
func find(since []given, amount int64, told map[int64]int) payment.Outcome {
	var same, rest []given
	for _, g := range since {
		if g.amount == amount {
			same = append(same, g)
		} else {
			rest = append(rest, g)
		}
	}
	switch {
	case len(same) == 1 && told[amount] == 0:
		return payment.Outcome{State: payment.RefundDone, Ref: same[0].id, Code: codeOK}
	case len(same) > 0, foreign(rest, told):
		return payment.Outcome{State: payment.RefundUnknown, Code: RefundedElsewhere}
	}
	return payment.Outcome{}
}

// foreign tells whether there is something in a list of which nobody has told us. It uses up what was told.
func foreign(list []given, told map[int64]int) bool {
	for _, g := range list {
		if told[g.amount] == 0 {
			return true
		}
		told[g.amount]--
	}
	return false
}
