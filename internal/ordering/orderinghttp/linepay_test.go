package orderinghttp_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// paidByLINEPay is the result of paymentRows for an order paid once through LINE Pay.
var paidByLINEPay = []string{"order PLACED/PAID refunded 0", "attempt LINEPAY PAID", "report CALLBACK PAID", "event order.paid"}

// lostConfirmation returns a fault of one confirmation. If moves, LINE Pay captures the payment and its response is
// lost; otherwise the request is lost.
func lostConfirmation(moves bool) linepaysim.Fault {
	return linepaysim.Fault{Call: linepaysim.Confirm, Times: 1, Response: linepaysim.Lost, Moves: moves}
}

// outcomeUnknown is the result of paymentRows while the outcome of a LINE Pay confirmation is unknown.
var outcomeUnknown = []string{"order PLACED/CONFIRMING refunded 0", "attempt LINEPAY UNKNOWN", "report CALLBACK UNKNOWN"}

// TestLINEPay checks that a LINE Pay payment ends in the expected state for each of the guest's actions and each fault.
func TestLINEPay(t *testing.T) {
	type story struct {
		name     string
		faults   []linepaysim.Fault
		action   string
		page     string // the last page's text
		confirms int    // number of LINE Pay confirmations
		books    []string
	}
	stories := []story{
		{"paid", nil, "pay", "Paid", 1, paidByLINEPay},
		{"window closed", nil, "close", "", 0, []string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY REDIRECTED"}},
		{"approved and left", nil, "leave", "", 0, []string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY REDIRECTED"}},
		{"cancelled", nil, "cancel", "Checking", 0, []string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY REDIRECTED"}},
		{"declined", nil, "decline", "Checking", 0, []string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY REDIRECTED"}},
		{"answer lost", []linepaysim.Fault{lostConfirmation(true)}, "pay", "Checking", 1, outcomeUnknown},
		{"never arrived", []linepaysim.Fault{lostConfirmation(false)}, "pay", "Checking", 1, outcomeUnknown},
		{"garbled", []linepaysim.Fault{{Call: linepaysim.Confirm, Response: linepaysim.Garbled, Moves: true}}, "pay", "Checking", 1, outcomeUnknown},
		{"in work elsewhere", []linepaysim.Fault{{Call: linepaysim.Confirm, Code: "1198"}}, "pay", "Checking", 1, outcomeUnknown},
		{
			"card refused", []linepaysim.Fault{{Call: linepaysim.Confirm, Code: "1282"}}, "pay", "go through", 1,
			[]string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY FAILED", "report CALLBACK FAILED"},
		},
		{
			"our contract", []linepaysim.Fault{{Call: linepaysim.Confirm, Code: "1104"}}, "pay", "Checking", 1,
			[]string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY REDIRECTED", "report CALLBACK REDIRECTED"},
		},
		{
			"too little was taken", []linepaysim.Fault{{Call: linepaysim.Confirm, Response: linepaysim.Short}}, "pay", "Checking", 1,
			[]string{
				"order PLACED/UNPAID refunded 0", "attempt LINEPAY REVIEW", "report CALLBACK REVIEW", "event order.amount_mismatch",
			},
		},
	}
	eachEngine(t, money.TWD, func(h *testServer) {
		for _, c := range stories {
			h.run(c.name, func() {
				h.lineFaults(c.faults...)
				o := h.order(payment.LINEPay)
				if got := h.press(o.Payment.RedirectURL, c.action); !strings.Contains(got, c.page) {
					h.t.Errorf("the guest reads %s", got)
				}
				if got := h.calls.count("confirm"); got != c.confirms {
					h.t.Errorf("LINE Pay received %d confirmations", got)
				}
				h.wantRows(c.books...)
			})
		}
	})
}

// TestLINEPay_asked checks that the reconciler determines the unknown outcome of a confirmation and acts on it.
func TestLINEPay_asked(t *testing.T) {
	check := func(code string) linepaysim.Fault {
		return linepaysim.Fault{Call: linepaysim.Check, Times: 1, Code: code}
	}
	with := func(lines ...string) []string { return slices.Concat(lines, []string{"report CALLBACK UNKNOWN"}) }
	paidNow := with("order PLACED/PAID refunded 0", "attempt LINEPAY PAID", "report CHECK PAID", "event order.paid")
	paidAgain := with("order PLACED/PAID refunded 0", "attempt LINEPAY PAID", "report CALLBACK PAID", "event order.paid")
	type story struct {
		name   string
		faults []linepaysim.Fault
		after  []time.Duration
		books  []string
	}
	stories := []story{
		{"it was taken: 0123", []linepaysim.Fault{lostConfirmation(true)}, []time.Duration{5 * time.Second}, paidNow},
		{"it was not: 0110", []linepaysim.Fault{lostConfirmation(false)}, []time.Duration{5 * time.Second}, paidAgain},
		{
			"twice not", []linepaysim.Fault{lostConfirmation(false), lostConfirmation(false)}, []time.Duration{5 * time.Second, 5 * time.Second},
			append(slices.Clone(paidAgain), "report CALLBACK UNKNOWN"),
		},
		{
			"nothing is known: 0000", []linepaysim.Fault{lostConfirmation(true), check("0000")}, []time.Duration{5 * time.Second},
			with("order PLACED/UNPAID refunded 0", "attempt LINEPAY REDIRECTED", "report CHECK REDIRECTED"),
		},
		{
			"nothing is known, and then it is", []linepaysim.Fault{lostConfirmation(true), check("0000")},
			[]time.Duration{5 * time.Second, 2 * time.Minute}, append(slices.Clone(paidNow), "report CHECK REDIRECTED"),
		},
		{
			"ended: 0121", []linepaysim.Fault{lostConfirmation(false), check("0121")}, []time.Duration{5 * time.Second},
			with("order PLACED/UNPAID refunded 0", "attempt LINEPAY FAILED", "report CHECK FAILED"),
		},
		{
			"failed: 0122", []linepaysim.Fault{lostConfirmation(false), check("0122")}, []time.Duration{5 * time.Second},
			with("order PLACED/UNPAID refunded 0", "attempt LINEPAY FAILED", "report CHECK FAILED"),
		},
		{
			"not answered, and then it is", []linepaysim.Fault{lostConfirmation(true), {Call: linepaysim.Check, Times: 1, Response: linepaysim.Lost}},
			[]time.Duration{5 * time.Second, 5 * time.Second}, paidNow,
		},
		{"too early", []linepaysim.Fault{lostConfirmation(true)}, []time.Duration{4 * time.Second}, outcomeUnknown},
	}
	eachEngine(t, money.TWD, func(h *testServer) {
		for _, c := range stories {
			h.run(c.name, func() {
				h.lineFaults(c.faults...)
				h.press(h.order(payment.LINEPay).Payment.RedirectURL, "pay")
				for _, d := range c.after {
					h.reconcile(d)
				}
				h.wantRows(c.books...)
			})
		}
	})
}

// TestLINEPay_checkedWhileConfirming checks that the staff's check confirms nothing while a confirmation may be in
// progress, and that the reconciler confirms the payment once after the time limit of the earlier confirmation.
func TestLINEPay_checkedWhileConfirming(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		o := h.order(payment.LINEPay)
		h.press(o.Payment.RedirectURL, "leave")
		h.change("UPDATE order_info SET payment_status = 'CONFIRMING'") // as a killed process leaves it
		h.change(fmt.Sprint("UPDATE payment_attempt SET state = 'CONFIRMING', check_at = ", h.Now().Add(time.Minute).UnixMilli()))
		for range 2 {
			var d struct{ PaymentStatus string }
			h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments/"+h.ref(o.ID)+"/check", nil, http.StatusOK, &d)
			if n := h.calls.count("confirm"); n != 0 || d.PaymentStatus != "CONFIRMING" {
				h.t.Errorf("the order is %s, and LINE Pay received %d confirmations", d.PaymentStatus, n)
			}
		}
		h.reconcile(time.Minute)
		if n := h.calls.count("confirm"); n != 1 {
			h.t.Errorf("LINE Pay received %d confirmations", n)
		}
		h.wantRows("order PLACED/PAID refunded 0", "attempt LINEPAY PAID", "report CALLBACK PAID", "event order.paid")
	})
}

// TestLINEPay_leftAfterApproval checks that the reconciler captures an approved payment if the guest closed the browser
// after approval.
func TestLINEPay_leftAfterApproval(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		h.press(h.order(payment.LINEPay).Payment.RedirectURL, "leave")
		h.reconcile(2 * time.Minute)
		h.wantRows(paidByLINEPay...)
		h.reconcile(time.Hour)
		h.wantRows(paidByLINEPay...)
	})
}

