package ordering

import (
	"cmp"
	"slices"

	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/identity"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// settle takes a gateway's or the staff's word. Whatever becomes of it, the report itself is kept; money that was
// captured makes the order PAID or a refund due (I6).
func (b *Batch) settle(s *Settle) Result {
	o := b.Orders[s.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	retaken := false
	if s.Source == SourceStaff { // nothing is captured before we say so
		err := b.refuseAtCounter(o, s)
		if s.Late != nil && o.PaymentStatus == PaymentCanceled {
			err = b.acceptLate(o, s)
			retaken = err == nil
		}
		if err != nil {
			return Result{Order: *o, Err: err}
		}
	}
	i := b.attemptOf(o, s)
	if i < 0 {
		return Result{Order: *o, Err: payment.ErrAttempts}
	}
	a := b.Attempts[o.ID][i]
	b.mismatch(s, a)
	if s.State != payment.Review && s.isNot(a) { // somebody is to look at what is under review, whatever it comes to
		b.report(s, a, "AMOUNT_MISMATCH")
		return Result{Order: *o, Attempt: a, Err: payment.ErrAmount}
	}
	changed := a.Settle(s.State, s.Ref, b.Now)
	b.Attempts[o.ID][i] = a
	if !changed {
		if s.Source != SourceCheck { // asking again and hearing the same is no news
			b.report(s, a, "REPEATED")
		}
		return Result{Order: *o, Attempt: a}
	}
	b.keep(a)
	b.report(s, a, string(a.State))
	switch {
	case retaken:
		b.paid(o)
	case a.State == payment.Paid:
		b.captured(o, a, s.Today)
	default:
		b.reopen(o)
	}
	if s.Source == SourceStaff {
		b.audit(s.By, settledAs(retaken), o)
	}
	return Result{Order: *o, Attempt: a, Changed: true}
}

// isNot tells whether a report speaks of other money than an attempt has asked for.
func (s *Settle) isNot(a payment.Attempt) bool {
	return s.Amount != 0 && s.Amount != a.Amount || s.Currency != "" && s.Currency != a.Currency
}

// mismatch has somebody look at money that has moved, or may have, and was not asked for.
func (b *Batch) mismatch(s *Settle, a payment.Attempt) {
	if s.State != payment.Paid && s.State != payment.Review || !s.isNot(a) {
		return
	}
	b.Mismatches = append(b.Mismatches, payment.AmountMismatch{
		AttemptID: a.ID, OrderID: a.OrderID, Amount: s.Amount, Currency: cmp.Or(s.Currency, a.Currency), ReportedAt: b.Now,
	})
}

// Where a report comes from.
const (
	SourceCallback = "CALLBACK" // the gateway came to us, or the guest back from it
	SourceCheck    = "CHECK"    // we asked the gateway
	SourceStaff    = "STAFF"
)

func (b *Batch) refuseAtCounter(o *Order, s *Settle) error {
	switch {
	case s.AttemptID != "": // somebody has looked what became of it
		return nil
	case o.PaymentStatus != Unpaid:
		return o.PaymentStatus.refusal()
	case s.Amount != o.Total:
		return payment.ErrAmount.With("currentTotal", o.Total)
	}
	return nil
}

// attemptOf finds the attempt that a report is about, or makes one: staff may take cash for an order that was meant to
// be paid otherwise, however often its guests have tried. It gives -1 when the order has too many.
func (b *Batch) attemptOf(o *Order, s *Settle) int {
	all := b.Attempts[o.ID]
	for i, a := range slices.Backward(all) {
		if s.AttemptID == "" && a.Method == s.Method || s.AttemptID != "" && a.ID == s.AttemptID {
			return i
		}
	}
	if len(all) >= payment.MaxAttempts && s.Source != SourceStaff {
		return -1
	}
	a := payment.Attempt{
		ID: s.NewID, OrderID: o.ID, Method: s.Method, Amount: o.Total, Currency: o.Currency, State: payment.Created,
		CreatedAt: b.Now,
	}
	b.NewAttempts = append(b.NewAttempts, a)
	b.Attempts[o.ID] = append(all, a)
	return len(all)
}

// keep marks an attempt's new state to be written. One that is new in this batch is written in that state at once.
func (b *Batch) keep(a payment.Attempt) {
	for i := range b.NewAttempts {
		if b.NewAttempts[i].ID == a.ID {
			b.NewAttempts[i] = a
			return
		}
	}
	b.Settled[a.ID] = a
}

// captured decides what money that is there now means for its order.
func (b *Batch) captured(o *Order, a payment.Attempt, today string) {
	switch {
	case o.PaymentStatus.payable():
		if b.Book.Confirm(o.HoldID) == stock.Applied {
			b.move(o.HoldID, stock.Held, stock.Confirmed, "")
			b.paid(o)
			return
		}
		b.owe(o, a, payment.PriorRefundDue) // an unpaid order always has a HELD hold; money is never lost even if not
	case o.PaymentStatus == Paid, o.Status != Canceled:
		b.owe(o, a, payment.PaidTwice)
	case o.PaymentStatus == RefundDue, o.PaymentStatus == Refunded:
		b.oweAll(o, a, payment.PriorRefundDue)
	default:
		if reason := b.tooLate(o, today); reason != "" {
			b.oweAll(o, a, reason)
			return
		}
		b.revive(o, a)
	}
}

// tooLate returns why money for an ended order goes back, or "" if the order may be revived. An order is revived only if
// it expired and could be placed now.
func (b *Batch) tooLate(o *Order, today string) payment.RefundReason {
	switch {
	case o.CancelReason != Expired:
		return payment.LateCanceled
	case today != o.Scope.Date:
		return payment.LateClosed
	case o.Kind == DineIn && !b.Visits[o.VisitID]:
		return payment.LateVisitClosed
	case b.Paused[o.Scope.Branch]:
		return payment.LatePaused
	}
	return ""
}

// revive makes an expired order a paid one if its units are free, and otherwise owes its money.
func (b *Batch) revive(o *Order, a payment.Attempt) {
	if outcome, _ := b.retake(o); outcome != stock.Applied {
		b.oweAll(o, a, payment.LateSoldOut)
		return
	}
	b.paid(o)
}

// retake takes the units of an expired order once more, under a new hold: the old one stays released for good (I12).
func (b *Batch) retake(o *Order) (stock.Outcome, []stock.Shortage) {
	h, ok := b.Book.Hold(o.HoldID)
	if !ok {
		return stock.NotFound, nil
	}
	h.ID = b.NewID()
	outcome, short := b.Book.Reserve(h, stock.Confirmed)
	if outcome == stock.Applied {
		b.NewHolds = append(b.NewHolds, HoldEffect{h, stock.Confirmed})
		b.tell(stock.OpConfirm, h)
		o.HoldID = h.ID
	}
	return outcome, short
}

// acceptLate takes the units of an expired order for a guest who pays at the counter, or returns why that cannot be. The
// rule is that of money that comes late.
func (b *Batch) acceptLate(o *Order, s *Settle) error {
	if s.Amount != o.Total {
		return payment.ErrAmount.With("currentTotal", o.Total)
	}
	switch b.tooLate(o, s.Today) {
	case "":
	case payment.LateClosed:
		return ErrDayOver
	case payment.LateVisitClosed:
		return ErrVisitClosed
	case payment.LatePaused:
		return catalog.ErrPaused
	default:
		return ErrNotPayable
	}
	switch outcome, short := b.retake(o); outcome {
	case stock.Applied:
		return nil
	case stock.Insufficient:
		h, _ := b.Book.Hold(o.HoldID)
		return SoldOut(stock.DishShortages(short, h.Lines, s.Late.Recipes))
	default: // an item that has left the menus since
		return ErrNotPayable
	}
}

// settledAs returns what the audit log calls money that was taken.
func settledAs(retaken bool) string {
	if retaken {
		return identity.ActionOrderRevived
	}
	return identity.ActionPaymentTaken
}

// oweAll notes that an ended order's money must go back.
func (b *Batch) oweAll(o *Order, a payment.Attempt, reason payment.RefundReason) {
	b.owe(o, a, reason)
	o.refundDue(b.Now)
	b.change(o)
}

func (b *Batch) paid(o *Order) {
	revived := o.Status == Canceled
	o.paid(b.Now)
	b.change(o)
	b.publish(event.OrderPaid.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Paid{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, TotalAmount: o.Total, Currency: o.Currency,
		Revived: revived,
	}))
}

func (b *Batch) report(s *Settle, a payment.Attempt, verdict string) {
	b.Reports = append(b.Reports, payment.Event{
		ID: b.NewID(), AttemptID: a.ID, OrderID: s.OrderID, Method: a.Method, Source: s.Source, Raw: s.Raw,
		Headers: s.Headers, Verdict: verdict, ReceivedAt: b.Now,
	})
}
