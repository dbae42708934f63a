package ordering

import (
	"slices"
	"time"

	"comanda/internal/payment"
)

// try starts another attempt on an order that is still to be paid.
func (b *Batch) try(t *TryToPay) Result {
	o := b.Orders[t.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.PaymentStatus != Unpaid:
		return Result{Order: *o, Err: o.PaymentStatus.refusal()}
	case len(b.Attempts[o.ID]) >= payment.MaxAttempts:
		return Result{Order: *o, Err: payment.ErrAttempts}
	}
	a := t.Attempt
	a.Amount, a.Currency, a.State, a.CreatedAt = o.Total, o.Currency, payment.Created, b.Now
	b.NewAttempts = append(b.NewAttempts, a)
	b.Attempts[o.ID] = append(b.Attempts[o.ID], a)
	o.tried(a)
	if o.wait(t.Window, b.Now) {
		b.Extended[o.HoldID] = o.ExpiresAt
	}
	o.touch(b.Now)
	b.change(o)
	return Result{Order: *o, Attempt: a, Changed: true}
}

// wait moves an order's deadlines to the end of a window from its placing, if that is later, and reports whether it did. An
// order that is due stays due: the sweeper is about to end it.
func (o *Order) wait(window time.Duration, now time.Time) bool {
	more := o.CreatedAt.Add(window).Sub(o.PayBy)
	if more <= 0 || !now.Before(o.ExpiresAt) {
		return false
	}
	o.PayBy, o.ExpiresAt = o.PayBy.Add(more), o.ExpiresAt.Add(more)
	return true
}

// tried notes how an order is to be paid now.
func (o *Order) tried(a payment.Attempt) {
	o.Method = a.Method
	if a.Method.Remote() {
		o.PaymentRef = a.ID
	}
}

// redirect notes the page of an attempt. The first page stays: the guest may be there already.
func (b *Batch) redirect(r *Redirect) Result {
	o, i := b.attempt(r.OrderID, r.AttemptID)
	if i < 0 {
		return Result{Err: payment.ErrAttempt}
	}
	a := b.Attempts[o.ID][i]
	if !a.Redirect(r.Page, b.Now) {
		return Result{Order: *o, Attempt: a}
	}
	b.Attempts[o.ID][i] = a
	b.keep(a)
	b.show(o)
	return Result{Order: *o, Attempt: a, Changed: true}
}

// confirm gives one of those who ask the right to have an attempt's money taken. An order that has ended gives it to
// nobody, and while another attempt's money may be on its way it gives it to nobody either: then no money moves, and none
// has to go back. Whoever asks later finds out whether it is still wanted.
func (b *Batch) confirm(c *Confirm) Result {
	o, i := b.attempt(c.OrderID, c.AttemptID)
	if i < 0 {
		return Result{Err: payment.ErrAttempt}
	}
	a := b.Attempts[o.ID][i]
	if !o.PaymentStatus.payable() || !b.Now.Before(o.ExpiresAt) || b.busy(o, a.ID) || !a.StartConfirm(c.Was, b.Now) {
		return Result{Order: *o, Attempt: a}
	}
	b.Attempts[o.ID][i] = a
	b.keep(a)
	if o.confirming(b.Now) {
		b.Extended[o.HoldID] = o.ExpiresAt
	}
	b.change(o)
	return Result{Order: *o, Attempt: a, Changed: true}
}

// reopen lets an order be paid otherwise once no gateway has its hands on it any more.
func (b *Batch) reopen(o *Order) {
	if o.PaymentStatus == Confirming && !b.busy(o, "") {
		o.PaymentStatus = Unpaid
	}
	b.show(o)
}

// busy tells whether a gateway may be taking the money of an attempt at this moment, of another one than except.
func (b *Batch) busy(o *Order, except string) bool {
	return slices.ContainsFunc(b.Attempts[o.ID], func(a payment.Attempt) bool {
		return a.ID != except && (a.State == payment.Confirming || a.State == payment.Unknown)
	})
}

// show has those who look at an order see what has become of its attempts.
func (b *Batch) show(o *Order) {
	o.touch(b.Now)
	b.change(o)
}

// attempt finds an attempt of an order; -1 when there is none.
func (b *Batch) attempt(order, id string) (*Order, int) {
	o := b.Orders[order]
	if o == nil {
		return nil, -1
	}
	return o, slices.IndexFunc(b.Attempts[order], func(a payment.Attempt) bool { return a.ID == id })
}
