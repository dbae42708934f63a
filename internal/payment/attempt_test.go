package payment_test

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
)

// A success always takes effect and is never undone, a repeated report changes nothing, and REDIRECTED replaces only
// states in which the outcome is open.
func TestAttempt_Settle(t *testing.T) {
	all := []payment.State{
		payment.Created, payment.Redirected, payment.Confirming, payment.Unknown, payment.Review, payment.Paid, payment.Failed,
		payment.Canceled,
	}
	now := time.UnixMilli(1)
	for _, from := range all {
		for _, to := range append(all[1:], payment.Approved) {
			a := payment.Attempt{State: from, GatewayRef: "old"}
			want := from != payment.Paid && from != to
			switch to {
			case payment.Approved:
				want = false
			case payment.Unknown:
				want = from == payment.Confirming
			case payment.Redirected:
				want = from == payment.Confirming || from == payment.Unknown
			}
			if changed := a.Settle(to, "new", now); changed != want {
				t.Errorf("Settle from %s to %s = %v, want %v", from, to, changed, want)
			}
			final := to == payment.Paid || to == payment.Failed || to == payment.Canceled
			if want && (a.State != to || a.SettledAt.IsZero() == final || a.GatewayRef != "new") {
				t.Errorf("Settle from %s to %s: attempt %+v, want the new state and reference", from, to, a)
			}
			if want && a.CheckAt.IsZero() != final && to != payment.Created {
				t.Errorf("Settle from %s to %s: next check at %v, want one unless it is final", from, to, a.CheckAt)
			}
			if !want && (a.State != from || a.GatewayRef != "old") {
				t.Errorf("refused Settle from %s to %s left %+v, want the old state and reference", from, to, a)
			}
		}
	}
}

// Of concurrent callers that read the same state, one may send the capture request.
func TestAttempt_StartConfirm(t *testing.T) {
	states := []payment.State{
		payment.Created, payment.Redirected, payment.Approved, payment.Confirming, payment.Unknown, payment.Review, payment.Paid,
		payment.Failed, payment.Canceled,
	}
	for _, stored := range states {
		for _, from := range states {
			open := from == payment.Redirected || from == payment.Confirming || from == payment.Unknown
			a := payment.Attempt{State: stored}
			if got, want := a.StartConfirm(from, time.UnixMilli(1)), open && stored == from; got != want {
				t.Errorf("StartConfirm(%s) in state %s = %v, want %v", from, stored, got, want)
			} else if got && a.State != payment.Confirming || !got && a.State != stored {
				t.Errorf("StartConfirm(%s) in state %s has set %s", from, stored, a.State)
			}
		}
	}
}

// The first page is kept, because a guest may already be there.
func TestAttempt_Redirect(t *testing.T) {
	a := payment.Attempt{State: payment.Created}
	if !a.Redirect(payment.Page{URL: "one", Ref: "1"}, time.UnixMilli(1)) || a.State != payment.Redirected {
		t.Fatalf("attempt after Redirect = %+v, want REDIRECTED", a)
	}
	if a.Redirect(payment.Page{URL: "two", Ref: "2"}, time.UnixMilli(2)) || a.URL != "one" || a.GatewayRef != "1" {
		t.Errorf("attempt after a second Redirect = %+v, want the first page", a)
	}
}

// A failed attempt may have been paid with another card, or by a confirmation whose response was lost: it is checked
// once more.
func TestAttempt_failedOnce(t *testing.T) {
	now := time.UnixMilli(1)
	for method, want := range map[payment.Method]time.Duration{payment.VNPay: time.Hour, payment.LINEPay: time.Hour, payment.Sandbox: 0} {
		a := payment.Attempt{Method: method, State: payment.Redirected}
		a.Settle(payment.Failed, "", now)
		if want == 0 != a.CheckAt.IsZero() || want != 0 && a.CheckAt.Sub(now) != want {
			t.Errorf("check of %s after its failure at %v, want after %v", method, a.CheckAt, want)
		}
		a = payment.Attempt{Method: method, State: payment.Created}
		if !a.Settle(payment.Failed, "", now) || !a.CheckAt.IsZero() {
			t.Errorf("check of %s at %v after its page was refused, want none: no guest has a page", method, a.CheckAt)
		}
	}
}

