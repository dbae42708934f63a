package ordering

import (
	"context"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

// End cancels or expires an unpaid order and releases its units. If a payment arrives at the same time, the
// transaction that changes the hold's row first succeeds and the other one fails (I4).
type End struct {
	OrderID string
	Reason  CancelReason
	By      authz.Actor // with StaffCanceled
	Report  *Settle     // the report that ends the order, if any; it is applied only if the order ends now
}

// Cancel cancels an unpaid order that the requester may see. Of the phones of a table, only the one that placed it may.
// For an order that is already cancelled it returns the current state.
func (s *Service) Cancel(ctx context.Context, by Requester, id string) (Order, error) {
	d, err := s.Order(ctx, by, id)
	if err != nil {
		return Order{}, err
	}
	e := End{OrderID: id, Reason: UserCanceled}
	switch by := by.(type) {
	case Guest:
		if d.GuestHash != by.Hash {
			return Order{}, fault.New(fault.Forbidden, "not_your_order",
				"Only the phone that placed the order can cancel it.")
		}
	case Staff:
		e.Reason, e.By = StaffCanceled, authz.Actor(by)
	}
	r, err := s.end(ctx, e)
	return r.Order, err
}

// end runs an End and counts it once, with its report: repeated cancellations change nothing.
func (s *Service) end(ctx context.Context, e End) (Result, error) {
	r, err := s.Ledger.Do(ctx, &e)
	if err == nil && r.Changed {
		s.Metrics.ended(e.Reason)
		if e.Report != nil {
			s.Metrics.reported(*e.Report, r, nil)
		}
	}
	return r, err
}

// Limits of one ExpireOverdue call. It goes on after a full batch, so that a backlog, as after a night without a worker,
// clears without waiting for the next run. A batch fits into one transaction of the ledger and leaves room for guests.
const (
	expireBatch      = 500 // orders per batch
	maxExpireBatches = 40  // per call
)

// ExpireOverdue expires unpaid orders past their deadline and returns their number. Any number of processes may run
// it: the ledger checks each order again under its locks, and skips those paid or cancelled in the meantime.
func (s *Service) ExpireOverdue(ctx context.Context) (int, error) {
	total := 0
	for range maxExpireBatches {
		// Orders that ended in the last batch are not returned again.
		ids, err := s.Reader.Overdue(ctx, s.Now(), expireBatch)
		if err != nil || len(ids) == 0 {
			return total, err
		}
		commands := seq.Map(ids, func(id string) Command { return &End{OrderID: id, Reason: Expired} })
		results, failures := s.Ledger.DoAll(ctx, commands)
		for i := range results {
			// A conflict is not a failure: the order was paid in the meantime.
			if failures[i] == nil && results[i].Changed {
				total++
				s.Metrics.ended(Expired)
			} else if err == nil && fault.KindOf(failures[i]) != fault.Conflict {
				err = failures[i]
			}
		}
		// A short batch was the last one.
		if err != nil || len(ids) < expireBatch {
			return total, err
		}
	}
	return total, nil
}

// Target implements Command.
func (e *End) Target() string { return e.OrderID }

// decide cancels or expires an unpaid order. For an order that is already cancelled it returns the current state (I4).
func (e *End) decide(b *Batch) Result {
	o := b.Orders[e.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.Status == Canceled:
		return Result{Order: *o}
	// Money may be moving. Only expiry ends such an order, and its deadline is late enough for the capture (decision 20).
	case o.PaymentStatus == Confirming && e.Reason != Expired:
		return Result{Order: *o, Err: ErrConfirming}
	case !o.PaymentStatus.payable() || o.Status != Placed:
		return Result{Order: *o, Err: ErrNotCancelable}
	case e.Reason == Expired && b.Now.Before(o.ExpiresAt): // I10: not before the deadline
		return Result{Order: *o}
	}
	// An unpaid order has a HELD hold, so this is not expected; nothing has changed, and a retry is safe.
	if b.Balances.Release(o.HoldID) != stock.Applied {
		return Result{Order: *o, Err: ErrRetry}
	}
	b.transition(o.HoldID, stock.Held, stock.Released, string(e.Reason))
	o.setCanceled(e.Reason, b.Now)
	// The report is decided before the other attempts are canceled, or it would be a repeated report about a canceled
	// attempt. A report without an attempt is not stored if the order already has payment.MaxAttempts.
	if e.Report != nil {
		e.Report.decide(b)
	}
	b.cancelCreated(o)
	b.changed(o)
	b.publish(event.OrderCanceled.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Canceled{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, TotalAmount: o.Total, Currency: o.Currency,
		Reason: string(e.Reason),
	}))
	if e.Reason == StaffCanceled {
		b.recordAudit(e.By, audit.ActionOrderCanceled, o)
	}
	return Result{Order: *o, Changed: true}
}

