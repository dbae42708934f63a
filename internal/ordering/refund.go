package ordering

import (
	"slices"

	"comanda/internal/event"
	"comanda/internal/identity"
	"comanda/internal/payment"
)

// owe creates a refund for captured money that its order cannot use.
func (b *Batch) owe(o *Order, a payment.Attempt, reason payment.RefundReason) {
	if a.Amount == 0 {
		return // an order of free dishes only
	}
	b.show(o) // consumers take a second event of the same version for a repetition
	r := payment.Refund{
		ID: b.NewID(), OrderID: o.ID, AttemptID: a.ID, Method: a.Method, Amount: a.Amount, Currency: a.Currency,
		State: payment.RefundDue, Reason: reason, CreatedAt: b.Now,
	}
	b.newRefund(r)
	b.publish(event.OrderRefundDue.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.RefundDue{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, RefundID: r.ID, Amount: r.Amount,
		Currency: r.Currency, Reason: string(reason),
	}))
}

func (b *Batch) newRefund(r payment.Refund) {
	b.Refunds = append(b.Refunds, r)
	b.Owed[r.OrderID] = append(b.Owed[r.OrderID], r)
}

// refund refunds a paid order in full or in part, through the attempt it was paid with. It releases no units: the
// dishes have been cooked, or the staff cancel them separately.
func (b *Batch) refund(c *Refund) Result {
	o := b.Orders[c.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	if r, found, err := b.repeated(o.ID, c); found {
		return Result{Order: *o, Refund: r, Err: err}
	}
	a, ok := b.paidBy(o)
	left := o.Total - o.Refunded
	amount := c.Amount
	if amount == 0 {
		amount = left
	}
	if o.PaymentStatus != Paid || !ok || amount <= 0 || amount > left {
		return Result{Order: *o, Err: ErrNotRefundable.With("refundable", max(left, 0))}
	}
	r := payment.Refund{
		ID: c.NewID, OrderID: o.ID, AttemptID: a.ID, Method: a.Method, Amount: amount, Currency: a.Currency,
		State: payment.RefundDue, Reason: payment.RefundedByStaff, CreatedAt: b.Now, ClientTxnID: c.ClientTxnID,
	}
	switch {
	case !c.ByHand:
		r.Approve(c.By.String(), c.Note, b.Now)
	case a.Method.Remote():
		r.RecordManual(c.By.String(), c.Note, c.Reference, b.Now)
	default:
		return Result{Order: *o, Err: payment.ErrMethod}
	}
	b.newRefund(r)
	o.Refunded += amount
	if o.Refunded == o.Total {
		o.PaymentStatus = RefundDue
	}
	b.refunded(o, r)
	b.auditRefund(c.By, identity.ActionRefunded, o, r)
	return Result{Order: *o, Refund: r, Changed: true}
}

// repeated returns the prior refund under the same idempotency key or the same portal reference. Money is refunded
// once for each (I11).
func (b *Batch) repeated(order string, c *Refund) (r payment.Refund, found bool, err error) {
	all := b.Owed[order]
	if i := slices.IndexFunc(all, c.asked); i >= 0 {
		if (c.Amount != 0 && c.Amount != all[i].Amount) || c.Reference != all[i].PortalRef {
			err = ErrRefundKey
		}
		return all[i], true, err
	}
	if i := slices.IndexFunc(all, c.noted); i >= 0 {
		if c.Amount != 0 && c.Amount != all[i].Amount {
			err = ErrRefundNoted
		}
		return all[i], true, err
	}
	return r, false, nil
}

// asked reports whether r was made under the same idempotency key.
func (c Refund) asked(r payment.Refund) bool {
	return c.ClientTxnID != "" && r.ClientTxnID == c.ClientTxnID
}

// noted reports whether r has the same portal reference.
func (c Refund) noted(r payment.Refund) bool {
	return c.ByHand && (r.PortalRef == c.Reference || r.GatewayRef == c.Reference)
}

// paidBy returns the attempt that the order was paid with: the first captured one that is not refunded automatically.
func (b *Batch) paidBy(o *Order) (payment.Attempt, bool) {
	for _, a := range b.Attempts[o.ID] {
		owed := slices.ContainsFunc(b.Owed[o.ID], func(r payment.Refund) bool {
			return r.AttemptID == a.ID && r.Reason != payment.RefundedByStaff
		})
		if a.State == payment.Paid && !owed {
			return a, true
		}
	}
	return payment.Attempt{}, false
}

// finish records the result of a refund. The staff may send a refused refund again or record that they refunded it by
// hand.
func (b *Batch) finish(f *FinishRefund) Result {
	o := b.Orders[f.OrderID]
	i := slices.IndexFunc(b.Owed[f.OrderID], func(r payment.Refund) bool { return r.ID == f.RefundID })
	if o == nil || i < 0 {
		return Result{Err: payment.ErrRefund}
	}
	r := b.Owed[o.ID][i]
	byStaff := f.By.Kind != identity.Anonymous
	switch {
	case byStaff && f.State == payment.RefundDone && r.State == payment.RefundSending:
		return Result{Order: *o, Refund: r, Err: ErrRefundSending} // DONE would discard the gateway's result
	case f.State == payment.RefundSending && !r.Method.Remote():
		return Result{Order: *o, Refund: r, Err: payment.ErrMethod}
	case f.State == payment.RefundSending && r.State != payment.RefundDone && r.State != payment.RefundSending:
		r.Approve(f.By.String(), f.Note, b.Now)
	case f.State == payment.RefundSending || !r.SetResult(f.State, f.Ref, f.Code, b.Now):
		return Result{Order: *o, Refund: r}
	case byStaff:
		r.By, r.Note = f.By.String(), f.Note
	}
	b.Owed[o.ID][i] = r
	b.keepRefund(r)
	b.refunded(o, r)
	if byStaff {
		b.auditRefund(f.By, identity.ActionRefundDone, o, r)
	}
	return Result{Order: *o, Refund: r, Changed: true}
}

// keepRefund marks a refund's new state to be written. A refund created in this batch is inserted with that state.
func (b *Batch) keepRefund(r payment.Refund) {
	for i := range b.Refunds {
		if b.Refunds[i].ID == r.ID {
			b.Refunds[i] = r
			return
		}
	}
	b.Finished[r.ID] = r
}

// refunded marks the order as REFUNDED once all its refunds are done, and publishes each refund that is done.
func (b *Batch) refunded(o *Order, r payment.Refund) {
	open := slices.ContainsFunc(b.Owed[o.ID], func(r payment.Refund) bool { return r.State != payment.RefundDone })
	if o.PaymentStatus == RefundDue && !open {
		o.PaymentStatus = Refunded
	}
	o.touch(b.Now)
	b.change(o)
	if r.State == payment.RefundDone {
		b.publish(event.OrderRefunded.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.RefundDue{
			OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, RefundID: r.ID, Amount: r.Amount,
			Currency: r.Currency, Reason: string(r.Reason),
		}))
	}
}

func (b *Batch) auditRefund(by identity.Actor, action string, o *Order, r payment.Refund) {
	b.Audit = append(b.Audit, by.AuditEntry(b.Now, action, "order", o.ID, o.Scope.Branch).WithAfter(map[string]any{
		"refundId": r.ID, "amount": r.Amount, "currency": r.Currency, "state": r.State, "note": r.Note,
		"portalReference": r.PortalRef,
	}))
}
