package ordering_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"comanda/internal/testenv"

	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/price"
	"comanda/internal/stock"
)

var (
	scope = stock.Scope{Branch: 1, Date: "2026-02-26"}
	now   = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
)

// batch returns a batch with a counter of 5 units of item 11, an open visit and a published menu version.
func batch() *ordering.Batch {
	n := 0
	b := ordering.NewBatch(now, func() string { n++; return fmt.Sprint("id", n) })
	b.Balances.LoadCount(scope, stock.Count{Item: 11, Cap: 5})
	b.Visits["v"], b.Versions[5] = true, true
	return b
}

func place(key string, qty int64) *ordering.Place {
	o := ordering.Order{
		ID: "o-" + key, HoldID: "o-" + key, Scope: scope, Kind: ordering.DineIn, VisitID: "v", GuestHash: "g", MenuVersionID: 5, ClientTxnID: key,
		Digest: fmt.Sprint(key, qty), Method: payment.Sandbox, Status: ordering.Placed, PaymentStatus: ordering.Unpaid,
		Total: 1000 * qty, Currency: "VND",
		ExpiresAt: now.Add(time.Minute), Version: 1, Items: []ordering.Item{{ItemID: 11, Qty: qty, Price: 1000}},
	}
	h, err := o.Hold(o.ID)
	if err != nil {
		panic(err)
	}
	return &ordering.Place{Order: o, Versions: []int64{o.MenuVersionID}, Hold: h}
}

func pay(key string) *ordering.Settle {
	return &ordering.Settle{
		OrderID: "o-" + key, NewID: "new-" + key, Method: payment.Sandbox, State: payment.Paid,
		Source: ordering.SourceCallback, Today: scope.Date,
	}
}

func end(key string, reason ordering.CancelReason) *ordering.End {
	return &ordering.End{OrderID: "o-" + key, Reason: reason}
}

// The payment window starts at the decision, even if the clock was set after pricing.
func TestBatch_window_follows_the_clock(t *testing.T) {
	for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
		b, c := batch(), place("a", 1)
		p := c
		p.Priced = now.Add(-step)
		p.Order.CreatedAt, p.Order.UpdatedAt = p.Priced, p.Priced
		p.Order.PayBy, p.Order.ExpiresAt = p.Priced.Add(time.Minute), p.Priced.Add(2*time.Minute)
		p.Hold.Until = p.Order.ExpiresAt
		o := b.Decide([]ordering.Command{c})[0].Order
		h, a := b.NewHolds[0].Hold, b.Attempts[o.ID][0]
		if !o.CreatedAt.Equal(now) || !o.UpdatedAt.Equal(now) || !a.CreatedAt.Equal(now) || !o.PayBy.Equal(now.Add(time.Minute)) ||
			!o.ExpiresAt.Equal(now.Add(2*time.Minute)) || !h.Until.Equal(o.ExpiresAt) {
			t.Errorf("after a step of %v: placed %v, to be paid by %v, over at %v, held until %v", step, o.CreatedAt, o.PayBy,
				o.ExpiresAt, h.Until)
		}
	}
}

// Each command of a batch sees the effects of those before it.
func TestBatch_commandsSeeOneAnother(t *testing.T) {
	b := batch()
	r := b.Decide([]ordering.Command{
		place("a", 3), place("b", 3), place("c", 2), pay("a"), end("c", ordering.UserCanceled), place("d", 2), place("e", 1),
	})
	for i, want := range []error{nil, ordering.ErrSoldOut, nil, nil, nil, nil, ordering.ErrSoldOut} {
		if !errors.Is(r[i].Err, want) {
			t.Errorf("command %d: %v, want %v", i, r[i].Err, want)
		}
	}
	if n := []int64{r[0].Order.Number, r[2].Order.Number, r[5].Order.Number}; n[0] != 1 || n[1] != 2 || n[2] != 3 {
		t.Errorf("order numbers = %v, want 1, 2, 3: a refusal must not use one up", n)
	}
	testenv.Equal(t, 3, len(b.New))
}

