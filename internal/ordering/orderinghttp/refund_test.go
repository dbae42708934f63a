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
	"comanda/internal/payment"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/sim/vnpaysim"
)

// refund requests a refund as the staff and checks the status. Amount 0 refunds the rest.
func (h *testServer) refund(order string, amount int64, want int) {
	h.t.Helper()
	body := map[string]any{"reason": "cold"}
	if amount != 0 {
		body["amount"] = amount
	}
	h.ask(http.MethodPost, "/api/orders/"+order+"/refunds", body, want, nil)
}

// finish sets the state of the newest refund.
func (h *testServer) finish(order string, state payment.RefundState, want int) {
	h.t.Helper()
	all := h.read("SELECT id FROM refund")
	h.ask(http.MethodPost, "/api/orders/"+order+"/refunds/"+all[len(all)-1],
		map[string]string{"state": string(state), "reason": "portal"}, want, nil)
}

// paid places an order of 10,000 and pays it through a gateway.
func (h *testServer) paid(m payment.Method) placed {
	h.t.Helper()
	o := h.order(m)
	h.press(o.Payment.RedirectURL, "pay")
	return o
}

// refundedBy returns the amount that the gateway has refunded, and in how many parts.
func (h *testServer) refundedBy(m payment.Method) (amount string, pieces int) {
	if m == payment.VNPay {
		p := h.vnpay.Payments()[0]
		return formatted(p.Refunded), p.Refunds
	}
	p := h.line.Payments()[0]
	return p.Refunded, p.Refunds
}

func formatted(n int64) string {
	text := ""
	for ; n > 0 || text == ""; n /= 10 {
		text = string(rune('0'+n%10)) + text
	}
	return text
}

func (h *testServer) wantBack(m payment.Method, amount string, pieces int) {
	h.t.Helper()
	if got, n := h.refundedBy(m); got != amount || n != pieces {
		h.t.Errorf("%s has given back %s in %d pieces, want %s in %d", m, got, n, amount, pieces)
	}
}

// eachGateway runs a test with a testServer of each gateway, and with the result of paymentRows for a paid order.
func eachGateway(t *testing.T, test func(h *testServer, m payment.Method, paid []string)) {
	t.Helper()
	for _, c := range []struct {
		method   payment.Method
		currency money.Currency
		paid     []string
	}{
		{payment.VNPay, money.VND, paidByVNPay[1:]}, {payment.LINEPay, money.TWD, paidByLINEPay[1:]},
	} {
		t.Run(string(c.method), func(t *testing.T) {
			eachEngine(t, c.currency, func(h *testServer) { test(h, c.method, c.paid) })
		})
	}
}

var codes = map[payment.Method]string{payment.VNPay: "00", payment.LINEPay: "0000"}

// TestRefund_parts checks that partial refunds add up, and that a refund beyond the rest is rejected.
func TestRefund_parts(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		for _, amount := range []any{0, -1, "3000", 0.5} { // the rest is requested by omitting the field
			body := map[string]any{"amount": amount, "reason": "cold"}
			h.ask(http.MethodPost, "/api/orders/"+o.ID+"/refunds", body, http.StatusUnprocessableEntity, nil)
		}
		h.refund(o.ID, 3000, http.StatusCreated)
		h.refund(o.ID, 2000, http.StatusCreated)
		h.refund(o.ID, 5001, http.StatusConflict)
		var detail struct{ VisitID string }
		h.ask(http.MethodGet, "/cis/order/"+o.ID, nil, http.StatusOK, &detail)
		var table struct {
			Orders []struct{ TotalPrice, Refunded int64 }
		}
		h.ask(http.MethodGet, "/cis/visit/"+detail.VisitID+"/orders", nil, http.StatusOK, &table)
		if len(table.Orders) != 1 || table.Orders[0].TotalPrice != 10_000 || table.Orders[0].Refunded != 5000 {
			h.t.Errorf("orders of the table: %+v", table.Orders)
		}
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 5000", "refund STAFF 3000 SENDING", "refund STAFF 2000 SENDING")
		h.refunds(time.Second) // one after the other
		h.wantBack(m, "3000", 1)
		h.refunds(time.Second)
		h.wantBack(m, "5000", 2)
		h.refund(o.ID, 5001, http.StatusConflict)
		h.refund(o.ID, 0, http.StatusCreated)
		h.refund(o.ID, 1, http.StatusConflict)
		h.wantRowsAnd(paid, "order PLACED/REFUND_DUE refunded 10000", "refund STAFF 5000 SENDING",
			"refund STAFF 3000 DONE "+codes[m], "refund STAFF 2000 DONE "+codes[m], "2 event order.refunded")
		h.refunds(time.Second)
		h.refunds(time.Hour)
		h.wantBack(m, "10000", 3)
		h.wantRowsAnd(paid, "order PLACED/REFUNDED refunded 10000", "refund STAFF 5000 DONE "+codes[m],
			"refund STAFF 3000 DONE "+codes[m], "refund STAFF 2000 DONE "+codes[m], "3 event order.refunded")
	})
}

