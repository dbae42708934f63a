package ordering_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"

	"comanda/internal/audit"
	"comanda/internal/catalog"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

// counterPayment returns a counter payment for an expired order.
func counterPayment(key string, amount int64) *ordering.Settle {
	return &ordering.Settle{
		OrderID: "o-" + key, NewID: "cash-" + key, Method: payment.Counter, State: payment.Paid, Amount: amount,
		Source: ordering.SourceStaff, Today: scope.Date, Late: &ordering.Late{},
	}
}

// A cashier may accept payment for an expired order under the rules of late money, and for no order that ended
// otherwise.
func TestBatch_acceptLate(t *testing.T) {
	for name, c := range map[string]struct {
		reason ordering.CancelReason
		before func(b *ordering.Batch, s *ordering.Settle)
		amount int64
		want   error
	}{
		"expired":              {ordering.Expired, nil, 3000, nil},
		"another amount":       {ordering.Expired, nil, 2000, payment.ErrAmount},
		"cancelled by guest":   {ordering.UserCanceled, nil, 3000, ordering.ErrNotPayable},
		"cancelled by staff":   {ordering.StaffCanceled, nil, 3000, ordering.ErrNotPayable},
		"the visit is closed":  {ordering.Expired, func(b *ordering.Batch, _ *ordering.Settle) { b.Visits["v"] = false }, 3000, ordering.ErrVisitClosed},
		"the branch is paused": {ordering.Expired, func(b *ordering.Batch, _ *ordering.Settle) { b.Paused[1] = true }, 3000, catalog.ErrPaused},
		"the branch is closed": {ordering.Expired, func(_ *ordering.Batch, s *ordering.Settle) { s.Closed = catalog.ErrClosed }, 3000, catalog.ErrClosed},
		"the next day":         {ordering.Expired, func(_ *ordering.Batch, s *ordering.Settle) { s.Today = "2026-02-27" }, 3000, ordering.ErrDayOver},
		"sold out":             {ordering.Expired, func(b *ordering.Batch, _ *ordering.Settle) { b.Decide([]ordering.Command{place("b", 3)}) }, 3000, ordering.ErrSoldOut},
	} {
		t.Run(name, func(t *testing.T) {
			b := batch()
			b.Decide([]ordering.Command{place("a", 3)})
			b.Now = now.Add(time.Hour)
			if r := b.Decide([]ordering.Command{end("a", c.reason)}); r[0].Err != nil || !r[0].Changed {
				t.Fatal(r[0])
			}
			cash := counterPayment("a", c.amount)
			if c.before != nil {
				c.before(b, cash)
			}
			attempts, holds := len(b.ChangedAttempts), len(b.NewHolds)
			r := b.Decide([]ordering.Command{cash})[0]
			testenv.ErrorIs(t, c.want, r.Err)
			o := b.Orders["o-a"]
			if c.want != nil {
				if o.PaymentStatus != ordering.PaymentCanceled || len(b.ChangedAttempts) != attempts || len(b.NewHolds) != holds || len(b.NewRefunds) > 0 {
					t.Errorf("a refusal has left %s and %d refunds", o.PaymentStatus, len(b.NewRefunds))
				}
				return
			}
			if o.PaymentStatus != ordering.Paid || o.Status != ordering.Placed || o.HoldID == "o-a" || o.CanceledAt.IsZero() {
				t.Errorf("order = %+v, want a PAID and PLACED one with a new hold", o)
			}
			if n, _ := b.Balances.Count(stock.Key{Scope: scope, Item: 11}); n.Used != 3 || n.Held != 0 {
				t.Errorf("counted %+v", n)
			}
			if len(b.Audit) != 1 || b.Audit[0].Action != audit.ActionOrderRevived ||
				!strings.Contains(b.Audit[0].After, `"number":"`) {
				t.Errorf("audited %+v", b.Audit)
			}
			again := b.Decide([]ordering.Command{counterPayment("a", c.amount)})[0]
			if n, _ := b.Balances.Count(stock.Key{Scope: scope, Item: 11}); !errors.Is(again.Err, ordering.ErrAlreadyPaid) || n.Used != 3 {
				t.Errorf("the second time: %v, counted %+v", again.Err, n)
			}
		})
	}
}