// The limits on unpaid orders also count within a batch: by phone, visit and member.
func TestBatch_unpaidLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits ordering.Limits
		order  func(i int, o *ordering.Order)
	}{
		"phone": {ordering.Limits{UnpaidPerGuest: 2}, func(i int, o *ordering.Order) { o.VisitID = []string{"v", "w"}[i%2] }},
		"visit": {ordering.Limits{UnpaidPerVisit: 2}, func(i int, o *ordering.Order) { o.GuestHash = fmt.Sprint("guest", i) }},
		"member": {ordering.Limits{UnpaidPerGuest: 2}, func(_ int, o *ordering.Order) {
			o.Kind, o.VisitID, o.GuestHash, o.UserID = ordering.Delivery, "", "", 7
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := batch()
			b.Visits["w"] = true
			commands := make([]ordering.Command, 4)
			for i := range commands {
				p := place(fmt.Sprint(i), 1)
				c.order(i, &p.Order)
				p.Limits, commands[i] = c.limits, p
			}
			results := b.Decide(commands)
			results = append(results, b.Decide([]ordering.Command{end("0", ordering.UserCanceled)})...)
			for i, want := range []error{nil, nil, ordering.ErrUnpaid, ordering.ErrUnpaid, nil} {
				if !errors.Is(results[i].Err, want) {
					t.Errorf("command %d: %v, want %v", i, results[i].Err, want)
				}
			}
		})
	}
}

// Only changes produce events and operations for the admission cache.
func TestBatch_repetitions_write_no_event(t *testing.T) {
	b := batch()
	b.Decide([]ordering.Command{place("a", 1), pay("a"), place("b", 1), end("b", ordering.UserCanceled)})
	events, ops := len(b.Events), len(b.Ops)
	r := b.Decide([]ordering.Command{
		place("a", 1), pay("a"), end("b", ordering.UserCanceled), end("b", ordering.Expired), end("a", ordering.Expired),
	})
	if len(b.Events) != events || len(b.Ops) != ops {
		t.Errorf("%d events and %d operations became %d and %d, want the same", events, ops, len(b.Events), len(b.Ops))
	}
	for i, c := range r {
		if c.Changed {
			t.Errorf("command %d has Changed, want no change", i)
		}
	}
	testenv.ErrorIs(t, ordering.ErrNotCancelable, r[4].Err, "cancelling a paid order")
}

func TestBatch_place_refusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ordering.Batch, *ordering.Place)
		want   error
	}{
		"closed visit":      {func(b *ordering.Batch, _ *ordering.Place) { delete(b.Visits, "v") }, ordering.ErrVisitClosed},
		"closed version":    {func(b *ordering.Batch, _ *ordering.Place) { delete(b.Versions, 5) }, ordering.ErrVersionClosed},
		"another body":      {func(b *ordering.Batch, p *ordering.Place) { b.Prior[key(p)] = &ordering.Order{Digest: "x"} }, ordering.ErrIdempotency},
		"buried lease":      {func(b *ordering.Batch, p *ordering.Place) { b.Balances.LoadHold(p.Hold, stock.Released) }, ordering.ErrRetry},
		"unpaid of a guest": {func(b *ordering.Batch, p *ordering.Place) { b.Unpaid["g"], p.Limits.UnpaidPerGuest = 2, 2 }, ordering.ErrUnpaid},
		"unpaid of a visit": {func(b *ordering.Batch, p *ordering.Place) { b.Unpaid["v"], p.Limits.UnpaidPerVisit = 2, 2 }, ordering.ErrUnpaid},
	} {
		t.Run(name, func(t *testing.T) {
			b, cmd := batch(), place("a", 1)
			c.change(b, cmd)
			if r := b.Decide([]ordering.Command{cmd}); !errors.Is(r[0].Err, c.want) {
				t.Errorf("%v, want %v", r[0].Err, c.want)
			}
			if len(b.New)+len(b.NewHolds)+len(b.ChangedAttempts)+len(b.Events)+len(b.Ops) != 0 {
				t.Error("a refusal has effects")
			}
		})
	}
}

func key(p *ordering.Place) ordering.IdempotencyKey {
	return ordering.IdempotencyKey{Branch: p.Order.Scope.Branch, ClientTxnID: p.Order.ClientTxnID}
}

