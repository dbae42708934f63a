package orderinghttp_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// paidByVNPay is the result of paymentRows for an order paid once through VNPay.
var paidByVNPay = []string{"order PLACED/PAID refunded 0", "attempt VNPAY PAID", "report CALLBACK PAID", "event order.paid"}

// notice returns a notification signed like VNPay's, with some parameters changed.
func (h *testServer) notice(ref string, changes ...string) string {
	params := url.Values{
		"vnp_TmnCode": {site}, "vnp_Amount": {"1000000"}, "vnp_BankCode": {"NCB"}, "vnp_OrderInfo": {"Payment of order A 001"},
		"vnp_PayDate": {"20260226120500"}, "vnp_ResponseCode": {"00"}, "vnp_TransactionNo": {"14000001"},
		"vnp_TransactionStatus": {"00"}, "vnp_TxnRef": {ref},
	}
	for i := 0; i < len(changes); i += 2 {
		params.Set(changes[i], changes[i+1])
	}
	text := params.Encode() // sorted, as VNPay signs it
	return text + "&vnp_SecureHash=" + sign(text)
}

func sign(text string) string {
	mac := hmac.New(sha512.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func (h *testServer) ref(id string) string {
	h.t.Helper()
	return h.read("SELECT id FROM payment_attempt WHERE order_id = '" + id + "'")[0]
}

// ipn sends a notification and returns the response code.
func (h *testServer) ipn(query string) string {
	h.t.Helper()
	status, text := h.get(h.url + "/payment/vnpay/ipn?" + query)
	_, code, _ := strings.Cut(text, `"RspCode":"`)
	if status != http.StatusOK || len(code) < 2 {
		h.t.Errorf("a notice is answered %d %s", status, text)
		return ""
	}
	return code[:2]
}

func (h *testServer) wantIPN(query, want string) {
	h.t.Helper()
	testenv.Equal(h.t, want, h.ipn(query))
}

// TestVNPay checks that a VNPay payment ends in the expected state for each of the guest's actions and each fault.
func TestVNPay(t *testing.T) {
	type story struct {
		name   string
		faults vnpaysim.Faults
		action string
		page   string // the last page's text
		books  []string
	}
	stories := []story{
		{"IPN, then return", vnpaysim.Faults{}, "pay", "Paid", paidByVNPay},
		{"IPN only", vnpaysim.Faults{}, "leave", "", paidByVNPay},
		{"IPN twice", vnpaysim.Faults{}, "twice", "Paid", slices.Concat(paidByVNPay, []string{"report CALLBACK REPEATED"})},
		{
			"IPN ten times at once", vnpaysim.Faults{Repeat: 9, AtOnce: true}, "pay", "Paid",
			slices.Concat(paidByVNPay, []string{"9 report CALLBACK REPEATED"}),
		},
		{"upper case", vnpaysim.Faults{Corrupt: vnpaysim.UpperCase}, "pay", "Paid", paidByVNPay},
		{"new parameters", vnpaysim.Faults{Corrupt: vnpaysim.Extra}, "pay", "Paid", paidByVNPay},
		{
			"declined", vnpaysim.Faults{}, "decline", "go through",
			[]string{"order PLACED/UNPAID refunded 0", "attempt VNPAY FAILED", "report CALLBACK FAILED"},
		},
		{
			"failed, then success", vnpaysim.Faults{}, "again", "Paid", slices.Concat(paidByVNPay, []string{"report CALLBACK FAILED"}),
		},
		{
			"tampered", vnpaysim.Faults{Corrupt: vnpaysim.Tampered}, "pay", "Checking",
			[]string{"order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED", "report CALLBACK FORGED"},
		},
		{
			"forged", vnpaysim.Faults{Corrupt: vnpaysim.Signature}, "pay", "Checking",
			[]string{"order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED", "report CALLBACK FORGED"},
		},
		{
			"a key twice", vnpaysim.Faults{Corrupt: vnpaysim.Duplicated}, "pay", "Checking",
			[]string{"order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED", "report CALLBACK FORGED"},
		},
		{
			"another merchant's", vnpaysim.Faults{Corrupt: vnpaysim.OtherSite}, "pay", "Checking",
			[]string{"order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED", "report CALLBACK FOREIGN"},
		},
		{
			"another amount", vnpaysim.Faults{Corrupt: vnpaysim.OtherAmount}, "pay", "Checking",
			[]string{
				"order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED", "report CALLBACK AMOUNT_MISMATCH",
				"event order.amount_mismatch",
			},
		},
	}
	eachEngine(t, money.VND, func(h *testServer) {
		for _, c := range stories {
			h.run(c.name, func() {
				h.vnpayFaults(c.faults)
				o := h.order(payment.VNPay)
				if got := h.press(o.Payment.RedirectURL, c.action); !strings.Contains(got, c.page) {
					h.t.Errorf("the guest reads %s", got)
				}
				h.wantRows(c.books...)
			})
		}
	})
}

// TestResultPage_needs_a_reference checks that the result page opens with the gateway's reference and not with the id of an
// order, which more people know. A payment at the counter has no page.
func TestResultPage_needs_a_reference(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		remote, counter := h.order(payment.VNPay), h.order(payment.Counter)
		h.ask(http.MethodPost, "/api/orders/"+counter.ID+"/payments", map[string]any{
			"method": "COUNTER", "amount": counter.TotalPrice,
		}, http.StatusCreated, nil)
		for ref, want := range map[string]int{
			h.ref(remote.ID): http.StatusOK, remote.ID: http.StatusNotFound, counter.ID: http.StatusNotFound,
		} {
			if status, text := h.browse(http.MethodGet, h.url+"/pay/"+ref, ""); status != want {
				t.Errorf("/pay/%s of %s and %s: %d %.200s", ref, remote.ID, counter.ID, status, text)
			}
		}
	})
}

