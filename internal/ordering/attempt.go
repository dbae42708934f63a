package ordering

import (
	"slices"
	"time"

	"comanda/internal/payment"
)

// try adds a payment attempt to an unpaid order and extends the order's deadline to the method's window.
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

// wait moves the order's deadlines to window after its placement, if that is later, and reports whether they moved.
// An order past its deadline keeps it, because the sweeper is about to expire it.
func (o *Order) wait(window time.Duration, now time.Time) bool {
	more := o.CreatedAt.Add(window).Sub(o.PayBy)
	if more <= 0 || !now.Before(o.ExpiresAt) {
		return false
	}
	o.PayBy, o.ExpiresAt = o.PayBy.Add(more), o.ExpiresAt.Add(more)
	return true
}

// tried stores the method and the reference of the newest attempt.
func (o *Order) tried(a payment.Attempt) {
	o.Method = a.Method
	if a.Method.Remote() {
		o.PaymentRef = a.ID
	}
}

// redirect stores the payment page of an attempt. The first page stays, because the guest may already have opened it.
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

// confirm moves an attempt to CONFIRMING, so that exactly one caller captures its payment. It leaves the attempt
// unchanged if the order has ended or another attempt may be capturing: then no money moves and none must be
// refunded.
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

// reopen makes an order payable by another method once no attempt can still capture money.
func (b *Batch) reopen(o *Order) {
	if o.PaymentStatus == Confirming && !b.busy(o, "") {
		o.PaymentStatus = Unpaid
	}
	b.show(o)
}

// busy reports whether any attempt other than except may be capturing money now.
func (b *Batch) busy(o *Order, except string) bool {
	return slices.ContainsFunc(b.Attempts[o.ID], func(a payment.Attempt) bool {
		return a.ID != except && (a.State == payment.Confirming || a.State == payment.Unknown)
	})
}

// show marks an order as changed and raises its version, so that its viewers receive the new state of its attempts.
func (b *Batch) show(o *Order) {
	o.touch(b.Now)
	b.change(o)
}

// attempt returns an order and the index of one of its attempts, or -1 if there is none.
func (b *Batch) attempt(order, id string) (*Order, int) {
	o := b.Orders[order]
	if o == nil {
		return nil, -1
	}
	return o, slices.IndexFunc(b.Attempts[order], func(a payment.Attempt) bool { return a.ID == id })
}