// The state of the order decides whether captured money pays or is refunded (I6).
func TestBatch_settle(t *testing.T) {
	staff := func(amount int64) *ordering.Settle {
		c := pay("a")
		c.Source, c.Method, c.Amount = ordering.SourceStaff, payment.Counter, amount
		return c
	}
	second := func() *ordering.Settle { // an attempt with another method
		c := pay("a")
		c.Method, c.NewID = payment.Counter, "second"
		return c
	}
	late := func() *ordering.Settle {
		c := pay("a")
		c.Today = "2026-02-27"
		return c
	}
	for name, c := range map[string]struct {
		before []ordering.Command
		pay    ordering.Command
		want   ordering.PaymentStatus
		err    error
		refund payment.RefundReason // empty: none
		used   int64
	}{
		"on time":                      {pay: pay("a"), want: ordering.Paid, used: 3},
		"at the counter":               {pay: staff(3000), want: ordering.Paid, used: 3},
		"wrong amount at the counter":  {pay: staff(2999), want: ordering.Unpaid, err: payment.ErrAmount},
		"twice at the counter":         {before: []ordering.Command{staff(3000)}, pay: staff(3000), want: ordering.Paid, err: ordering.ErrAlreadyPaid, used: 3},
		"counter after cancel":         {before: []ordering.Command{end("a", ordering.UserCanceled)}, pay: staff(3000), want: ordering.PaymentCanceled, err: ordering.ErrNotPayable},
		"repeated report":              {before: []ordering.Command{pay("a")}, pay: pay("a"), want: ordering.Paid, used: 3},
		"a second attempt":             {before: []ordering.Command{pay("a")}, pay: second(), want: ordering.Paid, refund: payment.PaidTwice, used: 3},
		"cancelled by the guest":       {before: []ordering.Command{end("a", ordering.UserCanceled)}, pay: pay("a"), want: ordering.RefundDue, refund: payment.LateCanceled},
		"cancelled by the staff":       {before: []ordering.Command{end("a", ordering.StaffCanceled)}, pay: pay("a"), want: ordering.RefundDue, refund: payment.LateCanceled},
		"expired with room":            {before: []ordering.Command{end("a", ordering.Expired)}, pay: pay("a"), want: ordering.Paid, used: 3},
		"expired and sold out":         {before: []ordering.Command{end("a", ordering.Expired), place("b", 5)}, pay: pay("a"), want: ordering.RefundDue, refund: payment.LateSoldOut},
		"expired on the day before":    {before: []ordering.Command{end("a", ordering.Expired)}, pay: late(), want: ordering.RefundDue, refund: payment.LateClosed},
		"second money of an ended one": {before: []ordering.Command{end("a", ordering.Expired), late()}, pay: second(), want: ordering.RefundDue, refund: payment.PriorRefundDue},
	} {
		t.Run(name, func(t *testing.T) {
			b := batch()
			b.Decide([]ordering.Command{place("a", 3)})
			b.Now = b.Orders["o-a"].ExpiresAt
			b.Decide(c.before)
			refunds := len(b.NewRefunds)
			r := b.Decide([]ordering.Command{c.pay})[0]
			if !errors.Is(r.Err, c.err) || r.Order.PaymentStatus != c.want {
				t.Errorf("%s, %v; want %s, %v", r.Order.PaymentStatus, r.Err, c.want, c.err)
			}
			switch got := b.NewRefunds[refunds:]; {
			case c.refund == "" && len(got) != 0:
				t.Errorf("refunds = %+v, want none", got)
			case c.refund != "" && (len(got) != 1 || got[0].Reason != c.refund || got[0].Amount != 3000):
				t.Errorf("refunds %+v, want one of 3000 for %s", got, c.refund)
			}
			b.Balances.Deltas(func(_ stock.Key, counter stock.Counter) {
				testenv.Equal(t, c.used, counter.Used)
			})
		})
	}
}

