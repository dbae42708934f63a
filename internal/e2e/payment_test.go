package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

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
