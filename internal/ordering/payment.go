package ordering

import (
	"cmp"
	"context"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Pay starts another payment attempt on an unpaid order that the requester may see. It returns the order and the payment
// page, "" for methods without one. The attempt commits before the gateway is asked for a page. If that fails, the
// error is returned and the attempt remains, or has failed if the gateway has refused; the caller may try again. The
// checks before the command save an attempt that could not succeed; the command checks the order again.
func (s *Service) Pay(ctx context.Context, by Requester, id string, m payment.Method, c Client) (Order, string, error) {
	if err := s.Settings().Methods.Check(m); err != nil {
		return Order{}, "", err
	}
	o, err := s.Order(ctx, by, id)
	if err == nil {
		err = m.CheckAmount(o.Total, o.Currency)
	}
	if err != nil {
		return Order{}, "", err
	}
	// Other statuses go to the ledger, whose refusal names the reason.
	if m.Remote() && o.PaymentStatus == Unpaid && !s.Now().Before(gatewayDeadline(&o.Order)) {
		return Order{}, "", ErrTooLate
	}
	r, err := s.Ledger.Do(ctx, &AddAttempt{
		OrderID: o.ID, Attempt: payment.Attempt{ID: s.newID(), OrderID: o.ID, Method: m}, Window: s.Settings().window(m),
	})
	if err != nil {
		return Order{}, "", err
	}
	page, err := s.page(ctx, r.Order, r.Attempt, c)
	return r.Order, page, err
}

// TakeAtCounter records a payment taken by the staff. amount must equal the order's total, so that a cashier who has
// opened the wrong order notices. With late, an expired order is revived if it could be placed now; otherwise the
// payment is refused, because the dishes would not be cooked.
func (s *Service) TakeAtCounter(ctx context.Context, by authz.Actor, id string, amount int64, late bool) (Order, error) {
	// The order is read for its branch; the amount is compared under the ledger's locks.
	d, err := s.Order(ctx, Staff(by), id)
	if err != nil {
		return Order{}, err
	}
	c := Settle{
		OrderID: id, Method: payment.Counter, State: payment.Paid, Amount: amount, Source: SourceStaff,
		By: by, Raw: `{"method":"COUNTER"}`,
	}
	// Only a refusal of a late payment names the dishes that are short, so recipes are read for late payments only.
	if late {
		recipes, err := s.recipes(ctx, d.Scope.Branch)
		if err != nil {
			return Order{}, err
		}
		c.Late, c.Raw = &Late{recipes}, `{"method":"COUNTER","late":true}`
	}
	r, err := s.settle(ctx, d.Scope.Branch, c)
	return r.Order, err
}

// settle runs a Settle command with the branch's current business date and closure, which the ledger does not know. As
// when an order is placed, they come from this process's copy of the catalog. Every report passes through settle, so that
// metrics count each report once.
func (s *Service) settle(ctx context.Context, branch int64, c Settle) (Result, error) {
	at, err := s.Catalog.Branch(ctx, branch)
	if err != nil {
		return Result{}, err
	}
	now := s.Now()
	c.NewID, c.Today, c.Closed = s.newID(), at.Calendar().BizDate(now), at.CheckOpen(now)
	r, err := s.Ledger.Do(ctx, &c)
	s.Metrics.reported(c, r, err)
	return r, err
}

// Settle reports the state of a payment, from a gateway or the staff. The ledger stores Raw and Headers as received,
// with the verdict.
type Settle struct {
	OrderID   string
	AttemptID string         // empty: the newest attempt with Method and the order's total; a new one if there is none
	NewID     string         // id of the new attempt, if one is created
	Method    payment.Method // used if AttemptID is empty
	State     payment.State  // what the gateway reports
	From      payment.State  // the report changes an attempt in this state only; empty for any state
	Amount    int64          // captured; 0 if the gateway does not report it
	Currency  money.Currency // currency of Amount; empty if the gateway does not report it
	Ref       string
	Source    string // CALLBACK, CHECK or STAFF
	Late      *Late  // set to accept cash for an expired order
	Raw       string
	Headers   string      // HTTP headers of the request that carried the report
	By        authz.Actor // the staff member; zero for gateways
	Today     string      // the branch's current business date: late money cannot take units of a past day
	Closed    error       // the refusal of orders while the branch is closed, see catalog.Branch.CheckOpen; nil: it is open
}

// Target implements Command.
func (s *Settle) Target() string { return s.OrderID }

// decide applies a payment report from a gateway or the staff. It stores reports that change nothing too, except
// unchanged checks. Captured money makes the order PAID or becomes a refund (I6).
func (s *Settle) decide(b *Batch) Result {
	o := b.Orders[s.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	// retaken is true once the units of an expired order are reserved again for a cash payment.
	retaken := false
	if s.Source == SourceStaff { // cash can be refused: nothing is captured yet
		err := b.checkCounterPayment(o, s)
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
	b.recordMismatch(o, s, a)
	if s.State != payment.Review && s.differsFrom(a) { // the staff decide about payments under review
		b.keepAttempt(a)
		b.recordEvent(s, a, "AMOUNT_MISMATCH")
		return Result{Order: *o, Attempt: a, Err: payment.ErrAmount}
	}
	// PAID is never undone: reports may arrive twice and in any order.
	changed := (s.From == "" || s.From == a.State) && a.Settle(s.State, s.Ref, b.Now) ||
		s.withoutResult() && !o.PaymentStatus.payable() && a.GiveUp(b.Now)
	b.Attempts[o.ID][i] = a
	if !changed {
		if s.Source != SourceCheck { // an unchanged check is not worth storing
			b.recordEvent(s, a, "REPEATED")
		}
		return Result{Order: *o, Attempt: a}
	}
	b.updateAttempt(a)
	b.recordEvent(s, a, string(a.State))
	switch {
	// The units are reserved again and the staff have the cash, so no refund can follow.
	case retaken:
		b.paid(o, a)
	// Captured money must be applied or refunded, whatever the order's state is by now.
	case a.State == payment.Paid:
		b.captured(o, a, s)
	default:
		b.reopen(o)
	}
	if s.Source == SourceStaff {
		b.recordAudit(s.By, settleAction(retaken), o)
	}
	return Result{Order: *o, Attempt: a, Changed: true}
}

// withoutResult reports whether the gateway was asked and has no result: the guest has not paid, or has approved a payment
// that was never captured.
func (s *Settle) withoutResult() bool {
	return s.Source == SourceCheck && (s.State == payment.Redirected || s.State == payment.Approved)
}

// differsFrom reports whether the reported amount or currency differs from the attempt's. Values that the gateway does
// not report count as equal.
func (s *Settle) differsFrom(a payment.Attempt) bool {
	return s.Amount != 0 && s.Amount != a.Amount || s.Currency != "" && s.Currency != a.Currency
}

// recordMismatch records a differing amount if the money has moved or may have moved. Reports of failures need no
// attention, whatever their amount.
func (b *Batch) recordMismatch(o *Order, s *Settle, a payment.Attempt) {
	if s.State != payment.Paid && s.State != payment.Review || !s.differsFrom(a) {
		return
	}
	currency := cmp.Or(s.Currency, a.Currency)
	b.Mismatches = append(b.Mismatches, payment.AmountMismatch{
		AttemptID: a.ID, OrderID: a.OrderID, Amount: s.Amount, Currency: currency, ReportedAt: b.Now,
	})
	b.publish(event.OrderAmountMismatch.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Mismatched{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, AttemptID: a.ID, Requested: a.Amount,
		Reported: s.Amount, Currency: currency,
	}))
}

// Sources of payment reports.
const (
	SourceCallback = "CALLBACK" // the gateway called, or redirected the guest to us
	SourceCheck    = "CHECK"    // we queried the gateway
	SourceStaff    = "STAFF"
)

// checkCounterPayment refuses cash for an order that is not unpaid, and an amount other than the total. A result that
// the staff looked up at a gateway is not refused: that money has moved already.
func (b *Batch) checkCounterPayment(o *Order, s *Settle) error {
	switch {
	case s.AttemptID != "": // the staff have looked up the result at the gateway
		return nil
	case o.PaymentStatus != Unpaid:
		return o.PaymentStatus.refusal()
	case s.Amount != o.Total:
		return payment.ErrAmount.With("currentTotal", o.Total)
	}
	return nil
}

// captured decides whether captured money pays its order, revives it, or is refunded. Every branch of the code ends
// with a PAID order or a refund (I6).
func (b *Batch) captured(o *Order, a payment.Attempt, s *Settle) {
	switch {
	// A gateway may report a success after a failure. If a discount has changed the total in between, the money is refunded,
	// and the order can still be paid.
	case o.PaymentStatus.payable() && a.Amount != o.Total:
		b.createRefund(o, a, payment.Repriced)
	case o.PaymentStatus.payable():
		if b.Balances.Confirm(o.HoldID) == stock.Applied {
			b.transition(o.HoldID, stock.Held, stock.Confirmed, "")
			b.paid(o, a)
			return
		}
		b.createRefund(o, a, payment.PriorRefundDue) // unreachable while unpaid orders have a HELD hold; refund anyway
	case o.PaymentStatus == Paid, o.Status != Canceled:
		b.createRefund(o, a, payment.PaidTwice)
	// An earlier capture of this ended order is being refunded, so every later one is refunded too.
	case o.PaymentStatus == RefundDue, o.PaymentStatus == Refunded:
		b.refundOrder(o, a, payment.PriorRefundDue)
	default:
		reason := b.lateReason(o, s)
		if reason == "" && a.Amount != o.Total {
			reason = payment.Repriced
		}
		if reason != "" {
			b.refundOrder(o, a, reason)
			return
		}
		b.revive(o, a)
	}
}

// refundOrder refunds money captured for an ended order and marks the order as REFUND_DUE. It raises the version twice:
// once for the event of the refund, once for the status. An order with a total of 0 stays canceled: no refund would ever
// end REFUND_DUE.
func (b *Batch) refundOrder(o *Order, a payment.Attempt, reason payment.RefundReason) {
	if a.Amount == 0 {
		b.touch(o)
		return
	}
	b.createRefund(o, a, reason)
	o.setRefundDue(b.Now)
	b.changed(o)
}

// paid marks an order as PAID by an attempt and publishes the event. Its hold is CONFIRMED already. The daybook has
// counted an expired order as cancelled; Revived makes it correct that count.
func (b *Batch) paid(o *Order, a payment.Attempt) {
	b.cancelCreated(o)
	revived := o.Status == Canceled
	o.Method = a.Method // receipts name it; another attempt may be newer
	o.setPaid(b.Now)
	b.changed(o)
	b.publish(event.OrderPaid.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Paid{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, TotalAmount: o.Total, Currency: o.Currency,
		Revived: revived,
	}))
}

// recordEvent stores a report as received, with the verdict on it. These rows are never changed.
func (b *Batch) recordEvent(s *Settle, a payment.Attempt, verdict string) {
	b.PaymentEvents = append(b.PaymentEvents, payment.Event{
		ID: b.NewID(), AttemptID: a.ID, OrderID: s.OrderID, Method: a.Method, Source: s.Source, Raw: s.Raw,
		Headers: s.Headers, Verdict: verdict, ReceivedAt: b.Now,
	})
}

// reopen makes an order payable by another method once no attempt can still capture money. The order stays CONFIRMING
// while another attempt has an unknown outcome: a second capture could succeed too.
func (b *Batch) reopen(o *Order) {
	if o.PaymentStatus == Confirming && !b.capturing(o, "") {
		o.PaymentStatus = Unpaid
	}
	b.touch(o)
}

// touch marks an order as changed and raises its version, so that its viewers receive the new state of its attempts.
func (b *Batch) touch(o *Order) {
	o.touch(b.Now)
	b.changed(o)
}