// I12: a revived order has a new hold, and the released one stays released. The order keeps the time at which it
// expired.
func TestBatch_revive_creates_a_new_hold(t *testing.T) {
	b := batch()
	if r := b.Decide([]ordering.Command{place("a", 3), end("a", ordering.Expired)}); r[1].Changed {
		t.Error("expired before its deadline") // I10
	}
	ended := b.Orders["o-a"].ExpiresAt
	b.Now = ended
	b.Decide([]ordering.Command{end("a", ordering.Expired)})
	b.Now = ended.Add(time.Second)
	o := b.Decide([]ordering.Command{pay("a")})[0].Order
	if o.Status != ordering.Placed || o.CancelReason != "" || o.HoldID == "o-a" || !o.CanceledAt.Equal(ended) {
		t.Errorf("revived order = %+v, want PLACED with a new hold", o)
	}
	if s, _ := b.Balances.State("o-a"); s != stock.Released {
		t.Errorf("first hold is %s, want RELEASED", s)
	}
	if s, _ := b.Balances.State(o.HoldID); s != stock.Confirmed {
		t.Errorf("new hold is %s, want CONFIRMED", s)
	}
}

// Late money revives an expired order only if it could be placed now: the branch is open and not paused, and a
// table's visit is open.
func TestBatch_late_where_it_could_be_placed(t *testing.T) {
	for name, c := range map[string]struct {
		kind         ordering.Kind
		open, paused bool
		closed       error
		want         payment.RefundReason // empty: revived
	}{
		"open visit":                   {ordering.DineIn, true, false, nil, ""},
		"closed visit":                 {ordering.DineIn, false, false, nil, payment.LateVisitClosed},
		"paused branch":                {ordering.DineIn, true, true, nil, payment.LatePaused},
		"delivery":                     {ordering.Delivery, false, false, nil, ""},
		"delivery of a paused branch":  {ordering.Delivery, false, true, nil, payment.LatePaused},
		"pick-up":                      {ordering.PickUp, false, false, nil, ""},
		"pick-up from a paused branch": {ordering.PickUp, false, true, nil, payment.LatePaused},
		"closed branch":                {ordering.DineIn, true, false, catalog.ErrClosed, payment.LateClosed},
		"delivery of a closed branch":  {ordering.Delivery, false, false, catalog.ErrClosed, payment.LateClosed},
		"closed and paused branch":     {ordering.PickUp, false, true, catalog.ErrClosed, payment.LatePaused},
	} {
		t.Run(name, func(t *testing.T) {
			b := batch()
			b.Decide([]ordering.Command{place("a", 3)})
			o := b.Orders["o-a"]
			o.Kind, b.Now = c.kind, o.ExpiresAt
			if b.Visits["v"], b.Paused[scope.Branch] = c.open, c.paused; c.kind != ordering.DineIn {
				o.VisitID = ""
			}
			late := pay("a")
			late.Closed = c.closed
			r := b.Decide([]ordering.Command{end("a", ordering.Expired), late})
			want := ordering.Paid
			if c.want != "" {
				want = ordering.RefundDue
			}
			if o := r[1].Order; o.PaymentStatus != want || (o.Status == ordering.Canceled) != (c.want != "") {
				t.Errorf("%s, %s, want %s", o.Status, o.PaymentStatus, want)
			}
			var reason payment.RefundReason
			if len(b.NewRefunds) == 1 {
				reason = b.NewRefunds[0].Reason
			}
			if reason != c.want {
				t.Errorf("refunds %+v, want %q", b.NewRefunds, c.want)
			}
		})
	}
}

// A late success of an order with a total of 0 captures no money, so none is due for refund.
func TestBatch_late_without_money(t *testing.T) {
	b, free := batch(), place("a", 3)
	free.Order.Total, free.Order.Items[0].Price = 0, 0
	r := b.Decide([]ordering.Command{free, end("a", ordering.UserCanceled), pay("a")})[2]
	if r.Err != nil || r.Attempt.State != payment.Paid || r.Order.PaymentStatus != ordering.PaymentCanceled {
		t.Errorf("payment %s of an order that is %s, %v; want PAID, CANCELED", r.Attempt.State, r.Order.PaymentStatus, r.Err)
	}
	if len(b.NewRefunds) > 0 || b.Changed["o-a"] == nil {
		t.Errorf("refunds %+v, want none, and a new version of the order", b.NewRefunds)
	}
}