// TestRefund_again checks that a partial refund requested again after a lost response is sent once.
func TestRefund_again(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		ask := func(key string, amount int64, want int) (got struct{ ID, State string }) {
			h.t.Helper()
			h.ask(http.MethodPost, "/api/orders/"+o.ID+"/refunds",
				map[string]any{"amount": amount, "reason": "cold", "clientTxnId": key}, want, &got)
			return got
		}
		first := ask("a", 3000, http.StatusCreated)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if again := ask("a", 3000, http.StatusCreated); again.ID != first.ID {
					h.t.Errorf("%+v after %+v", again, first)
				}
			})
		}
		all.Wait()
		ask("a", 2000, http.StatusUnprocessableEntity)
		ask("", 3000, http.StatusUnprocessableEntity)
		ask(strings.Repeat("k", 65), 3000, http.StatusUnprocessableEntity)
		h.refunds(time.Second)
		if again := ask("a", 3000, http.StatusCreated); again.ID != first.ID || again.State != "DONE" {
			h.t.Errorf("when it has arrived: %+v after %+v", again, first)
		}
		ask("b", 3000, http.StatusCreated)
		h.refunds(time.Second)
		h.wantBack(m, "6000", 2)
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 6000", "2 refund STAFF 3000 DONE "+codes[m], "2 event order.refunded")
	})
}

// TestRefund_note checks that only the staff see the note of a refund.
func TestRefund_note(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, _ []string) {
		o := h.paid(m)
		h.refund(o.ID, 2000, http.StatusCreated)
		type shown struct {
			Refunds []struct {
				Reason, Note string
			}
		}
		for path, want := range map[string]string{"/api/orders/": "cold", "/cis/order/": ""} {
			var d shown
			h.ask(http.MethodGet, path+o.ID, nil, http.StatusOK, &d)
			if len(d.Refunds) != 1 || d.Refunds[0].Reason != "STAFF" || d.Refunds[0].Note != want {
				t.Errorf("%s shows %+v", path, d)
			}
		}
	})
}

// breakRefunds drops the responses to the next refunds. With moves, the gateway refunds before.
func (h *testServer) breakRefunds(m payment.Method, times int, moves bool) {
	h.t.Helper()
	if m == payment.LINEPay {
		h.lineFaults(linepaysim.Fault{Call: linepaysim.Refund, Times: times, Response: linepaysim.Lost, Moves: moves})
		return
	}
	h.vnpayFaults(vnpaysim.Faults{LoseAnswers: times})
}

// TestRefund_sentAgain checks that a refund with a lost response is sent again and refunded once.
func TestRefund_sentAgain(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		h.refund(o.ID, 0, http.StatusCreated)
		h.breakRefunds(m, 3, true)
		h.refunds(0)
		h.wantBack(m, "10000", 1)
		h.wantRowsAnd(paid, "order PLACED/REFUND_DUE refunded 10000", "refund STAFF 10000 SENDING")
		h.refunds(59 * time.Second) // before the next retry is due
		h.finish(o.ID, payment.RefundSending, http.StatusOK)
		for range 5 {
			h.refunds(time.Hour)
		}
		h.wantBack(m, "10000", 1)
		code := codes[m]
		if m == payment.VNPay {
			code = "94" // VNPay is still processing the refund
		}
		h.wantRowsAnd(paid, "order PLACED/REFUNDED refunded 10000", "refund STAFF 10000 DONE "+code,
			"event order.refunded")
	})
}

