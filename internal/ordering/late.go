package ordering

import (
	"comanda/internal/audit"
	"comanda/internal/catalog"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// Late allows Settle to revive an expired order.
type Late struct {
	Recipes map[int64][]stock.Line // to name the dishes that have sold out
}

// lateReason returns the reason to refund money for an ended order, or "" if the order may be revived. It may be
// revived only if it expired and could be placed now. The order of the cases decides which reason the staff see
// (decision 33).
func (b *Batch) lateReason(o *Order, s *Settle) payment.RefundReason {
	switch {
	case o.CancelReason != Expired:
		return payment.LateCanceled
	case s.Today != o.Scope.Date:
		return payment.LateClosed
	case o.Kind == DineIn && !b.Visits[o.VisitID]:
		return payment.LateVisitClosed
	case b.Paused[o.Scope.Branch]:
		return payment.LatePaused
	case s.Closed != nil:
		return payment.LateClosed
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
	switch b.lateReason(o, s) {
	case "":
	case payment.LateClosed:
		if s.Today == o.Scope.Date {
			return s.Closed
		}
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