// TestVNPay_answersAfterTheCommit checks that the response to VNPay is 00 or 02 only after the report is committed. It
// looks into the database when the response's first byte goes out.
func TestVNPay_answersAfterTheCommit(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		ref := h.ref(h.order(payment.VNPay).ID)
		var then []string
		h.watch = func() {
			then = h.read("SELECT state FROM payment_attempt UNION ALL SELECT payment_status FROM order_info")
		}
		for i, want := range []string{"00", "02", "02"} {
			then = nil
			h.wantIPN(h.notice(ref), want)
			if !slices.Equal(then, []string{"PAID", "PAID"}) {
				h.t.Errorf("answer %d went out while SQL said %v", i, then)
			}
		}
	})
}

// TestVNPay_return_has_no_effect checks that the return URL shows the current state and changes nothing, with any
// signature and any parameters.
func TestVNPay_return_has_no_effect(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		h.vnpayFaults(vnpaysim.Faults{ReturnFirst: true})
		o := h.order(payment.VNPay)
		before := h.read(paymentRows)
		if page := h.press(o.Payment.RedirectURL, "pay"); !strings.Contains(page, "Checking the payment") ||
			!strings.Contains(page, `<a href="/app/orders/`+o.ID+`">See your order</a>`) {
			h.t.Errorf("the guest reads %s", page)
		}
		ref := h.ref(o.ID)
		for _, query := range []string{
			h.notice(ref), h.notice(ref, "vnp_ResponseCode", "24", "vnp_TransactionStatus", "02"), h.notice(ref, "vnp_Amount", "100"),
		} {
			if status, _ := h.get(h.url + "/payment/vnpay/return?" + query); status != http.StatusOK {
				h.t.Errorf("a return is answered %d", status)
			}
		}
		for _, query := range []string{"", h.notice(ref) + "0", "vnp_TxnRef=" + ref} {
			if status, text := h.get(h.url + "/payment/vnpay/return?" + query); status != http.StatusUnprocessableEntity {
				h.t.Errorf("a return of an unknown attempt is answered %d %s", status, text)
			}
		}
		if after := h.read(paymentRows); !slices.Equal(before, after) {
			h.t.Errorf("the return has changed %v to %v", before, after)
		}
		h.await(func() bool { return h.Timers() > 0 }) // the notification comes two seconds after the browser
		h.Advance(3 * time.Second)
		h.awaitRow("order PLACED/PAID refunded 0")
		h.wantRows(paidByVNPay...)
	})
}

