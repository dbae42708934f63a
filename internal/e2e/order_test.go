package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// shortWindow makes unpaid orders expire within the time of a test.
func shortWindow(window, grace time.Duration) settings {
	return settings{"PAYMENT_WINDOW": window.String(), "EXPIRY_GRACE": grace.String()}
}

// A party's order is held, a payment uses the units, and a cancellation or expiry puts them back on sale, to the last
// unit (I1, I3, I10).
func TestOrder_paths(t *testing.T) { onInstallations(t, story, embedded, servers, pair, cluster) }

func story(t *testing.T, k kind) {
	const limit = 10
	grace := time.Second
	s := bare(t, k, shortWindow(3*time.Second, grace)) // the only test whose servers load the demo themselves
	s.useRelease()
	s.startDemo()
	s.quota(pho, limit)
	g := s.guest(0)
	meal := []line{{ItemID: pho, Qty: 2, Notes: "no onion"}, {ItemID: phoGa, Qty: 1}, {ItemID: bun, Qty: 1}}

	kept := g.mustPlace(t, meal...)
	if kept.Status != "PLACED" || kept.PaymentStatus != "UNPAID" || kept.Total != s.price(meal) {
		t.Errorf("a new order costs %d by the menu and is answered as %+v", s.price(meal), kept)
	}
	s.pay(kept.ID)
	dropped := g.mustPlace(t, meal...)
	g.cancel(dropped.ID).want(t, http.StatusOK, "")
	forgotten := g.mustPlace(t, meal...)
	s.awaitExpiry(g, forgotten, grace)

	for id, want := range map[string]string{kept.ID: "PAID", dropped.ID: "CANCELED", forgotten.ID: "CANCELED"} {
		if o := g.get(id).order(t); o.PaymentStatus != want || len(o.Items) != len(meal) {
			t.Errorf("an order that should be %s with %d lines is %+v", want, len(meal), o)
		}
	}
	s.awaitConsistent()
	s.wantStock(pho, limit, 0, 2)
	s.buyOut(g, limit-2)
	s.wantStock(pho, limit, 0, limit)
	s.awaitConsistent()
	s.awaitPublished()
	s.awaitReport(day{Placed: 4, Paid: 2, Canceled: 2, Revenue: kept.Total + s.price([]line{{ItemID: pho, Qty: limit - 2}})})
}

// clockSlack is the tolerated difference between a server's derived database time and this process's clock on a busy
// machine.
const clockSlack = 250 * time.Millisecond

// awaitExpiry waits for an unpaid order to expire: not before the time in the guest's response, and no later after the
// deadline than promised.
func (s *installation) awaitExpiry(g guest, o order, grace time.Duration) {
	s.t.Helper()
	deadline := o.PayBy.Add(grace)
	s.await(time.Until(deadline.Add(expiryLag)), func() error {
		now, seen := g.get(o.ID).order(s.t), time.Now()
		if now.Status != "CANCELED" {
			return fmt.Errorf("%v after its deadline the order is %s", time.Since(deadline), now.Status)
		}
		if at := now.when("CANCELED"); at.Before(deadline) || seen.Add(clockSlack).Before(o.PayBy) {
			s.t.Errorf("an order to be paid by %v was ended at %v", o.PayBy, at)
		}
		if now.CancelReason != "EXPIRED" || now.PaymentStatus != "CANCELED" {
			s.t.Errorf("an overdue order ended as %+v", now)
		}
		return nil
	})
}

// buyOut buys all that is left of the item with a quota, and expects the next order to be refused.
func (s *installation) buyOut(g guest, left int64) {
	s.t.Helper()
	// Another process of the installation may still have the counters of a moment ago.
	s.await(patience, func() error {
		if d := s.menu().dish(pho); d.Remaining == nil || *d.Remaining != left || d.SoldOut {
			return fmt.Errorf("the menu does not offer the last %d: %+v", left, d)
		}
		return nil
	})
	s.pay(g.mustPlace(s.t, line{ItemID: pho, Qty: left}).ID)
	wantSoldOut(s.t, g.place(g.request(line{ItemID: pho, Qty: 1})))
	s.await(patience, func() error {
		if d := s.menu().dish(pho); !d.SoldOut {
			return fmt.Errorf("the menu still offers %+v", d)
		}
		return nil
	})
}

// wantSoldOut expects the refusal of one unit of the item with a quota, of which none is left.
func wantSoldOut(t testing.TB, a answer) {
	t.Helper()
	p, _ := a.want(t, http.StatusConflict, "sold_out").problem()
	if len(p.Lines) != 1 || p.Lines[0].ItemID != pho || p.Lines[0].Requested != 1 || p.Lines[0].Available != 0 {
		t.Errorf("the refusal does not name the sold-out item: %v", a)
	}
}

// payAtCounter records a payment that staff received at the counter.
func (s *installation) payAtCounter(id string, amount int64) answer {
	return s.staff(http.MethodPost, "/api/orders/"+id+"/payments", map[string]any{"method": counter, "amount": amount})
}