// Extensions of the payment deadline: two of five minutes. WCAG 2.2, success criterion 2.2.1, asks for ten unless
// there is a good reason; here it is that the held dishes cannot be sold to others meanwhile.
const (
	extension     = 5 * time.Minute
	maxExtensions = 2
)

// ErrNoExtensionLeft reports that an order has used all extensions of its deadline.
var ErrNoExtensionLeft = fault.New(fault.Conflict, "no_more_time",
	"No more time can be added. Pay now, or order again.")

// ExtendDeadline extends the deadline of an unpaid order.
type ExtendDeadline struct {
	OrderID string
	PayBy   time.Time // the deadline that the client saw; if the order's differs, it was extended already
}

// ExtensionsLeft returns how often the deadline can still be extended.
func (o *Order) ExtensionsLeft() int {
	if o.PaymentStatus != Unpaid {
		return 0
	}
	return max(0, maxExtensions-o.Extensions)
}

// Target implements Command.
func (p *ExtendDeadline) Target() string { return p.OrderID }

// decide extends an order's deadlines. It is idempotent by the deadline that the client saw (I11): a phone that lost
// the response must not use up an extension.
func (p *ExtendDeadline) decide(b *Batch) Result {
	o := b.Orders[p.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.PaymentStatus != Unpaid:
		return Result{Order: *o, Err: o.PaymentStatus.refusal()}
	// Compared in milliseconds, the precision of the deciding clock.
	case o.PayBy.UnixMilli() != p.PayBy.UnixMilli():
		return Result{Order: *o}
	case !b.Now.Before(o.ExpiresAt): // the sweeper may be expiring it already
		return Result{Order: *o, Err: ErrTooLate}
	case o.ExtensionsLeft() == 0:
		return Result{Order: *o, Err: ErrNoExtensionLeft}
	}
	o.PayBy, o.ExpiresAt = o.PayBy.Add(extension), o.ExpiresAt.Add(extension)
	o.Extensions++
	// The hold is extended by the same time (I10).
	b.Deadlines[o.HoldID] = o.ExpiresAt
	b.touch(o)
	return Result{Order: *o, Changed: true}
}

// ExtendDeadline extends the deadline payBy of an unpaid order by five minutes, for its member or the phone that placed
// it. It returns the order that was read, with the new deadlines.
func (s *Service) ExtendDeadline(ctx context.Context, by Requester, id string, payBy time.Time) (Detail, error) {
	d, err := s.Order(ctx, by, id)
	if err != nil {
		return Detail{}, err
	}
	if g, ok := by.(Guest); ok && d.GuestHash != g.Hash {
		return Detail{}, fault.New(fault.Forbidden, "not_your_order",
			"Only the phone that placed the order can ask for more time.")
	}
	r, err := s.Ledger.Do(ctx, &ExtendDeadline{OrderID: id, PayBy: payBy})
	if err != nil {
		return Detail{}, err
	}
	r.Order.Items = d.Items
	d.Order = r.Order
	return d, nil
}