// TestRefund_refused checks that a rejected refund can be sent again or recorded as made by hand.
func TestRefund_refused(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		refuse := func(code string) {
			h.t.Helper()
			h.vnpayFaults(vnpaysim.Faults{RefundCode: code})
			h.lineFaults(linepaysim.Fault{Call: linepaysim.Refund, Times: 1, Code: "1163"})
		}
		code := map[payment.Method]string{payment.VNPay: "99", payment.LINEPay: "1163"}[m]
		o := h.paid(m)
		h.refund(o.ID, 4000, http.StatusCreated)
		refuse("99")
		h.refunds(0)
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 4000", "refund STAFF 4000 REFUSED "+code)
		h.refunds(24 * time.Hour) // a rejected refund is never retried automatically
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 4000", "refund STAFF 4000 REFUSED "+code)
		h.finish(o.ID, payment.RefundDone, http.StatusOK)
		h.finish(o.ID, payment.RefundSending, http.StatusOK) // no effect on a completed refund
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 4000", "refund STAFF 4000 DONE", "event order.refunded")
		h.wantBack(m, "0", 0)

		h.refund(o.ID, 0, http.StatusCreated)
		refuse("99")
		h.refunds(0)
		h.vnpayFaults(vnpaysim.Faults{})
		h.finish(o.ID, payment.RefundSending, http.StatusOK)
		h.refunds(0)
		h.wantBack(m, "6000", 1)
		h.wantRowsAnd(paid, "order PLACED/REFUNDED refunded 10000", "refund STAFF 4000 DONE",
			"refund STAFF 6000 DONE "+codes[m], "2 event order.refunded")
	})
}

// TestRefund_abandoned checks that a refund is given up after days without its gateway and can then be made by hand.
func TestRefund_abandoned(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		h.refund(o.ID, 0, http.StatusCreated)
		if m == payment.VNPay {
			delete(h.settings.Gateways, m) // as if the gateway were not configured any more
		} else {
			h.lineFaults(linepaysim.Fault{Response: linepaysim.Broken})
		}
		for range 42 {
			h.refunds(2 * time.Hour)
		}
		h.wantRowsAnd(paid, "order PLACED/REFUND_DUE refunded 10000", "refund STAFF 10000 REFUSED UNREACHABLE")
		h.finish(o.ID, payment.RefundDone, http.StatusOK)
		h.wantRowsAnd(paid, "order PLACED/REFUNDED refunded 10000", "refund STAFF 10000 DONE", "event order.refunded")
	})
}

// exceptions returns the refunds on the staff's list of exceptions.
func (h *testServer) exceptions() []string {
	h.t.Helper()
	var e struct {
		Refunds []struct {
			Amount           int64
			State, Reference string
		}
	}
	h.ask(http.MethodGet, "/api/payments/exceptions?branchId=1", nil, http.StatusOK, &e)
	var all []string
	for _, r := range e.Refunds {
		all = append(all, fmt.Sprint(r.Amount, " ", r.State, " ", r.Reference))
	}
	slices.Sort(all)
	return all
}

func (h *testServer) wantExceptions(want ...string) {
	h.t.Helper()
	if got := h.exceptions(); !slices.Equal(got, want) {
		h.t.Errorf("the staff are to look at %q, want %q", got, want)
	}
}

// TestRefund_without_response checks that a refund whose outcome stays unknown for days is not sent again until the
// staff have checked it.
func TestRefund_without_response(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		h.refund(o.ID, 0, http.StatusCreated)
		h.breakRefunds(m, 100, false)
		for range 42 {
			h.refunds(2 * time.Hour)
		}
		h.wantRowsAnd(paid, "order PLACED/REFUND_DUE refunded 10000", "refund STAFF 10000 UNKNOWN UNREACHABLE")
		h.wantExceptions("10000 UNKNOWN UNREACHABLE")
		amount, pieces := h.refundedBy(m)
		h.vnpayFaults(vnpaysim.Faults{})
		h.lineFaults()
		h.refunds(24 * time.Hour)
		h.wantBack(m, amount, pieces)
		h.finish(o.ID, payment.RefundSending, http.StatusOK) // LINE Pay's portal does not list it; VNPay refunded it at once
		h.refunds(0)
		h.wantBack(m, "10000", 1)
		if m == payment.VNPay {
			h.wantExceptions("10000 UNKNOWN 99")
			h.finish(o.ID, payment.RefundDone, http.StatusOK)
		}
		h.wantExceptions()
	})
}

