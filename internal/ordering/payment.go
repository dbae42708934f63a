package ordering

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Pay starts another payment attempt on an unpaid order that the requester may see. It returns the order and the payment
// page, "" for methods without one. The attempt commits before the gateway is asked for a page. If that fails, the
// error is returned and the attempt remains; the caller may try again. The checks before the command save an attempt
// that could not succeed; the command checks the order again.
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

// settle runs a Settle command with the branch's current business date, which the ledger does not know. Every report
// passes through settle, so that metrics count each report once.
func (s *Service) settle(ctx context.Context, branch int64, c Settle) (Result, error) {
	at, err := s.Catalog.Branch(ctx, branch)
	if err != nil {
		return Result{}, err
	}
	c.NewID, c.Today = s.newID(), at.Calendar().BizDate(s.Now())
	r, err := s.Ledger.Do(ctx, &c)
	s.Metrics.reported(c, r, err)
	return r, err
}

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

// Settle reports the state of a payment, from a gateway or the staff. The ledger stores Raw and Headers as received,
// with the verdict.
type Settle struct {
	OrderID   string
	AttemptID string         // empty: the newest attempt with Method and the order's total; a new one if there is none
	NewID     string         // id of the new attempt, if one is created
	Method    payment.Method // used if AttemptID is empty
	State     payment.State  // what the gateway reports
	Amount    int64          // captured; 0 if the gateway does not report it
	Currency  money.Currency // currency of Amount; empty if the gateway does not report it
	Ref       string
	Source    string // CALLBACK, CHECK or STAFF
	Late      *Late  // set to accept cash for an expired order
	Raw       string
	Headers   string      // HTTP headers of the request that carried the report
	By        authz.Actor // the staff member; zero for gateways
	Today     string      // the branch's current business date: late money cannot take units of a past day
}

// Late allows Settle to revive an expired order.
type Late struct {
	Recipes map[int64][]stock.Line // to name the dishes that have sold out
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
	changed := a.Settle(s.State, s.Ref, b.Now)
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
		b.captured(o, a, s.Today)
	default:
		b.reopen(o)
	}
	if s.Source == SourceStaff {
		b.recordAudit(s.By, settleAction(retaken), o)
	}
	return Result{Order: *o, Attempt: a, Changed: true}
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

// firstAttempt returns the attempt that an order is placed with. It has no row of its own until it changes or a second
// attempt is added, because most orders have only this attempt; until then it is derived from the order's row. The
// statements that read attempts derive it in the same way.
func (o *Order) firstAttempt() payment.Attempt {
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

// keepAttempt makes sure that an attempt has a row, see firstAttempt. An attempt in any other state has a row already.
func (b *Batch) keepAttempt(a payment.Attempt) {
	if a.State == payment.Created {
		b.updateAttempt(a)
	}
}

// updateAttempt marks an attempt to be written with its new state. Each is written once, with its last state.
func (b *Batch) updateAttempt(a payment.Attempt) { b.ChangedAttempts[a.ID] = a }

// captured decides whether captured money pays its order, revives it, or is refunded. Every branch of the code ends
// with a PAID order or a refund (I6).
func (b *Batch) captured(o *Order, a payment.Attempt, today string) {
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
		reason := b.lateReason(o, today)
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

// lateReason returns the reason to refund money for an ended order, or "" if the order may be revived. It may be
// revived only if it expired and could be placed now. The order of the cases decides which reason the staff see
// (decision 33).
func (b *Batch) lateReason(o *Order, today string) payment.RefundReason {
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

// revive makes an expired order PAID if its units are free, and refunds the money otherwise.
func (b *Batch) revive(o *Order, a payment.Attempt) {
	if b.anyOff(o.Scope.Branch, o.OptionIDs()) {
		b.refundOrder(o, a, payment.LateSoldOut)
		return
	}
	if b.voucherTaken(o) {
		b.refundOrder(o, a, payment.LateVoucher)
		return
	}
	if outcome, short := b.reserveAgain(o); outcome != stock.Applied {
		reason := payment.LateSoldOut
		if o.usedUp(short) {
			reason = payment.LateVoucher
		}
		b.refundOrder(o, a, reason)
		return
	}
	b.paid(o, a)
}

// reserveAgain reserves the units of an expired order again, under a new hold. A released hold never becomes active again
// (I12).
func (b *Batch) reserveAgain(o *Order) (stock.Outcome, []stock.Shortage) {
	h, ok := b.Balances.Hold(o.HoldID)
	if !ok {
		return stock.NotFound, nil
	}
	// The lines are those of the old hold, so that counters, order and hold agree.
	h.ID = b.NewID()
	outcome, short := b.Balances.Reserve(h, stock.Confirmed)
	if outcome == stock.Applied {
		b.NewHolds = append(b.NewHolds, stock.NewHold{Hold: h, State: stock.Confirmed})
		b.queueOps(stock.OpConfirm, h)
		o.HoldID = h.ID
	}
	return outcome, short
}

// acceptLate reserves the units of an expired order that is paid at the counter, or returns an error. The rules are
// those of lateReason.
func (b *Batch) acceptLate(o *Order, s *Settle) error {
	if s.Amount != o.Total {
		return payment.ErrAmount.With("currentTotal", o.Total)
	}
	switch b.lateReason(o, s.Today) {
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
	if b.anyOff(o.Scope.Branch, o.OptionIDs()) {
		return b.offOptions(o)
	}
	if b.voucherTaken(o) {
		return ErrVoucherTaken
	}
	switch outcome, short := b.reserveAgain(o); outcome {
	case stock.Applied:
		return nil
	case stock.Insufficient:
		// HoldID is still the id of the old hold, which has the order's lines.
		h, _ := b.Balances.Hold(o.HoldID)
		return o.soldOut(short, h.Lines, s.Late.Recipes)
	default: // an item has left the menu since
		return ErrNotPayable
	}
}

// settleAction returns the audit action for a payment taken by the staff.
func settleAction(retaken bool) string {
	if retaken {
		return audit.ActionOrderRevived
	}
	return audit.ActionPaymentTaken
}

// refundOrder refunds money captured for an ended order and marks the order as REFUND_DUE. It raises the version twice:
// once for the event of the refund, once for the status.
func (b *Batch) refundOrder(o *Order, a payment.Attempt, reason payment.RefundReason) {
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

// capturing reports whether any attempt other than except may be capturing money now.
func (b *Batch) capturing(o *Order, except string) bool {
	return slices.ContainsFunc(b.Attempts[o.ID], func(a payment.Attempt) bool {
		return a.ID != except && (a.State == payment.Confirming || a.State == payment.Unknown)
	})
}

// touch marks an order as changed and raises its version, so that its viewers receive the new state of its attempts.
func (b *Batch) touch(o *Order) {
	o.touch(b.Now)
	b.changed(o)
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