// A gateway is checked at growing intervals, and finally not at all. An attempt that waits for the guest is checked until a
// check ends it.
func TestAttempt_NextCheck(t *testing.T) {
	made := time.UnixMilli(0)
	for _, c := range []struct {
		method payment.Method
		state  payment.State
		checks int
		age    time.Duration
		want   time.Duration // 0 for never
	}{
		{payment.VNPay, payment.Redirected, 0, 2 * time.Minute, 5 * time.Minute},
		{payment.VNPay, payment.Redirected, 9, 81 * time.Minute, time.Hour},
		{payment.LINEPay, payment.Redirected, 0, 2 * time.Minute, time.Minute},
		{payment.LINEPay, payment.Unknown, 0, time.Minute, 5 * time.Second},
		{payment.LINEPay, payment.Unknown, 2, time.Minute, 20 * time.Second},
		{payment.LINEPay, payment.Unknown, 99, time.Minute, time.Minute},
		{payment.LINEPay, payment.Unknown, 99, 2 * time.Hour, time.Hour},
		{payment.VNPay, payment.Review, 0, time.Hour, time.Hour},
		{payment.VNPay, payment.Review, 0, 27 * time.Hour, 0},
		{payment.VNPay, payment.Failed, 30, time.Hour, time.Hour},
		{payment.VNPay, payment.Failed, 0, 10 * time.Minute, time.Hour},
		{payment.LINEPay, payment.Failed, 0, 5 * time.Hour, 5 * time.Hour},
		{payment.VNPay, payment.Failed, 0, 27 * time.Hour, 0},
		{payment.VNPay, payment.Unknown, 0, 27 * time.Hour, 0},
		{payment.VNPay, payment.Redirected, 30, 26 * time.Hour, time.Hour},
		{payment.VNPay, payment.Redirected, 30, 27 * time.Hour, 27 * time.Hour},
		{payment.LINEPay, payment.Redirected, 30, 54 * time.Hour, 54 * time.Hour},
	} {
		a := payment.Attempt{Method: c.method, State: c.state, Checks: c.checks, CreatedAt: made}
		now := made.Add(c.age)
		got := a.NextCheck(now)
		if c.want == 0 && !got.IsZero() || c.want != 0 && got.Sub(now) != c.want {
			t.Errorf("NextCheck of %+v = %v, want %v later", c, got, c.want)
		}
	}
}

// An attempt that waits for the guest ends when no gateway's page can take its money any more. Others keep their state.
func TestAttempt_GiveUp(t *testing.T) {
	made := time.UnixMilli(0)
	for _, state := range []payment.State{
		payment.Created, payment.Redirected, payment.Confirming, payment.Unknown, payment.Review, payment.Paid, payment.Failed,
		payment.Canceled,
	} {
		for _, age := range []time.Duration{0, 25 * time.Hour, 26 * time.Hour, 26*time.Hour + time.Millisecond, 1000 * time.Hour} {
			a := payment.Attempt{Method: payment.VNPay, State: state, CreatedAt: made, GatewayRef: "7", CheckAt: made.Add(age)}
			before, now := a, made.Add(age)
			want := state == payment.Redirected && age > 26*time.Hour
			if got := a.GiveUp(now); got != want {
				t.Errorf("GiveUp of %s after %v = %v, want %v", state, age, got, want)
			}
			if !want && a != before {
				t.Errorf("GiveUp of %s after %v has left %+v, want no change", state, age, a)
			}
			if want && (a.State != payment.Canceled || !a.SettledAt.Equal(now) || !a.CheckAt.IsZero() || a.GatewayRef != "7") {
				t.Errorf("GiveUp of %s after %v has left %+v, want CANCELED without another check", state, age, a)
			}
		}
	}
}