// The counter accepts the exact total of an order, from staff only, once. A paid order cannot be cancelled.
func TestCounter(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		g, other := s.guest(0), s.guest(0)
		o := g.mustPlace(t, line{ItemID: pho, Qty: 1})
		path, body := "/api/orders/"+o.ID+"/payments", map[string]any{"method": counter, "amount": o.Total}

		s.send(http.MethodPost, path, body).want(t, http.StatusUnauthorized, "unauthenticated")
		s.send(http.MethodPost, path, body, "Authorization", "Bearer "+g.token).
			want(t, http.StatusUnauthorized, "unauthenticated")
		s.payAtCounter(o.ID, o.Total-1).want(t, http.StatusUnprocessableEntity, "amount_mismatch")
		if o = g.get(o.ID).order(t); o.PaymentStatus != "UNPAID" {
			t.Fatalf("refused money has made the order %s", o.PaymentStatus)
		}
		if paid := s.payAtCounter(o.ID, o.Total).want(t, http.StatusCreated, "").order(t); paid.PaymentStatus != "PAID" {
			t.Errorf("an order that was paid at the counter is %s", paid.PaymentStatus)
		}
		s.payAtCounter(o.ID, o.Total).want(t, http.StatusConflict, "already_paid")
		g.cancel(o.ID).want(t, http.StatusConflict, "not_cancelable")

		o = g.mustPlace(t, line{ItemID: pho, Qty: 1})
		path = "/api/orders/" + o.ID + "/cancel"
		other.cancel(o.ID).want(t, http.StatusForbidden, "not_your_order")
		s.send(http.MethodPost, path, map[string]string{}).want(t, http.StatusUnauthorized, "unauthenticated")
		s.staff(http.MethodPost, path, map[string]string{}).want(t, http.StatusOK, "")
		if o = g.get(o.ID).order(t); o.Status != "CANCELED" || o.CancelReason != "STAFF_CANCELED" {
			t.Errorf("an order that staff has cancelled is %s, %s", o.Status, o.CancelReason)
		}
		s.awaitConsistent()
	}, embedded, servers)
}

// A payment after the deadline takes the units again if there are any. Otherwise it becomes a refund that guests, staff
// and alerts can see (I6).
func TestLatePayment(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, shortWindow(time.Second, 0))
		s.quota(pho, 2)
		g := s.guest(0)
		one := line{ItemID: pho, Qty: 1}

		revived := g.mustPlace(t, one)
		s.awaitExpiry(g, revived, 0)
		s.pay(revived.ID)
		if o := g.get(revived.ID).order(t); o.Status != "PLACED" || o.PaymentStatus != "PAID" {
			t.Errorf("late money has made the order %s, %s though there was room", o.Status, o.PaymentStatus)
		}
		s.wantStock(pho, 2, 0, 1)

		late := g.mustPlace(t, one)
		s.awaitExpiry(g, late, 0)
		s.awaitConsistent()
		s.pay(g.mustPlace(t, one).ID)
		s.gateway(late.ID, "SUCCESS").want(t, http.StatusOK, "")
		o := g.get(late.ID).order(t)
		if o.PaymentStatus != "REFUND_DUE" || len(o.Refunds) != 1 || o.Refunds[0].Amount != o.Total {
			t.Errorf("a late payment for a sold-out item made the order %+v", o)
		}
		s.await(patience, func() error {
			if n := s.metric("refund_obligation_open"); n != 1 {
				return fmt.Errorf("the alarm counts %d refunds that are due", n)
			}
			return nil
		})
		s.wantStock(pho, 2, 0, 2)
		s.awaitConsistent()
	}, embedded, servers)
}

// Without the sandbox there is no mock callback, and no order can be paid by it.
func TestSandbox_off_has_no_mock_callback(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := bare(t, k, nil)
		s.must("demo", "load")
		s.servers[0].args = nil
		s.servers[0].start()
		s.readMenu()
		g := s.guest(0)
		w := g.request(line{ItemID: pho, Qty: 1})
		g.place(w).want(t, http.StatusUnprocessableEntity, "payment_method_unavailable")
		w.PaymentMethod = counter
		o := g.place(w).want(t, http.StatusCreated, "").order(t)
		s.gateway(o.ID, "SUCCESS").want(t, http.StatusNotFound, "not_found")
		if o = g.get(o.ID).order(t); o.PaymentStatus != "UNPAID" {
			t.Errorf("the order is %s", o.PaymentStatus)
		}
	}, embedded, servers)
}

// A request that is sent a hundred times at once, to any process, has one effect and one response. The same idempotency
// key with another body is refused (I11).
func TestRepetition(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		g := s.guest(0)
		w := g.request(line{ItemID: pho, Qty: 2}, line{ItemID: phoGa, Qty: 1})
		answers := make([]answer, 100)
		inParallel(len(answers), func(i int) { answers[i] = g.place(w) })

		statuses := map[int]int{}
		first := answers[0].order(t)
		for _, a := range answers {
			statuses[a.status]++
			if string(a.body) != string(answers[0].body) {
				t.Errorf("answered %s and %s", answers[0].body, a.body)
			}
		}
		if statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] != len(answers)-1 {
			t.Errorf("statuses: %v", statuses)
		}
		w.Items[0].Qty = 1
		inParallel(len(answers), func(i int) { answers[i] = g.place(w) })
		for _, a := range answers {
			a.want(t, http.StatusUnprocessableEntity, "idempotency_mismatch")
		}
		if l := s.stock(pho); l.Held != 2 || l.Used != 0 {
			t.Errorf("one order of two units holds %d and has used %d", l.Held, l.Used)
		}
		if o := g.get(first.ID).order(t); o.Number != first.Number || o.Status != "PLACED" {
			t.Errorf("the order is %+v", o)
		}
		s.awaitConsistent()
	}, embedded, servers, pair)
}
