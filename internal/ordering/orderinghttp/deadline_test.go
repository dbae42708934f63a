package orderinghttp_test

import (
	"net/http"
	"testing"
	"time"

	"comanda/internal/payment"
	"comanda/internal/redisdb"
)

// due is an order as its payer's routes return it.
type due struct {
	ID            string
	PaymentStatus string
	PayBy         time.Time
	MoreTime      int
}

func (h *testServer) moreTime(id string, shown time.Time, want int) due {
	h.t.Helper()
	var d due
	h.ask(http.MethodPost, "/cis/order/"+id+"/more-time", map[string]any{"payBy": shown}, want, &d)
	return d
}

// TestExtendDeadline checks that a guest can extend the deadline twice, that a payment page opened after the first deadline
// still works, and that a repeated request uses up no extension.
func TestExtendDeadline(t *testing.T) {
	eachEngine(t, "VND", func(h *testServer) {
		var o due
		id := h.order(payment.VNPay).ID
		h.ask(http.MethodGet, "/cis/order/"+id, nil, http.StatusOK, &o)
		first := o.PayBy
		if o.MoreTime != 2 || first.Sub(h.Now()) != 15*time.Minute {
			t.Errorf("order = %+v, want two extensions, payable for 15 minutes", o)
		}
		h.Advance(14 * time.Minute)
		for range 2 {
			if o = h.moreTime(id, first, http.StatusOK); o.MoreTime != 1 || o.PayBy.Sub(first) != 5*time.Minute {
				t.Errorf("extended order = %+v, want one extension left, 5 minutes more", o)
			}
		}
		h.Advance(3 * time.Minute)
		if n, err := h.orders.ExpireOverdue(t.Context()); n != 0 || err != nil {
			t.Errorf("%d ended before their time, %v", n, err)
		}
		if o = h.moreTime(id, o.PayBy, http.StatusOK); o.MoreTime != 0 || o.PayBy.Sub(first) != 10*time.Minute {
			t.Errorf("extended order = %+v, want no extension left, 10 minutes more", o)
		}
		h.moreTime(id, o.PayBy, http.StatusConflict)
		h.balanced()
		h.press(h.again(id, payment.VNPay).Payment.RedirectURL, "pay")
		h.wantRows("order PLACED/PAID refunded 0", "attempt VNPAY REDIRECTED", "attempt VNPAY PAID", "report CALLBACK PAID",
			"event order.paid")
		h.moreTime(id, o.PayBy, http.StatusConflict)
	})
}

// TestExtendDeadline_ends checks that an extended deadline also passes, and that the order's units are then released.
func TestExtendDeadline_ends(t *testing.T) {
	eachEngine(t, "VND", func(h *testServer) {
		var o due
		id := h.orderOf(payment.VNPay, quota).ID
		h.ask(http.MethodGet, "/cis/order/"+id, nil, http.StatusOK, &o)
		h.moreTime(id, o.PayBy, http.StatusOK)
		h.expire() // 17 minutes
		if h.ask(http.MethodGet, "/cis/order/"+id, nil, http.StatusOK, &o); o.PaymentStatus != "UNPAID" {
			t.Errorf("order = %+v, want UNPAID", o)
		}
		h.Advance(5 * time.Minute)
		h.moreTime(id, o.PayBy, http.StatusConflict) // the deadline has passed, although the sweeper has not run yet
		h.expire()
		h.moreTime(id, o.PayBy, http.StatusConflict)
		h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY REDIRECTED", "event order.canceled")
		h.orderOf(payment.VNPay, quota)
	})
}

// TestExtendDeadline_refuses checks that only the guest who placed an order can extend its deadline, and only with a valid
// body.
func TestExtendDeadline_refuses(t *testing.T) {
	eachEngine(t, "VND", func(h *testServer) {
		var o due
		id := h.order(payment.VNPay).ID
		path := "/cis/order/" + id
		h.ask(http.MethodGet, path, nil, http.StatusOK, &o)
		body := map[string]any{"payBy": o.PayBy}
		if status, text := h.post(http.MethodPost, path+"/more-time", "friend", body, nil); status != http.StatusForbidden {
			t.Errorf("a friend: %d %s", status, text)
		}
		h.ask(http.MethodPost, "/cis/order/06gvsv4adlo01am6obvdlo01to/more-time", body, http.StatusNotFound, nil)
		for _, bad := range []any{
			nil, map[string]any{}, map[string]any{"payBy": "soon"}, map[string]any{"payBy": 5},
			map[string]any{"payBy": o.PayBy, "minutes": 60},
		} {
			h.ask(http.MethodPost, path+"/more-time", bad, http.StatusUnprocessableEntity, nil)
		}
		before := o.PayBy
		if h.ask(http.MethodGet, path, nil, http.StatusOK, &o); !o.PayBy.Equal(before) || o.MoreTime != 2 {
			t.Errorf("order = %+v, want two extensions and payBy %v", o, before)
		}
	})
}

// TestMember_ExtendDeadline checks that members can extend the deadline of their own orders.
func TestMember_ExtendDeadline(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop, _ *redisdb.DB) {
		s.Member(t, 7)
		s.Member(t, 8)
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"101","quantity":3}`).want(t, 201, "")
		id, _ := s.ask(t, "7", "POST", "/cart/checkout", checkout("a", "")).want(t, 201, "").body["orderId"].(string)
		path := "/orders/" + id + "/more-time"
		shown, _ := s.ask(t, "7", "GET", "/orders/"+id, "").want(t, 200, "").body["payBy"].(string)
		body := `{"payBy":"` + shown + `"}`
		s.ask(t, "8", "POST", path, body).want(t, 404, "order_not_found")
		s.ask(t, "", "POST", path, body).want(t, 401, "unauthenticated")
		given := s.ask(t, "7", "POST", path, body).want(t, 200, "")
		before, _ := time.Parse(time.RFC3339, shown)
		now, _ := given.body["payBy"].(string)
		if is, err := time.Parse(time.RFC3339, now); err != nil || is.Sub(before) != 5*time.Minute || given.body["moreTime"] != 1.0 {
			t.Errorf("extension = %s, %v, want 5 minutes more and one extension left", given.text, err)
		}
		if given.body["kind"] != "DELIVERY" || len(given.body["items"].([]any)) != 1 {
			t.Errorf("extension = %s, want a delivery with one item", given.text)
		}
		s.ask(t, "7", "POST", "/orders/"+id+"/cancel", "").want(t, 200, "")
		s.ask(t, "7", "POST", path, `{"payBy":"`+now+`"}`).want(t, 409, "not_payable")
	}, 10)
}