// TestVNPay_onlyAsked checks that the reconciler queries VNPay if every notification is lost and the browser was
// closed.
func TestVNPay_onlyAsked(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		h.vnpayFaults(vnpaysim.Faults{Lose: 10})
		paid, declined, left := h.orderOf(payment.VNPay, 5), h.orderOf(payment.VNPay, 5), h.orderOf(payment.VNPay, 5)
		h.press(paid.Payment.RedirectURL, "pay")
		h.press(declined.Payment.RedirectURL, "decline")
		h.press(left.Payment.RedirectURL, "close")
		h.reconcile(time.Minute) // too early to query
		h.wantRows("3 order PLACED/UNPAID refunded 0", "3 attempt VNPAY REDIRECTED")
		h.reconcile(time.Minute)
		h.wantRows("order PLACED/PAID refunded 0", "2 order PLACED/UNPAID refunded 0", "attempt VNPAY PAID", "attempt VNPAY FAILED",
			"attempt VNPAY REDIRECTED", "report CHECK PAID", "report CHECK FAILED", "event order.paid")
		h.expire()
		h.reconcile(5 * time.Minute)
		h.wantRows("order PLACED/PAID refunded 0", "2 order CANCELED/CANCELED refunded 0", "attempt VNPAY PAID", "2 attempt VNPAY FAILED",
			"report CHECK PAID", "2 report CHECK FAILED", "event order.paid", "2 event order.canceled")
	})
}

// TestVNPay_declined_then_no_notification checks that VNPay is queried when its page closes, after one card was
// declined, another was accepted and no notification arrived, and again if that query fails.
func TestVNPay_declined_then_no_notification(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		h.vnpayFaults(vnpaysim.Faults{Lose: 10})
		o := h.order(payment.VNPay)
		h.wantIPN(h.notice(h.ref(o.ID), "vnp_ResponseCode", "51", "vnp_TransactionStatus", "02", "vnp_TransactionNo", "0"), "00")
		h.press(o.Payment.RedirectURL, "leave")
		h.expire()
		nothing := []string{"order CANCELED/CANCELED refunded 0", "attempt VNPAY FAILED", "report CALLBACK FAILED", "event order.canceled"}
		h.reconcile(42 * time.Minute)
		h.wantRows(nothing...)
		h.vnpayFaults(vnpaysim.Faults{Lose: 100, LoseAnswers: 1}) // the connection is down longer than VNPay retries
		h.reconcile(time.Minute)
		h.wantRows(nothing...)
		h.reconcile(59 * time.Minute)
		h.wantRows(nothing...)
		h.reconcile(2 * time.Minute)
		h.wantRows("order PLACED/PAID refunded 0", "attempt VNPAY PAID", "report CALLBACK FAILED", "report CHECK PAID", "event order.paid",
			"event order.canceled")
	})
}

// TestVNPay_neverPaid checks that an attempt ends a day after its order if VNPay has never a result, also if VNPay could not be
// asked then. Money that arrives afterwards is refunded.
func TestVNPay_neverPaid(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		ref := h.ref(h.order(payment.VNPay).ID)
		h.expire()
		open := []string{"order CANCELED/CANCELED refunded 0", "attempt VNPAY REDIRECTED", "event order.canceled"}
		h.reconcile(25 * time.Hour)
		h.wantRows(open...)
		h.vnpayFaults(vnpaysim.Faults{LoseAnswers: 1})
		h.reconcile(time.Hour)
		h.wantRows(open...)
		h.reconcile(27 * time.Hour)
		given := []string{"order CANCELED/CANCELED refunded 0", "attempt VNPAY CANCELED", "report CHECK CANCELED", "event order.canceled"}
		h.wantRows(given...)
		h.reconcile(1000 * time.Hour)
		h.wantRows(given...)
		h.wantIPN(h.notice(ref), "00")
		h.wantRows("order CANCELED/REFUND_DUE refunded 0", "attempt VNPAY PAID", "report CHECK CANCELED", "report CALLBACK PAID",
			"refund LATE_CLOSED 10000 DUE", "event order.canceled", "event order.refund_due")
	})
}

