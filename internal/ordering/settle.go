package ordering

import (
	"cmp"
	"slices"

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
	if s.Source == SourceStaff { // nothing is captured before we say so
		if err := b.refuseAtCounter(o, s); err != nil {
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
	if a.State == payment.Paid {
		b.captured(o, a, s.Today)
	} else {
		b.reopen(o)
	}
	if s.Source == SourceStaff {
		b.audit(s.By, identity.ActionPaymentTaken, o)
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
	b.Mismatches = append(b.Mismatches, payment.Mismatch{
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
		if b.Book.Confirm(o.HoldID) == stock.Changed {
			b.move(o.HoldID, stock.Held, stock.Confirmed, "")
			b.paid(o)
			return
		}
		b.owe(o, a, payment.StillDue) // an unpaid order always has a HELD hold; money is never lost even if not
	case o.PaymentStatus == Paid, o.Status != Canceled:
		b.owe(o, a, payment.PaidTwice)
	case o.PaymentStatus == RefundDue, o.PaymentStatus == Refunded:
		b.owe(o, a, payment.StillDue)
		o.refundDue(b.Now)
		b.change(o)
	case today != o.Scope.Date:
		b.owe(o, a, payment.LateClosed)
		o.refundDue(b.Now)
		b.change(o)
	default:
		b.revive(o, a)
	}
}

// revive takes the units of an ended order once more, under a new hold: the old one stays released for good (I12).
func (b *Batch) revive(o *Order, a payment.Attempt) {
	if h, ok := b.Book.Holding(o.HoldID); ok {
		h.ID = b.NewID()
		if outcome, _ := b.Book.Take(h, stock.Confirmed); outcome == stock.Changed {
			b.NewHolds = append(b.NewHolds, HoldEffect{h, stock.Confirmed})
			b.tell(stock.OpConfirm, h)
			o.HoldID = h.ID
			b.paid(o)
			return
		}
	}
	b.owe(o, a, payment.LateSoldOut)
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
