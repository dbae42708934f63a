package orderinghttp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
)

// refundInPortal refunds an amount in the gateway's portal and returns the portal's reference.
func (h *testServer) refundInPortal(m payment.Method, amount int64) string {
	h.t.Helper()
	if m == payment.VNPay {
		if number := h.vnpay.RefundInPortal(h.vnpay.Payments()[0].TxnRef, amount); number != "" {
			return number
		}
	} else if number := h.line.RefundInPortal(h.line.Payments()[0].TransactionID, json.Number(formatted(amount))); number != "" {
		return number
	}
	h.t.Fatal("the portal does not work")
	return ""
}

// recordManualRefund records a refund that was made in the portal. Amount 0 refunds the rest.
func (h *testServer) recordManualRefund(order string, amount int64, reference string, want int) {
	h.t.Helper()
	body := map[string]any{"reason": "the guest called", "byHand": true, "reference": reference}
	if amount != 0 {
		body["amount"] = amount
	}
	h.ask(http.MethodPost, "/api/orders/"+order+"/refunds", body, want, nil)
}

// TestRefund_notedByHand checks that a refund that the staff made in the portal is recorded once and never sent, and
// that a later refund is distinguished from it.
func TestRefund_notedByHand(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		number := h.refundInPortal(m, 3000)
		h.recordManualRefund(o.ID, 3000, number, http.StatusCreated)
		h.recordManualRefund(o.ID, 3000, " "+number+" ", http.StatusCreated) // a repeated request
		h.recordManualRefund(o.ID, 0, number, http.StatusCreated)
		h.recordManualRefund(o.ID, 2000, number, http.StatusConflict)
		h.refunds(time.Hour)
		h.wantBack(m, "3000", 1)
		h.wantExceptions()
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 3000", "refund STAFF 3000 DONE", "event order.refunded")
		audited := h.read("SELECT after FROM audit_log WHERE action = 'refund_decided'")
		if len(audited) != 1 || !strings.Contains(audited[0], `"portalReference":"`+number+`"`) ||
			!strings.Contains(audited[0], `"number":"A-001"`) {
			h.t.Errorf("the audit log says %v", audited)
		}

		h.refund(o.ID, 3000, http.StatusCreated)
		h.refunds(time.Second)
		h.wantBack(m, "6000", 2)
		sent := h.read("SELECT gateway_ref FROM refund WHERE gateway_ref <> ''")
		if len(sent) != 1 {
			h.t.Fatalf("the gateway's names are %v", sent)
		}
		h.recordManualRefund(o.ID, 3000, sent[0], http.StatusCreated) // the reference of the refund that this system sent itself
		h.recordManualRefund(o.ID, 4001, "another", http.StatusConflict)
		h.recordManualRefund(o.ID, 4000, h.refundInPortal(m, 4000), http.StatusCreated)
		h.wantBack(m, "10000", 3)
		h.wantRowsAnd(paid, "order PLACED/REFUNDED refunded 10000", "refund STAFF 3000 DONE", "refund STAFF 3000 DONE "+codes[m],
			"refund STAFF 4000 DONE", "3 event order.refunded")
	})
}

// TestRefund_notedByHandMisread checks that a mistyped portal reference blocks nothing: the amount identifies the
// refund.
func TestRefund_notedByHandMisread(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		h.refundInPortal(m, 3000)
		h.recordManualRefund(o.ID, 3000, "2026112100000000009", http.StatusCreated)
		h.refund(o.ID, 0, http.StatusCreated)
		h.refunds(time.Second)
		h.wantBack(m, "10000", 2)
		h.wantRowsAnd(paid, "order PLACED/REFUNDED refunded 10000", "refund STAFF 3000 DONE", "refund STAFF 7000 DONE "+codes[m],
			"2 event order.refunded")
	})
}

// TestRefund_notedByHandRefused checks that a refund by hand needs a reference, a refund to be sent must not have one,
// and counter payments have no portal.
func TestRefund_notedByHandRefused(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.paid(payment.VNPay)
		for _, reference := range []string{"", " ", "two\nlines", strings.Repeat("x", 101)} {
			h.recordManualRefund(o.ID, 1000, reference, http.StatusUnprocessableEntity)
		}
		h.ask(http.MethodPost, "/api/orders/"+o.ID+"/refunds", map[string]any{"reason": "cold", "reference": "14000009"},
			http.StatusUnprocessableEntity, nil)
		h.recordManualRefund(o.ID, 10_001, "14000009", http.StatusConflict)
		atCounter := h.orderOf(payment.VNPay, 5)
		h.recordManualRefund(atCounter.ID, 1000, "14000009", http.StatusConflict) // not paid yet
		h.ask(http.MethodPost, "/api/orders/"+atCounter.ID+"/payments", map[string]any{"method": "COUNTER", "amount": 5000}, http.StatusCreated, nil)
		h.recordManualRefund(atCounter.ID, 1000, "14000009", http.StatusUnprocessableEntity)
		if all := h.read("SELECT id FROM refund"); len(all) != 0 {
			h.t.Errorf("refunds were noted: %v", all)
		}
	})
}