// A new attempt at the counter extends the deadline to the counter's window. A gateway's shorter window does not move
// it.
func TestBatch_waitsAtTheCounter(t *testing.T) {
	b := batch()
	c := place("a", 1)
	o := &c.Order
	o.CreatedAt, o.PayBy, o.ExpiresAt = now, now.Add(15*time.Minute), now.Add(16*time.Minute)
	b.Decide([]ordering.Command{c})
	try := func(m payment.Method, window time.Duration) ordering.Order {
		return b.Decide([]ordering.Command{&ordering.AddAttempt{
			OrderID: "o-a", Attempt: payment.Attempt{ID: string(m), OrderID: "o-a", Method: m}, Window: window,
		}})[0].Order
	}
	b.Now = now.Add(10 * time.Minute)
	after := try(payment.Counter, 45*time.Minute)
	if !after.PayBy.Equal(now.Add(45*time.Minute)) || !b.Deadlines["o-a"].Equal(now.Add(46*time.Minute)) {
		t.Errorf("to be paid by %v, held until %v", after.PayBy, b.Deadlines["o-a"])
	}
	if after := try(payment.VNPay, 15*time.Minute); !after.PayBy.Equal(now.Add(45 * time.Minute)) {
		t.Errorf("a gateway moved it to %v", after.PayBy)
	}
	b.Now = now.Add(46 * time.Minute)
	if after := try(payment.Counter, time.Hour); after.PayBy.After(now.Add(45 * time.Minute)) {
		t.Errorf("an order that is due was given until %v", after.PayBy)
	}
}

// An unpaid order can be extended twice. The deadline of its hold moves with it.
func TestBatch_ExtendDeadline(t *testing.T) {
	for _, c := range []struct {
		name, story  string
		seenDeadline time.Duration // the deadline that the client saw, since placement
		err          error
		changed      bool
		payBy        time.Duration
		left         int
	}{
		{"once", "", time.Minute, nil, true, 6 * time.Minute, 1},
		{"twice", "more:1m", 6 * time.Minute, nil, true, 11 * time.Minute, 0},
		{"three times", "more:1m more:6m", 11 * time.Minute, ordering.ErrNoExtensionLeft, false, 11 * time.Minute, 0},
		{"the same again", "more:1m", time.Minute, nil, false, 6 * time.Minute, 1},
		{"the same again when none is left", "more:1m more:6m", 6 * time.Minute, nil, false, 11 * time.Minute, 0},
		{"another deadline than there is", "", time.Hour, nil, false, time.Minute, 2},
		{"while a page waits", "redirect:1", time.Minute, nil, true, 6 * time.Minute, 1},
		{"after a failure", "said:FAILED", time.Minute, nil, true, 6 * time.Minute, 1},
		{"at the last moment", "pass:59999ms", time.Minute, nil, true, 6 * time.Minute, 1},
		{"when it expires", "pass:1m", time.Minute, ordering.ErrTooLate, false, time.Minute, 2},
		{"too late", "pass:1h", time.Minute, ordering.ErrTooLate, false, time.Minute, 2},
		{"while money is taken", "redirect:1 confirm", time.Minute, ordering.ErrConfirming, false, time.Minute, 0},
		{"paid", "said:PAID", time.Minute, ordering.ErrAlreadyPaid, false, time.Minute, 0},
		{"cancelled", "end:USER_CANCELED", time.Minute, ordering.ErrNotPayable, false, time.Minute, 0},
		{"to be given back", "end:USER_CANCELED then other then said:PAID", time.Minute, ordering.ErrNotPayable, false, time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			before, hold := p.order(), p.b.Deadlines["o-a"]
			p.do(&ordering.ExtendDeadline{OrderID: "o-a", PayBy: now.Add(c.seenDeadline)})
			o := p.order()
			if !errors.Is(p.r.Err, c.err) || p.r.Changed != c.changed || o.ExtensionsLeft() != c.left || !o.PayBy.Equal(now.Add(c.payBy)) {
				t.Errorf("changed %v, %v, to be paid by %v, %d more", p.r.Changed, p.r.Err, o.PayBy.Sub(now), o.ExtensionsLeft())
			}
			if moved := o.ExpiresAt.Sub(before.ExpiresAt); moved != o.PayBy.Sub(before.PayBy) {
				t.Errorf("expires %v later", moved)
			}
			if c.changed {
				hold = o.ExpiresAt
			}
			if p.b.Deadlines["o-a"] != hold || (o.Version > before.Version) != c.changed {
				t.Errorf("its hold ends at %v; version %d after %d", p.b.Deadlines["o-a"], o.Version, before.Version)
			}
			p.balanced()
		})
	}
	if got := batch().Decide([]ordering.Command{&ordering.ExtendDeadline{OrderID: "none"}})[0]; !errors.Is(got.Err, ordering.ErrNotFound) {
		t.Errorf("an unknown order: %v", got.Err)
	}
}
