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
	if d := s.menu().dish(pho); d.Remaining == nil || *d.Remaining != left || d.SoldOut {
		s.t.Errorf("the menu does not offer the last %d: %+v", left, d)
	}
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