// TestVNPay_neverPaid_and_not_asked checks that an attempt also ends if a binary before migration 56 stopped asking VNPay.
func TestVNPay_neverPaid_and_not_asked(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		h.order(payment.VNPay)
		h.expire()
		h.change("UPDATE payment_attempt SET check_at = NULL")
		h.reconcile(1000 * time.Hour)
		h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY REDIRECTED", "event order.canceled")
		for {
			all := testenv.Must(h.db.Migrations(h.t.Context()))(h.t)
			if !slices.ContainsFunc(all, func(m sqldb.Migration) bool { return m.Version == 56 && m.Applied }) {
				break
			}
			testenv.NoError(h.t, h.db.MigrateDown(h.t.Context()))
		}
		testenv.NoError(h.t, h.db.Migrate(h.t.Context()))
		h.reconcile(1_000_000 * time.Hour) // the migration has the machine's time
		h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY CANCELED", "report CHECK CANCELED", "event order.canceled")
	})
}

// TestVNPay_pageTooLate checks that an attempt ends if VNPay's page is asked for when the time to pay is over: the page
// would take no money.
func TestVNPay_pageTooLate(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		place := func(want int, into *placed) {
			h.ask(http.MethodPost, "/cis/order/create", map[string]any{
				"items": []map[string]any{{"itemId": "101", "qty": 10}}, "paymentMethod": "VNPAY", "clientTxnId": "k", "menuVersionId": "1",
			}, want, into)
		}
		// The first page is not stored, as when the process ends before.
		gateway := h.settings.Gateways[payment.VNPay]
		delete(h.settings.Gateways, payment.VNPay)
		var o placed
		place(http.StatusCreated, &o)
		h.settings.Gateways[payment.VNPay] = gateway
		h.wantRows("order PLACED/UNPAID refunded 0", "attempt VNPAY CREATED")
		h.Advance(15 * time.Minute)
		place(http.StatusOK, &o)
		testenv.Equal(h.t, "", o.Payment.RedirectURL)
		h.wantRows("order PLACED/UNPAID refunded 0", "attempt VNPAY FAILED", "report CALLBACK FAILED")
	})
}

// wantStuck checks whether the staff's list of payments has one of an order.
func (h *testServer) wantStuck(order string, want bool) {
	h.t.Helper()
	var e struct{ Payments []struct{ OrderID string } }
	h.ask(http.MethodGet, "/api/payments/exceptions?branchId=1", nil, http.StatusOK, &e)
	if found := len(e.Payments) == 1 && e.Payments[0].OrderID == order; found != want {
		h.t.Errorf("the staff are to look at %+v, want %s: %v", e.Payments, order, want)
	}
}

// TestVNPay_removed checks that an attempt ends a day after its order if VNPay was removed from the settings, and that a
// capture that VNPay still reports, once it is back, is refunded. A running capture is left to the staff.
func TestVNPay_removed(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		gateways := h.settings.Gateways
		for state, after := range map[payment.State]payment.State{
			payment.Redirected: payment.Canceled, payment.Confirming: payment.Confirming, payment.Unknown: payment.Unknown,
		} {
			h.run(string(state), func() {
				defer func() { h.settings.Gateways = gateways }()
				o := h.order(payment.VNPay)
				ref := h.ref(o.ID)
				h.expire()
				h.change("UPDATE payment_attempt SET state = '" + string(state) + "'")
				h.settings.Gateways = nil
				h.reconcile(25 * time.Hour)
				h.wantStuck(o.ID, state != payment.Redirected)
				h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY "+string(state), "event order.canceled")
				h.ask(http.MethodPost, "/api/orders/"+o.ID+"/payments/"+ref+"/check", nil, http.StatusUnprocessableEntity, nil)
				h.reconcile(time.Hour)
				if after != payment.Canceled {
					h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY "+string(after), "event order.canceled")
					return
				}
				h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY CANCELED", "report CHECK CANCELED", "event order.canceled")
				h.settings.Gateways = gateways
				h.wantIPN(h.notice(ref), "00")
				h.wantRows("order CANCELED/REFUND_DUE refunded 0", "attempt VNPAY PAID", "report CHECK CANCELED", "report CALLBACK PAID",
					"refund LATE_CLOSED 10000 DUE", "event order.canceled", "event order.refund_due")
			})
		}
	})
}