// TestLINEPay_confirmedOnce checks that concurrent returns of several browsers, with or without cookies, capture the
// payment once.
func TestLINEPay_confirmedOnce(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		o := h.order(payment.LINEPay)
		h.press(o.Payment.RedirectURL, "leave")
		returnURL := h.url + "/payment/linepay/confirm?transactionId=" + h.line.Payments()[0].TransactionID + "&orderId=" + h.ref(o.ID)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if status, text := h.get(returnURL); status != http.StatusOK || !strings.Contains(text, "A-001") {
					h.t.Errorf("a browser is answered %d %s", status, text)
				}
			})
		}
		all.Wait()
		if n := h.calls.count("confirm"); n != 1 {
			h.t.Errorf("LINE Pay received %d confirmations", n)
		}
		h.wantRows(paidByLINEPay...)
		second := h.order(payment.LINEPay)
		h.press(second.Payment.RedirectURL, "twice") // the simulator sends a second browser at the same time
		h.awaitRow("order PLACED/PAID refunded 0")
		h.await(func() bool { return len(h.read("SELECT id FROM order_info WHERE payment_status = 'PAID'")) == 2 })
		if n := h.calls.count("confirm"); n != 2 {
			h.t.Errorf("LINE Pay received %d confirmations of two orders", n)
		}
		h.balanced()
	})
}

