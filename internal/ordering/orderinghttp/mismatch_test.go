package orderinghttp_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/sim/linepaysim"
)

// wantMismatches checks the staff's list of amount mismatches, each as "asked captured state".
func (h *testServer) wantMismatches(want ...string) {
	h.t.Helper()
	var e struct {
		Mismatches []struct {
			ID, OrderID, Currency, CapturedCurrency, State string
			Amount, Captured                               int64
		}
	}
	h.ask(http.MethodGet, "/api/payments/exceptions?branchId=1", nil, http.StatusOK, &e)
	var all []string
	for _, m := range e.Mismatches {
		all = append(all, fmt.Sprint(m.Amount, " ", m.Currency, " ", m.Captured, " ", m.CapturedCurrency, " ", m.State))
		if m.ID != h.ref(m.OrderID) {
			h.t.Errorf("%+v belongs to no attempt", m)
		}
	}
	slices.Sort(all)
	if !slices.Equal(all, want) {
		h.t.Errorf("the staff are to look at %q, want %q", all, want)
	}
}

// clear clears the mismatches of an order's payment and checks the status.
func (h *testServer) clear(order, reason string, want int) {
	h.t.Helper()
	h.ask(http.MethodPost, "/api/orders/"+order+"/payments/"+h.ref(order)+"/mismatch", map[string]string{"reason": reason}, want, nil)
}

// cleared returns the number of audit log entries about cleared mismatches that contain text.
func (h *testServer) cleared(text string) int {
	h.t.Helper()
	n := 0
	for _, after := range h.read("SELECT after FROM audit_log WHERE action = 'payment_mismatch_cleared'") {
		if strings.Contains(after, text) {
			n++
		}
	}
	return n
}

// counterByLabels counts how often each combination of labels was reported.
type counterByLabels struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counterByLabels) Count(labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[strings.Join(labels, " ")]++
}

// TestPayment_mismatch checks that an amount that was captured but not requested pays for nothing and stays on the
// staff's list until cleared, once per amount despite repeated reports.
func TestPayment_mismatch(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		var counted counterByLabels
		h.orders.Metrics = &ordering.Metrics{Created: &counterByLabels{}, Transition: &counterByLabels{}, Callback: &counted}
		o := h.order(payment.VNPay)
		ref := h.ref(o.ID)
		h.wantIPN(h.notice(ref, "vnp_Amount", "900000", "vnp_ResponseCode", "24", "vnp_TransactionStatus", "02"), "04")
		h.wantMismatches() // nothing was captured
		for range 3 {
			h.wantIPN(h.notice(ref, "vnp_Amount", "900000"), "04")
		}
		h.wantMismatches("10000 VND 9000 VND REDIRECTED")
		h.wantIPN(h.notice(ref, "vnp_Amount", "1100000", "vnp_ResponseCode", "07"), "00")
		h.wantMismatches("10000 VND 11000 VND REVIEW", "10000 VND 9000 VND REVIEW")
		h.clear(o.ID, "", http.StatusUnprocessableEntity)
		h.wantIPN(h.notice(ref), "00")
		h.wantMismatches("10000 VND 11000 VND PAID", "10000 VND 9000 VND PAID") // the correct amount clears nothing
		h.clear(o.ID, "given back at the bank", http.StatusOK)
		h.clear(o.ID, "given back at the bank", http.StatusOK)
		h.wantIPN(h.notice(ref, "vnp_Amount", "900000"), "04")
		h.wantMismatches()
		h.wantIPN(h.notice(ref, "vnp_Amount", "800000"), "04")
		h.wantMismatches("10000 VND 8000 VND PAID")
		h.clear(o.ID, "asked VNPay", http.StatusOK)
		h.wantMismatches()
		if h.cleared("given back at the bank") != 1 || h.cleared("asked VNPay") != 1 || h.cleared("") != 2 {
			h.t.Error("the audit log does not say who has cleared it, or says so twice")
		}
		if counted.n["VNPAY amount_mismatch"] != 6 {
			h.t.Errorf("the figures say %v", counted.n)
		}
		h.wantRows("order PLACED/PAID refunded 0", "attempt VNPAY PAID", "6 report CALLBACK AMOUNT_MISMATCH", "report CALLBACK REVIEW",
			"report CALLBACK PAID", "event order.paid", "6 event order.amount_mismatch")
	})
}

// TestPayment_mismatchAtLINEPay checks that an attempt for which LINE Pay captured too little is under review and the
// staff see the amount. Repeated checks change nothing.
func TestPayment_mismatchAtLINEPay(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		h.lineFaults(linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Response: linepaysim.Short})
		o := h.order(payment.LINEPay)
		h.press(o.Payment.RedirectURL, "pay")
		for range 3 {
			h.reconcile(2 * time.Hour)
		}
		h.wantMismatches("10000 TWD 9999 TWD REVIEW")
		h.clear(o.ID, "the rest was paid in cash", http.StatusOK)
		h.reconcile(2 * time.Hour)
		h.wantMismatches()
	})
}

// TestPayment_mismatch_without_order checks that clearing a payment without a mismatch writes no audit entry, and that
// unknown payments and orders are not found.
func TestPayment_mismatch_without_order(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.order(payment.VNPay)
		h.clear(o.ID, "nothing to be seen", http.StatusOK)
		if n := h.cleared(""); n != 0 {
			h.t.Errorf("%d entries of the audit log are about nothing", n)
		}
		body := map[string]string{"reason": "what is this?"}
		h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments/06gvsv4adlo01am6obvdlo01to/mismatch", body, http.StatusNotFound, nil)
		h.ask(http.MethodPost, "/api/orders/06gvsv4adlo01am6obvdlo01to/payments/"+h.ref(o.ID)+"/mismatch", body, http.StatusNotFound, nil)
	})
}