// awaitRow waits until the result of paymentRows contains a line.
func (h *testServer) awaitRow(line string) {
	h.t.Helper()
	h.await(func() bool { return slices.Contains(h.read(paymentRows), line) })
}

// TestVNPay_badNotices checks that invalid notifications get the documented response codes and change nothing.
func TestVNPay_badNotices(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		ref := h.ref(h.order(payment.VNPay).ID)
		good := h.notice(ref)
		want := []string{"order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED", "event order.amount_mismatch"}
		for _, c := range []struct{ name, query, answer, verdict string }{
			{"nothing", "", "97", "FORGED"},
			{"no signature", strings.Split(good, "&vnp_SecureHash")[0], "97", "FORGED"},
			{"short signature", good[:len(good)-1], "97", "FORGED"},
			{"success made of a failure", strings.ReplaceAll(h.notice(ref, "vnp_ResponseCode", "24"), "=24", "=00"), "97", "FORGED"},
			{"another attempt's", strings.ReplaceAll(good, ref, strings.ToUpper(ref)), "97", "FORGED"},
			{"a key twice", "vnp_TxnRef=" + ref + "&" + good, "97", "FORGED"},
			{"a foreign site", h.notice(ref, "vnp_TmnCode", "STRANGER"), "99", "FOREIGN"},
			{"an unknown reference", h.notice("06gvr4e1p1o037h61gjti47ea8"), "01", "UNKNOWN_REF"},
			{"no reference of ours", h.notice("1234"), "01", "UNKNOWN_REF"},
			{"a dong too much", h.notice(ref, "vnp_Amount", "1000100"), "04", "AMOUNT_MISMATCH"},
			{"a failure of another amount", h.notice(ref, "vnp_Amount", "100", "vnp_ResponseCode", "24"), "04", "AMOUNT_MISMATCH"},
		} {
			h.wantIPN(c.query, c.answer)
			want = append(want, "report CALLBACK "+c.verdict)
			if h.t.Failed() {
				h.t.Fatalf("after %s", c.name)
			}
		}
		h.wantRows(want...)
		h.wantIPN(good, "00") // the invalid ones have blocked nothing
		h.wantRows(slices.Concat(want[2:], paidByVNPay)...)
		h.wantIPN(good, "02") // replayed, also a day later
		h.Advance(24 * time.Hour)
		h.wantIPN(good, "02")
		h.wantIPN(h.notice(ref, "vnp_ResponseCode", "24", "vnp_TransactionStatus", "02"), "02")
		h.wantRows(slices.Concat(want[2:], paidByVNPay, []string{"3 report CALLBACK REPEATED"})...)
	})
}

// TestVNPay_callback checks that the path of qr-ordering.md accepts the notification as a form, and that invalid bytes
// in it prevent neither the response nor the record.
func TestVNPay_callback(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		ref := h.ref(h.order(payment.VNPay).ID)
		for _, c := range []struct{ body, answer string }{
			{"vnp_TxnRef=\x00\xff&vnp_SecureHash=0", "97"}, {h.notice(ref) + "&x=\x00\xff", "00"}, {h.notice(ref), "02"},
		} {
			status, text := h.browse(http.MethodPost, h.url+"/payment/vnpay/callback", c.body)
			if status != http.StatusOK || !strings.Contains(text, `"RspCode":"`+c.answer+`"`) {
				h.t.Errorf("%.30q is answered %d %s, want %s", c.body, status, text, c.answer)
			}
		}
		h.wantRows(slices.Concat(paidByVNPay, []string{"report CALLBACK FORGED", "report CALLBACK REPEATED"})...)
	})
}