// TestRefund_killedAtTheLastTry checks that a refund whose process was killed during the last try is found and closed,
// and that the refunds behind it are sent.
func TestRefund_killedAtTheLastTry(t *testing.T) {
	eachGateway(t, func(h *testServer, m payment.Method, paid []string) {
		o := h.paid(m)
		h.refund(o.ID, 4000, http.StatusCreated)
		h.refund(o.ID, 3000, http.StatusCreated)
		h.breakRefunds(m, 1, false)
		h.refunds(time.Second)
		for range 39 {
			h.Advance(2 * time.Hour)
			if due, err := h.orders.Payments.ClaimRefunds(h.t.Context(), h.Now(), 64); len(due) != 1 || err != nil {
				h.t.Fatalf("ClaimRefunds = %+v, %v, want one", due, err) // then the process is killed
			}
		}
		amount, pieces := h.refundedBy(m)
		h.wantRowsAnd(paid, "order PLACED/PAID refunded 7000", "refund STAFF 4000 SENDING", "refund STAFF 3000 SENDING")
		h.refunds(2 * time.Hour)
		h.wantBack(m, amount, pieces)
		h.wantExceptions("3000 SENDING ", "4000 UNKNOWN UNREACHABLE")
		h.refunds(time.Second)
		h.wantExceptions("4000 UNKNOWN UNREACHABLE")
	})
}

// TestRefund_partial_outcome_unknown checks that a partial refund with an unknown outcome at VNPay is not sent on
// another day, because that could refund twice.
func TestRefund_partial_outcome_unknown(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.paid(payment.VNPay)
		h.refund(o.ID, 4000, http.StatusCreated)
		h.refunds(time.Second)
		h.refund(o.ID, 4000, http.StatusCreated)
		h.breakRefunds(payment.VNPay, 1, true)
		for range 3 {
			h.refunds(time.Hour) // "in progress" may refer to the first request
		}
		h.wantExceptions("4000 SENDING ")
		h.refunds(24 * time.Hour)
		h.wantBack(payment.VNPay, "8000", 2)
		h.wantExceptions("4000 UNKNOWN ANOTHER_DAY")
		h.finish(o.ID, payment.RefundSending, http.StatusOK) // still not sent
		h.refunds(time.Second)
		h.wantBack(payment.VNPay, "8000", 2)
		h.wantExceptions("4000 UNKNOWN ANOTHER_DAY")
		h.finish(o.ID, payment.RefundDone, http.StatusOK) // the staff have seen it in the portal
		h.wantRowsAnd(paidByVNPay[1:], "order PLACED/PAID refunded 8000", "refund STAFF 4000 DONE 00", "refund STAFF 4000 DONE",
			"2 event order.refunded")
	})
}

// TestRefund_byHandInThePortal checks that a part that LINE Pay rejected and the staff refunded in the portal is not
// mistaken for a later part of the same amount, even if responses are lost.
func TestRefund_byHandInThePortal(t *testing.T) {
	lostConfirmation := func(moves bool) linepaysim.Fault {
		return linepaysim.Fault{Call: linepaysim.Refund, Times: 1, Response: linepaysim.Lost, Moves: moves}
	}
	eachEngine(t, money.TWD, func(h *testServer) {
		for name, faults := range map[string][]linepaysim.Fault{"": nil, "sent": {lostConfirmation(true)}, "not sent": {lostConfirmation(false)}} {
			h.run(name, func() {
				o := h.paid(payment.LINEPay)
				h.refund(o.ID, 3000, http.StatusCreated)
				h.lineFaults(linepaysim.Fault{Call: linepaysim.Refund, Times: 1, Code: "1163"})
				h.refunds(time.Second)
				h.wantExceptions("3000 REFUSED 1163")
				h.refundInPortal(payment.LINEPay, 3000)
				h.finish(o.ID, payment.RefundDone, http.StatusOK)
				h.refund(o.ID, 3000, http.StatusCreated)
				h.lineFaults(faults...)
				h.refunds(time.Second)
				h.refunds(2 * time.Minute)
				h.wantBack(payment.LINEPay, "6000", 2)
				h.refund(o.ID, 3000, http.StatusCreated)
				h.refunds(time.Second)
				h.wantBack(payment.LINEPay, "9000", 3)
				h.wantRowsAnd(paidByLINEPay[1:], "order PLACED/PAID refunded 9000", "refund STAFF 3000 DONE",
					"2 refund STAFF 3000 DONE 0000", "3 event order.refunded")
				if refs := h.read("SELECT DISTINCT gateway_ref FROM refund WHERE gateway_ref <> ''"); len(refs) != 2 {
					h.t.Errorf("LINE Pay's names of refunds are kept as %v", refs)
				}
			})
		}
	})
}

