package ordering

import (
	"cmp"
	"slices"
	"time"

	"comanda/internal/payment"
)

// AddAttempt starts another payment attempt.
type AddAttempt struct {
	OrderID string
	Attempt payment.Attempt // the ledger sets amount and currency from the order
	Window  time.Duration   // payment window from placement; it never shortens the deadline
}

// Target implements Command.
func (t *AddAttempt) Target() string { return t.OrderID }

// decide adds a payment attempt to an unpaid order and extends the order's deadline to the method's window. An order in
// CONFIRMING takes no attempt: two captures could succeed.
func (t *AddAttempt) decide(b *Batch) Result {
	o := b.Orders[t.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.PaymentStatus != Unpaid:
		return Result{Order: *o, Err: o.PaymentStatus.refusal()}
	case exhausted(b.Attempts[o.ID]):
		return Result{Order: *o, Err: payment.ErrAttempts}
	}
	a := t.Attempt
	a.Amount, a.Currency, a.State, a.CreatedAt = o.Total, o.Currency, payment.Created, b.Now
	b.addAttempt(o, a)
	o.setAttempt(a)
	if o.extendWindow(t.Window, b.Now) {
		// The hold must not expire before its order (I10).
		b.Deadlines[o.HoldID] = o.ExpiresAt
	}
	o.touch(b.Now)
	b.changed(o)
	return Result{Order: *o, Attempt: a, Changed: true}
}

// extendWindow moves the order's deadlines to window after its placement, if that is later, and reports whether they
// moved. An order past its deadline keeps it, because the sweeper is about to expire it.
func (o *Order) extendWindow(window time.Duration, now time.Time) bool {
	more := o.CreatedAt.Add(window).Sub(o.PayBy)
	if more <= 0 || !now.Before(o.ExpiresAt) {
		return false
	}
	o.PayBy, o.ExpiresAt = o.PayBy.Add(more), o.ExpiresAt.Add(more)
	return true
}

// setAttempt stores the method and the reference of the newest attempt. PaymentRef is kept if the newest attempt has
// no gateway, because the guest may still pay the earlier attempt.
func (o *Order) setAttempt(a payment.Attempt) {
	o.Method = a.Method
	if a.Method.Remote() {
		o.PaymentRef = a.ID
	}
}

// attemptOf returns the index of the attempt that a report is about, and creates one if there is none. It returns -1
// if the order has too many attempts. The limit does not apply to the staff, who may take cash however often the
// guest has tried.
func (b *Batch) attemptOf(o *Order, s *Settle) int {
	all := b.Attempts[o.ID]
	// The newest attempt comes first: a method may have several attempts, and cash belongs to the last one.
	for i, a := range slices.Backward(all) {
		// An attempt of another amount is from before a discount, see repriced.
		newest := s.AttemptID == "" && a.Method == s.Method && a.Amount == o.Total
		if newest || s.AttemptID != "" && a.ID == s.AttemptID {
			return i
		}
	}
	if exhausted(all) && s.Source != SourceStaff {
		return -1
	}
	a := payment.Attempt{
		ID: s.NewID, OrderID: o.ID, Method: s.Method, Amount: o.Total, Currency: o.Currency, State: payment.Created,
		CreatedAt: b.Now,
	}
	b.addAttempt(o, a)
	return len(all)
}

// exhausted reports whether an order has as many attempts as the guest may start. Attempts that a discount has replaced do
// not count, because the guest started none of the replacements: each change of the total adds one.
func exhausted(all []payment.Attempt) bool {
	n := 0
	for _, a := range all {
		if a.State != payment.Canceled || a.Method.Remote() {
			n++
		}
	}
	return n >= payment.MaxAttempts
}

// FirstAttempt returns the attempt that an order is placed with. It has no row of its own until it changes or a second
// attempt is added, because most orders have only this attempt; until then it is derived from the order's row.
// listing_attempts derives it in the same way.
func (o *Order) FirstAttempt() payment.Attempt {
	return payment.Attempt{
		ID: cmp.Or(o.PaymentRef, o.ID), OrderID: o.ID, Method: o.Method, Amount: o.Total, Currency: o.Currency,
		State: payment.Created, CreatedAt: o.CreatedAt,
	}
}

// addAttempt adds an attempt to an order. The first attempt is stored now, because the order's row describes the
// newest one.
func (b *Batch) addAttempt(o *Order, a payment.Attempt) {
	if all := b.Attempts[o.ID]; len(all) == 1 {
		b.keepAttempt(all[0])
	}
	b.updateAttempt(a)
	b.Attempts[o.ID] = append(b.Attempts[o.ID], a)
}

// keepAttempt makes sure that an attempt has a row, see FirstAttempt. An attempt in any other state has a row already.
func (b *Batch) keepAttempt(a payment.Attempt) {
	if a.State == payment.Created {
		b.updateAttempt(a)
	}
}

// updateAttempt marks an attempt to be written with its new state. Each is written once, with its last state.
func (b *Batch) updateAttempt(a payment.Attempt) { b.ChangedAttempts[a.ID] = a }

// cancelCreated cancels the attempts of an order that have no payment page: nothing else would ever settle them. Those with
// a page stay as they are, because the gateway is still queried about them. A success of either kind is still applied or
// refunded.
func (b *Batch) cancelCreated(o *Order) {
	for i, a := range b.Attempts[o.ID] {
		if a.State == payment.Created {
			a.Settle(payment.Canceled, "", b.Now)
			b.Attempts[o.ID][i] = a
			b.updateAttempt(a)
		}
	}
}

// capturing reports whether any attempt other than except may be capturing money now.
func (b *Batch) capturing(o *Order, except string) bool {
	return slices.ContainsFunc(b.Attempts[o.ID], func(a payment.Attempt) bool {
		return a.ID != except && (a.State == payment.Confirming || a.State == payment.Unknown)
	})
}

// attempt returns an order and the index of one of its attempts, or -1 if there is none. Callers must not use the order
// if the index is -1: it may be nil.
func (b *Batch) attempt(order, id string) (*Order, int) {
	o := b.Orders[order]
	if o == nil {
		return nil, -1
	}
	return o, slices.IndexFunc(b.Attempts[order], func(a payment.Attempt) bool { return a.ID == id })
}