// TestVNPay_databaseDown checks that VNPay receives 99 and nothing changes while the database fails, and that its next
// call succeeds.
func TestVNPay_databaseDown(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.order(payment.VNPay)
		h.change("ALTER TABLE payment_event RENAME TO payment_event_gone") // written last but one
		h.press(o.Payment.RedirectURL, "pay")
		h.wantIPN("forged", "99")
		if got := h.vnpay.Answers()["99"]; got != 1 {
			h.t.Errorf("VNPay was answered %v", h.vnpay.Answers())
		}
		h.wantFailures(h.ref(o.ID), `""`)
		h.change("ALTER TABLE payment_event_gone RENAME TO payment_event")
		h.wantRows("order PLACED/UNPAID refunded 0", "attempt VNPAY REDIRECTED")
		h.await(func() bool { return h.Timers() > 0 })
		h.Advance(5 * time.Minute)
		h.awaitRow("order PLACED/PAID refunded 0")
		h.wantRows(paidByVNPay...)
	})
}

// wantFailures checks the logged attempts whose notifications failed. The log contains the cause, but nothing that
// allows a replay.
func (h *testServer) wantFailures(attempts ...string) {
	h.t.Helper()
	lines := strings.SplitAfter(h.log.String(), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, "a payment notification could not be processed") })
	if len(lines) != len(attempts) {
		h.t.Fatalf("the log says %q", lines)
	}
	for i, line := range lines {
		if !strings.Contains(line, fmt.Sprintf(" attempt=%s method=VNPAY err=", attempts[i])) ||
			!strings.Contains(line, "payment_event") || strings.Contains(line, "vnp_") {
			h.t.Errorf("the log says %s", line)
		}
	}
}

// TestVNPay_late checks that a late payment restores an expired order if it could be placed now. Otherwise, and for a
// canceled order, a refund is due. The timeline shows every step.
func TestVNPay_late(t *testing.T) {
	cancel := func(path string) func(h *testServer, id string) {
		return func(h *testServer, id string) {
			h.ask(http.MethodPost, fmt.Sprintf(path, id), map[string]string{}, http.StatusOK, nil)
		}
	}
	change := func(statement string) func(h *testServer) { return func(h *testServer) { h.change(statement) } }
	closed := func(ago time.Duration) func(h *testServer) {
		return func(h *testServer) {
			at := h.Now().Add(-ago).In(testenv.Must(time.LoadLocation("Asia/Ho_Chi_Minh"))(h.t))
			h.orders.Catalog = h.orders.Catalog.(orderingtest.Catalog).WithHours(h.t, catalog.OpeningHours{
				Exceptions: []catalog.HoursException{
					{Date: at.Format("2006-01-02"), Periods: []catalog.Period{{From: "04:00", To: at.Format("15:04")}}},
				},
			})
		}
	}
	nothing, refundDue := func(*testServer) {}, "PLACED CANCELED REFUND_DUE"
	due := func(reason string) []string {
		return []string{"order CANCELED/REFUND_DUE refunded 0", "refund " + reason + " 10000 DUE", "event order.refund_due"}
	}
	stories := []struct {
		name     string
		end      func(h *testServer, id string) // nil: the order expires
		meantime func(h *testServer)
		books    []string
		timeline string
	}{
		{"free", nil, nothing, []string{"order PLACED/PAID refunded 0", "event order.paid"}, "PLACED CANCELED PAID"},
		{
			"sold out", nil, func(h *testServer) { h.orderOf(payment.Counter, 11) },
			append(due("LATE_SOLD_OUT"), "order PLACED/UNPAID refunded 0", "attempt COUNTER CREATED"), refundDue,
		},
		{"cancelled by the guest", cancel("/cis/order/%s/cancel"), nothing, due("LATE_CANCELED"), refundDue},
		{"cancelled by the staff", cancel("/api/orders/%s/cancel"), nothing, due("LATE_CANCELED"), refundDue},
		{"paused", nil, change("UPDATE branch SET paused_at = 1"), due("LATE_PAUSED"), refundDue},
		{
			"paused until a minute ago", nil, change("UPDATE branch SET paused_at = 1, paused_until = 2"),
			[]string{"order PLACED/PAID refunded 0", "event order.paid"}, "PLACED CANCELED PAID",
		},
		{"closed by its hours", nil, closed(time.Hour), due("LATE_CLOSED"), refundDue},
		{"closed a minute ago", nil, closed(time.Minute), []string{"order PLACED/PAID refunded 0", "event order.paid"}, "PLACED CANCELED PAID"},
		{"closed visit", nil, change("UPDATE visit SET status = 'CLOSED'"), due("LATE_VISIT_CLOSED"), refundDue},
		{"next day", nil, func(h *testServer) { h.Advance(20 * time.Hour) }, due("LATE_CLOSED"), refundDue},
	}
	eachEngine(t, money.VND, func(h *testServer) {
		open := h.orders.Catalog
		for _, c := range stories {
			h.run(c.name, func() {
				h.change("UPDATE branch SET paused_at = NULL, paused_until = NULL")
				h.change("UPDATE visit SET status = 'OPEN'")
				h.orders.Catalog = open
				o := h.order(payment.VNPay)
				h.Advance(time.Second)
				if c.end != nil {
					c.end(h, o.ID)
				} else {
					h.expire()
				}
				h.wantRows("order CANCELED/CANCELED refunded 0", "attempt VNPAY REDIRECTED", "event order.canceled")
				h.Advance(time.Second)
				c.meantime(h)
				h.wantIPN(h.notice(h.ref(o.ID)), "00")
				h.wantIPN(h.notice(h.ref(o.ID)), "02")
				h.wantRows(slices.Concat(c.books, []string{
					"attempt VNPAY PAID", "event order.canceled", "report CALLBACK PAID", "report CALLBACK REPEATED",
				})...)
				testenv.Equal(h.t, c.timeline, h.timeline(o.ID))
			})
		}
	})
}