func TestBatch_failureChangesOnlyTheAttempt(t *testing.T) {
	b := batch()
	fail := pay("a")
	fail.State = payment.Failed
	r := b.Decide([]ordering.Command{place("a", 1), fail, pay("a")})
	if r[1].Order.PaymentStatus != ordering.Unpaid || r[1].Attempt.State != payment.Failed {
		t.Errorf("result of the failure = %+v, want UNPAID with a FAILED attempt", r[1])
	}
	if r[2].Order.PaymentStatus != ordering.Paid { // a signed success always wins over a failure
		t.Errorf("payment status after the success = %s, want PAID", r[2].Order.PaymentStatus)
	}
}

func TestBatch_attemptsAreLimited(t *testing.T) {
	b := batch()
	b.Decide([]ordering.Command{place("a", 1)})
	var last error
	for i := range payment.MaxAttempts {
		r := b.Decide([]ordering.Command{&ordering.AddAttempt{OrderID: "o-a", Attempt: payment.Attempt{ID: fmt.Sprint(i)}}})
		last = r[0].Err
	}
	if !errors.Is(last, payment.ErrAttempts) || len(b.Attempts["o-a"]) != payment.MaxAttempts {
		t.Errorf("error %v after %d attempts, want ErrAttempts after the maximum", last, len(b.Attempts["o-a"]))
	}
	counterPayment := pay("a")
	counterPayment.Method, counterPayment.Source, counterPayment.Amount = payment.Counter, ordering.SourceStaff, 1000
	if r := b.Decide([]ordering.Command{counterPayment})[0]; r.Err != nil || r.Order.PaymentStatus != ordering.Paid {
		t.Errorf("payment at the counter after them = %+v, want PAID", r)
	}
}

// Each discount replaces the attempt at the counter. The replaced ones do not use up the attempts of the guest.
func TestBatch_discountsUseNoAttempts(t *testing.T) {
	b := batch()
	b.Decide([]ordering.Command{place("a", 3)})
	for i := range payment.MaxAttempts {
		c := discountBy(price.Percent(fmt.Sprint(i + 1)))
		c.NewID = fmt.Sprint("d", i)
		if r := b.Decide([]ordering.Command{c})[0]; r.Err != nil || !r.Changed {
			t.Fatalf("discount %d: changed %v, %v", i+1, r.Changed, r.Err)
		}
	}
	var started int
	for i := range payment.MaxAttempts {
		try := ordering.AddAttempt{OrderID: "o-a", Attempt: payment.Attempt{ID: fmt.Sprint("t", i), Method: payment.VNPay}}
		r := b.Decide([]ordering.Command{&try})[0]
		if r.Err == nil {
			started++
		} else if !errors.Is(r.Err, payment.ErrAttempts) {
			t.Fatalf("attempt %d: %v", i+1, r.Err)
		}
	}
	// The attempt at the counter counts, as that of an order without a discount does.
	if started != payment.MaxAttempts-1 {
		t.Errorf("the guest can start %d attempts after %d discounts, want %d", started, payment.MaxAttempts, payment.MaxAttempts-1)
	}
}

func TestShortNumber(t *testing.T) {
	for n, want := range map[int64]string{
		1: "A-001", 42: "A-042", 999: "A-999", 1000: "B-001", 26 * 999: "Z-999", 26*999 + 1: "AA-001", 27*999 + 1: "AB-001",
	} {
		if got := ordering.ShortNumber(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestTally(t *testing.T) {
	b := batch()
	b.Decide([]ordering.Command{place("a", 1), place("b", 2), pay("b"), end("a", ordering.UserCanceled)})
	days, err := ordering.Tally(b.Events)
	if err != nil || len(days) != 1 {
		t.Fatalf("Tally = %+v, %v, want one day", days, err)
	}
	if want := (ordering.Day{Scope: scope, Placed: 2, Paid: 1, Canceled: 1, Revenue: 2000}); days[0] != want {
		t.Errorf("%+v, want %+v", days[0], want)
	}
	if _, err := ordering.Tally([]event.Event{{Type: event.OrderPaid.Name, Payload: []byte("{")}}); err == nil {
		t.Error("a broken payload was counted")
	}
}