// TestLINEPay_notWantedAnyMore checks that an order that has ended is never confirmed, so that no money moves. A passed
// deadline or another attempt's payment is reason enough.
func TestLINEPay_notWantedAnyMore(t *testing.T) {
	type story struct {
		name string
		end  func(h *testServer, o placed)
		page string
		want []string
	}
	stories := []story{
		{"expired", func(h *testServer, _ placed) { h.expire() }, "has ended", []string{"order CANCELED/CANCELED refunded 0", "event order.canceled"}},
		{
			"due and not swept", func(h *testServer, _ placed) { h.Advance(17 * time.Minute) }, "Checking",
			[]string{"order PLACED/UNPAID refunded 0"},
		},
		{
			"cancelled", func(h *testServer, o placed) {
				h.ask(http.MethodPost, "/cis/order/"+o.ID+"/cancel", nil, http.StatusOK, nil)
			}, "has ended", []string{"order CANCELED/CANCELED refunded 0", "event order.canceled"},
		},
		{
			"paid at the counter", func(h *testServer, o placed) {
				h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments", map[string]any{"method": "COUNTER", "amount": 10_000},
					http.StatusCreated, nil)
			}, "Checking", []string{"order PLACED/PAID refunded 0", "attempt COUNTER PAID", "report STAFF PAID", "event order.paid"},
		},
	}
	eachEngine(t, money.TWD, func(h *testServer) {
		for _, c := range stories {
			h.run(c.name, func() {
				o := h.order(payment.LINEPay)
				c.end(h, o)
				if got := h.press(o.Payment.RedirectURL, "pay"); !strings.Contains(got, c.page) {
					h.t.Errorf("the guest reads %s", got)
				}
				for range 3 {
					h.reconcile(2 * time.Minute)
				}
				if h.calls.count("confirm") != 0 || h.line.Payments()[0].State == "PAID" {
					h.t.Errorf("money was taken: %+v", h.line.Payments()[0])
				}
				if got := h.read(paymentRows); !containsAll(got, append(c.want, "attempt LINEPAY FAILED", "attempt LINEPAY REDIRECTED")) {
					h.t.Errorf("the books: %q", got)
				}
			})
		}
	})
}