// timeline returns an order's timeline as the staff see it.
func (h *testServer) timeline(id string) string {
	h.t.Helper()
	var detail struct {
		Timeline []struct {
			Event string `json:"event"`
		} `json:"timeline"`
	}
	h.ask(http.MethodGet, "/api/orders/"+id, nil, http.StatusOK, &detail)
	events := make([]string, len(detail.Timeline))
	for i, e := range detail.Timeline {
		events[i] = e.Event
	}
	return strings.Join(events, " ")
}

// TestVNPay_paidTwice checks that the second payment of an order with two payment pages makes a refund due
// automatically and only once.
func TestVNPay_paidTwice(t *testing.T) {
	eachEngine(t, money.VND, func(h *testServer) {
		o := h.order(payment.VNPay)
		second := h.again(o.ID, payment.VNPay)
		if second.Payment.RedirectURL == o.Payment.RedirectURL {
			h.t.Fatal("two attempts have one page")
		}
		h.press(o.Payment.RedirectURL, "pay")
		h.press(second.Payment.RedirectURL, "twice")
		h.wantRows("order PLACED/PAID refunded 0", "2 attempt VNPAY PAID", "2 report CALLBACK PAID", "report CALLBACK REPEATED",
			"refund PAID_TWICE 10000 DUE", "event order.paid", "event order.refund_due")
		due := h.read("SELECT id FROM refund")[0]
		h.ask(http.MethodPost, fmt.Sprintf("/api/orders/%s/refunds/%s", o.ID, due), map[string]string{"state": "SENDING", "reason": "twice"},
			http.StatusOK, nil)
		h.refunds(0)
		h.wantRows("order PLACED/PAID refunded 0", "2 attempt VNPAY PAID", "2 report CALLBACK PAID", "report CALLBACK REPEATED",
			"refund PAID_TWICE 10000 DONE 00", "event order.paid", "event order.refund_due", "event order.refunded")
		refunded := map[int64]int64{} // refunds by captured amount
		for _, p := range h.vnpay.Payments() {
			refunded[p.Refunded] += p.Amount
		}
		if refunded[0] != 10_000 || refunded[10_000] != 10_000 {
			h.t.Errorf("VNPay has given back %v", refunded)
		}
	})
}