func TestRefund(t *testing.T) {
	now := time.UnixMilli(1000)
	r := payment.Refund{Method: payment.Counter, State: payment.RefundDue}
	r.Approve("user:7", "cold", now)
	if r.State != payment.RefundDone || r.DoneAt != now || r.By != "user:7" || r.Note != "cold" {
		t.Errorf("refund from the till = %+v, want DONE by user:7", r)
	}
	r = payment.Refund{Method: payment.LINEPay, State: payment.RefundDue}
	r.Approve("user:7", "cold", now)
	if r.State != payment.RefundSending || r.SendAt != now || !r.DoneAt.IsZero() {
		t.Errorf("refund at a gateway = %+v, want SENDING now", r)
	}
	if !r.SetResult(payment.RefundRefused, "", "1164", now) || r.Code != "1164" || !r.SendAt.IsZero() {
		t.Errorf("refused refund = %+v, want code 1164 and no next attempt", r)
	}
	if !r.SetResult(payment.RefundDone, "portal", "", now) || r.SetResult(payment.RefundRefused, "", "", now) {
		t.Errorf("refund after DONE and then REFUSED = %+v, want DONE", r)
	}
	for tries, want := range map[int]time.Duration{0: time.Minute, 3: 8 * time.Minute, 30: 2 * time.Hour, 40: 2 * time.Hour} {
		r.Tries = tries
		if got := r.RetryAt(now).Sub(now); got != want || r.Exhausted() != (tries >= 40) {
			t.Errorf("RetryAt after %d tries = %v, exhausted %v, want %v and exhausted from 40 on", tries, got, r.Exhausted(), want)
		}
	}
	r = payment.Refund{Method: payment.VNPay, State: payment.RefundUnknown, Tries: 40, Sent: true, PriorRefunds: []string{"1"}}
	r.Approve("user:7", "not in the portal", now)
	if r.State != payment.RefundSending || r.Exhausted() || !r.Sent || r.PriorRefunds == nil {
		t.Errorf("approved again = %+v, want SENDING, sent before", r)
	}
}

func TestMethods_Check(t *testing.T) {
	for _, c := range []struct {
		offered []payment.Method
		method  payment.Method
		ok      bool
	}{
		{nil, payment.Counter, true}, {nil, payment.Sandbox, false},
		{[]payment.Method{payment.Sandbox}, payment.Sandbox, true}, {[]payment.Method{payment.Sandbox}, payment.VNPay, false},
		{[]payment.Method{payment.VNPay}, payment.VNPay, true}, {nil, "", false}, {nil, "counter", false},
	} {
		err := payment.NewMethods(c.offered...).Check(c.method)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, payment.ErrMethod) {
			t.Errorf("Check(%q) with %v: error %v, want success %t", c.method, c.offered, err, c.ok)
		}
	}
}

func TestMethod_CheckAmount(t *testing.T) {
	for _, c := range []struct {
		method   payment.Method
		amount   int64
		currency money.Currency
		ok       bool
	}{
		{payment.Counter, 0, money.EUR, true}, {payment.VNPay, 4_999, money.VND, false}, {payment.VNPay, 5_000, money.VND, true},
		{payment.VNPay, 999_999_999, money.VND, true}, {payment.VNPay, 1_000_000_000, money.VND, false},
		{payment.VNPay, 5_000, money.TWD, false}, {payment.LINEPay, 1, money.TWD, true}, {payment.LINEPay, 0, money.TWD, false},
		{payment.LINEPay, 1, money.VND, false}, {payment.LINEPay, 1, money.THB, true},
	} {
		if err := c.method.CheckAmount(c.amount, c.currency); (err == nil) != c.ok {
			t.Errorf("CheckAmount of %+v: error %v, want success %t", c, err, c.ok)
		}
	}
}