// TestLINEPay_neverCaptured checks that an attempt ends a day after its order if LINE Pay reports it as open, as approved and
// never captured, or does not know it any more.
func TestLINEPay_neverCaptured(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		for _, code := range []string{"0000", "0110", "1150"} {
			h.run(code, func() {
				h.order(payment.LINEPay)
				h.expire()
				h.lineFaults(linepaysim.Fault{Call: linepaysim.Check, Code: code})
				h.reconcile(25 * time.Hour)
				h.wantRows("order CANCELED/CANCELED refunded 0", "attempt LINEPAY REDIRECTED", "event order.canceled")
				h.reconcile(time.Hour)
				h.wantRows("order CANCELED/CANCELED refunded 0", "attempt LINEPAY CANCELED", "report CHECK CANCELED", "event order.canceled")
				if n := h.calls.count("confirm"); n != 0 {
					h.t.Errorf("LINE Pay received %d confirmations", n)
				}
			})
		}
	})
}

// containsAll reports whether got contains all lines of want. Lines about a LINE Pay attempt match in any state.
func containsAll(got, want []string) bool {
	attempts := 0
	for _, w := range want {
		found := slices.ContainsFunc(got, func(g string) bool { return strings.TrimSpace(g) == w })
		if strings.HasPrefix(w, "attempt LINEPAY") {
			if found {
				attempts++
			}
			continue
		}
		if !found {
			return false
		}
	}
	return attempts == 1
}

// TestLINEPay_takenAndExpired checks that a payment captured without a response restores an order that has ended
// meanwhile, or is refunded.
func TestLINEPay_takenAndExpired(t *testing.T) {
	type story struct {
		name     string
		meantime func(h *testServer)
		want     []string
	}
	stories := []story{
		{"free", func(*testServer) {}, []string{"order PLACED/PAID refunded 0", "event order.paid"}},
		{
			"sold out", func(h *testServer) { h.orderOf(payment.Counter, 11) },
			[]string{
				"order CANCELED/REFUND_DUE refunded 0", "order PLACED/UNPAID refunded 0", "attempt COUNTER CREATED",
				"refund LATE_SOLD_OUT 10000 DUE", "event order.refund_due",
			},
		},
	}
	eachEngine(t, money.TWD, func(h *testServer) {
		for _, c := range stories {
			h.run(c.name, func() {
				h.lineFaults(lostConfirmation(true), linepaysim.Fault{Call: linepaysim.Check, Times: 1, Response: linepaysim.Lost})
				h.press(h.order(payment.LINEPay).Payment.RedirectURL, "pay")
				h.reconcile(5 * time.Second)
				h.Advance(15 * time.Minute)
				h.expire()
				c.meantime(h)
				h.reconcile(time.Minute)
				h.wantRows(append(c.want, "attempt LINEPAY PAID", "report CALLBACK UNKNOWN", "report CHECK PAID", "event order.canceled")...)
			})
		}
	})
}