// TestRefund_portalNotNoted checks that an unrecorded refund in the portal stops later refunds until the staff have
// checked it.
func TestRefund_portalNotNoted(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		o := h.paid(payment.LINEPay)
		h.refundInPortal(payment.LINEPay, 3000)
		h.refund(o.ID, 3000, http.StatusCreated)
		h.refunds(time.Second)
		h.wantBack(payment.LINEPay, "3000", 1)
		h.wantExceptions("3000 REFUSED REFUNDED_ELSEWHERE")
		if sent := h.read("SELECT id FROM refund WHERE sent_before IS NOT NULL"); len(sent) != 0 {
			h.t.Error("it counts as sent") // a later try would send it, although the staff have not checked it
		}
		h.finish(o.ID, payment.RefundSending, http.StatusOK) // the staff have checked it: the portal's refund was another one
		h.refunds(time.Second)
		h.wantBack(payment.LINEPay, "6000", 2)
		h.wantExceptions()
	})
}

// TestRefund_counter checks that a counter payment is refunded at the counter, at once.
func TestRefund_counter(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.order(payment.VNPay)
		h.refund(o.ID, 0, http.StatusConflict)
		h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments", map[string]any{"method": "COUNTER", "amount": 10_000}, http.StatusCreated, nil)
		h.refund(o.ID, 1, http.StatusCreated)
		h.finish(o.ID, payment.RefundSending, http.StatusUnprocessableEntity)
		h.refund(o.ID, 0, http.StatusCreated)
		h.refunds(time.Minute)
		h.wantRows("order PLACED/REFUNDED refunded 10000", "attempt VNPAY REDIRECTED", "attempt COUNTER PAID", "report STAFF PAID",
			"refund STAFF 1 DONE", "refund STAFF 9999 DONE", "event order.paid", "2 event order.refunded")
		h.press(o.Payment.RedirectURL, "pay") // then the guest also pays online
		h.wantRows("order PLACED/REFUNDED refunded 10000", "attempt VNPAY PAID", "attempt COUNTER PAID", "report STAFF PAID",
			"refund STAFF 1 DONE", "refund STAFF 9999 DONE", "refund PAID_TWICE 10000 DUE", "report CALLBACK PAID",
			"event order.paid", "2 event order.refunded", "event order.refund_due")
	})
}

// TestPayment_judged checks that the result that the staff read in a gateway's portal counts like the gateway's own
// report.
func TestPayment_judged(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.order(payment.VNPay)
		h.wantIPN(h.notice(h.ref(o.ID), "vnp_ResponseCode", "07"), "00")
		h.wantRows("order PLACED/UNPAID refunded 0", "attempt VNPAY REVIEW", "report CALLBACK REVIEW")
		path := "/api/orders/" + o.ID + "/payments/" + h.ref(o.ID)
		h.ask(http.MethodPost, path, map[string]string{"state": "PAID"}, http.StatusUnprocessableEntity, nil)
		h.ask(http.MethodPost, path, map[string]string{"state": "PAID", "reason": "seen"}, http.StatusOK, nil)
		h.ask(http.MethodPost, path, map[string]string{"state": "FAILED", "reason": "no"}, http.StatusOK, nil)
		h.wantRows("order PLACED/PAID refunded 0", "attempt VNPAY PAID", "report CALLBACK REVIEW", "report STAFF PAID",
			"report STAFF REPEATED", "event order.paid")
	})
}

// TestPayment_askedNow checks that the staff can have the gateway queried at once.
func TestPayment_askedNow(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		h.vnpayFaults(vnpaysim.Faults{Lose: 10})
		o := h.order(payment.VNPay)
		h.press(o.Payment.RedirectURL, "leave")
		var d placed
		h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments/"+h.ref(o.ID)+"/check", nil, http.StatusOK, &d)
		if d.PaymentStatus != "PAID" {
			h.t.Errorf("order after the check = %+v, want PAID", d)
		}
		h.wantRows(slices.Concat(paidByVNPay[:2], []string{"report CHECK PAID", "event order.paid"})...)
	})
}