// TestLINEPay_whileConfirming checks that every other change of an order is rejected while its payment is being
// captured, and possible afterwards.
func TestLINEPay_whileConfirming(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		h.lineFaults(lostConfirmation(false), linepaysim.Fault{Call: linepaysim.Check, Times: 1, Code: "0122"})
		o := h.order(payment.LINEPay)
		h.press(o.Payment.RedirectURL, "pay")
		path := "/cis/order/" + o.ID
		h.ask(http.MethodPost, path+"/cancel", nil, http.StatusConflict, nil)
		h.ask(http.MethodPost, "/api/orders/"+o.ID+"/cancel", nil, http.StatusConflict, nil)
		h.ask(http.MethodPost, path+"/pay", map[string]string{"method": "LINEPAY"}, http.StatusConflict, nil)
		h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments", map[string]any{"method": "COUNTER", "amount": 10_000}, http.StatusConflict, nil)
		h.wantRows(outcomeUnknown...)
		h.reconcile(5 * time.Second)
		second := h.again(o.ID, payment.LINEPay)
		h.press(second.Payment.RedirectURL, "pay")
		h.wantRows("order PLACED/PAID refunded 0", "attempt LINEPAY FAILED", "attempt LINEPAY PAID", "report CALLBACK UNKNOWN",
			"report CHECK FAILED", "report CALLBACK PAID", "event order.paid")
	})
}

// TestLINEPay_badReturns checks that return addresses that LINE Pay did not create change nothing.
func TestLINEPay_badReturns(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		o, other := h.orderOf(payment.LINEPay, 5), h.orderOf(payment.LINEPay, 5)
		h.press(o.Payment.RedirectURL, "leave")
		ref, otherRef := h.ref(o.ID), h.ref(other.ID)
		transaction := h.line.Payments()[1].TransactionID
		for _, c := range []struct {
			query  string
			status int
		}{
			{"", http.StatusUnprocessableEntity},
			{"transactionId=1&orderId=" + ref, http.StatusUnprocessableEntity},
			{"transactionId=" + transaction + "&orderId=" + ref + "&orderId=" + ref, http.StatusUnprocessableEntity},
			{"transactionId=" + transaction + "&orderId=" + otherRef, http.StatusNotFound},
			{"transactionId=" + transaction + "&orderId=06gvr4e1p1o037h61gjti47ea8", http.StatusNotFound},
			{"transactionId=2026022612345678901&orderId=" + ref, http.StatusNotFound},
		} {
			if status, text := h.get(h.url + "/payment/linepay/confirm?" + c.query); status != c.status {
				h.t.Errorf("%s is answered %d %s", c.query, status, text)
			}
		}
		h.wantRows("2 order PLACED/UNPAID refunded 0", "2 attempt LINEPAY REDIRECTED", "3 report CALLBACK FORGED")
		if h.calls.count("confirm") != 0 {
			h.t.Error("LINE Pay received a confirmation")
		}
	})
}

// TestLINEPay_refused checks that a refused payment page blocks no discount, and that a page blocks one if LINE Pay may have
// created it.
func TestLINEPay_refused(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := orderingtest.Open(t, db, 1, quota)
		r.Currency = money.TWD
		menu := r.Catalog(t).Priced(catalog.Pricing{Discounts: []catalog.DiscountKind{
			{Code: "REGULAR", Names: catalog.Texts{catalog.English: "Regulars"}, Type: catalog.PercentOff, Percent: "10"},
		}}.Filled(), "")
		h := openTestServer(t, db, menu, guests{r.Visit}, &sockets{})
		for _, c := range []struct {
			name    string
			fault   linepaysim.Fault
			refused bool
		}{
			{"no such merchant", linepaysim.Fault{Code: "1104"}, true},
			{"account of the guest", linepaysim.Fault{Code: "1141"}, true},
			{"parameter", linepaysim.Fault{Code: "2101"}, true},
			{"answer lost", linepaysim.Fault{Response: linepaysim.Lost, Moves: true}, false},
			{"never arrived", linepaysim.Fault{Response: linepaysim.Lost}, false},
			{"status 500", linepaysim.Fault{Response: linepaysim.Broken}, false},
			{"garbled", linepaysim.Fault{Response: linepaysim.Garbled, Moves: true}, false},
			{"internal error", linepaysim.Fault{Code: "9000", Moves: true}, false},
			{"in work elsewhere", linepaysim.Fault{Code: "1198"}, false},
			{"the same order id", linepaysim.Fault{Code: "1172"}, false},
		} {
			h.run(c.name, func() {
				c.fault.Call, c.fault.Times = linepaysim.Request, 2
				h.lineFaults(c.fault)
				var o placed
				h.ask(http.MethodPost, "/cis/order/create", map[string]any{
					"items": []map[string]any{{"itemId": "101", "qty": 10}}, "paymentMethod": "LINEPAY", "clientTxnId": "k", "menuVersionId": "1",
				}, http.StatusCreated, &o)
				before := []string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY CREATED"}
				status, code := http.StatusConflict, "payment_open"
				if c.refused {
					before = []string{"order PLACED/UNPAID refunded 0", "attempt LINEPAY FAILED", "report CALLBACK FAILED"}
					status, code = http.StatusOK, ""
				}
				h.wantRows(before...)
				discount := map[string]string{"code": "REGULAR"}
				if got, text := h.post(http.MethodPut, "/api/orders/"+o.ID+"/discount", "", discount, &o); got != status || !strings.Contains(text, code) {
					h.t.Fatalf("discount: %d %s, want %d %s", got, text, status, code)
				}
				h.wantRows(before...)
				status, code = http.StatusServiceUnavailable, "gateway_unavailable"
				if c.refused {
					status, code = http.StatusConflict, "payment_refused"
				}
				again := map[string]string{"method": "LINEPAY"}
				if got, text := h.post(http.MethodPost, "/cis/order/"+o.ID+"/pay", "phone", again, nil); got != status || !strings.Contains(text, code) {
					h.t.Errorf("second attempt: %d %s, want %d %s", got, text, status, code)
				}
				h.press(h.again(o.ID, payment.LINEPay).Payment.RedirectURL, "pay")
				amount := int64(10_000)
				if c.refused {
					amount = 9_000
				}
				paid := h.read("SELECT state || ' ' || amount FROM payment_attempt WHERE state = 'PAID'")
				if want := fmt.Sprintf("PAID %d", amount); !slices.Equal(paid, []string{want}) {
					h.t.Errorf("paid attempts %q, want %q", paid, want)
				}
				h.balanced()
			})
		}
	})
}

// TestLINEPay_notThere checks that an order remains placed if LINE Pay is unavailable, and that a later request creates
// the payment page.
func TestLINEPay_notThere(t *testing.T) {
	eachEngine(t, money.TWD, func(h *testServer) {
		h.lineFaults(linepaysim.Fault{Call: linepaysim.Request, Times: 1, Response: linepaysim.Broken})
		var o placed
		h.ask(http.MethodPost, "/cis/order/create", map[string]any{
			"items": []map[string]any{{"itemId": "101", "qty": 10}}, "paymentMethod": "LINEPAY", "clientTxnId": "k", "menuVersionId": "1",
		}, http.StatusCreated, &o)
		if o.Payment.RedirectURL != "" {
			h.t.Fatalf("order = %+v, want no page of LINE Pay", o)
		}
		h.wantRows("order PLACED/UNPAID refunded 0", "attempt LINEPAY CREATED")
		h.ask(http.MethodPost, "/cis/order/create", map[string]any{
			"items": []map[string]any{{"itemId": "101", "qty": 10}}, "paymentMethod": "LINEPAY", "clientTxnId": "k", "menuVersionId": "1",
		}, http.StatusOK, &o)
		h.press(o.Payment.RedirectURL, "pay")
		h.wantRows(paidByLINEPay...)
	})
}
