package vnpaysim_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"comanda/internal/payment"
	"comanda/internal/payment/vnpay"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/testenv"
)

// Each action of the page, with the messages that the merchant receives in their order.
func TestPage_actions(t *testing.T) {
	for _, c := range []struct {
		action  string
		story   string
		state   payment.State
		changes int
		money   bool
	}{
		{"pay", "ipn 00, return 00/00", payment.Paid, 1, true},
		{"decline", "ipn 00, return 24/02", payment.Failed, 1, false},
		{"refuse", "ipn 00, return 51/02", payment.Failed, 1, false},
		{"again", "ipn 00, ipn 00, return 00/00", payment.Paid, 2, true}, // failed, then success
		{"close", "", payment.Redirected, 0, false},
		{"leave", "ipn 00", payment.Paid, 1, true},
		{"nonsense", "", payment.Redirected, 0, false},
	} {
		t.Run(c.action, func(t *testing.T) {
			h := newMerchant(t)
			id, page := h.begin()
			h.act(page, c.action)
			testenv.Equal(t, c.story, h.story())
			h.wantAttempt(id, c.state, c.changes)
			if got := h.sim.Payments(); len(got) != 1 || got[0].TransactionNo > 0 != c.money || got[0].Amount != 150_000 {
				t.Errorf("payments = %+v, want one of 150000", got)
			}
			if ref := h.attempt(id).GatewayRef; c.money != (ref != "") {
				t.Errorf("GatewayRef = %q, want one exactly if money was taken", ref)
			}
		})
	}
}

// A guest who presses twice pays once: both notifications are about the same transaction and change the attempt once.
func TestPay_in_two_windows(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	if _, text := h.act(page, "twice"); !strings.Contains(text, "back with 00/00") {
		t.Errorf("browser ends at %s, want the return 00/00", text)
	}
	h.wantAttempt(id, payment.Paid, 1)
	if codes := h.sim.Answers(); codes["00"] != 1 || codes["02"] != 1 {
		t.Errorf("answers = %v, want 00 and 02 once each", codes)
	}
	if _, text := h.act(page, "pay"); !strings.Contains(text, "Đã thanh toán.") || strings.Contains(text, "<form") {
		t.Errorf("page after a second payment = %s, want it paid and without a form", text)
	}
	h.act(page, "decline")
	if got := h.sim.Payments(); len(got) != 1 || got[0].State != "PAID" {
		t.Errorf("payments = %+v, want one, PAID", got)
	}
}

func TestReturn_before_notification(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{ReturnFirst: true})
	id, page := h.begin()
	h.act(page, "pay")
	h.wantAttempt(id, payment.Redirected, 0) // a return changes nothing
	h.pass(t, 1, 2*time.Second)
	h.awaitStory("return 00/00, ipn 00")
	h.wantAttempt(id, payment.Paid, 1)
}

func TestDelay(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{DelayMS: 90_000})
	id, page := h.begin()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		h.act(page, "pay")
	}()
	h.pass(t, 1, 89*time.Second)
	h.pass(t, 1, 0)
	h.wantAttempt(id, payment.Redirected, 0)
	h.pass(t, 1, time.Second)
	<-returned
	testenv.Equal(t, "ipn 00, return 00/00", h.story())
}

// The same notice ten times at once changes an attempt once.
func TestQuota_ten_concurrent_orders(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{Repeat: 9, AtOnce: true})
	id, page := h.begin()
	h.act(page, "pay")
	h.wantAttempt(id, payment.Paid, 1)
	if codes := h.sim.Answers(); codes["00"] != 1 || codes["02"] != 9 {
		t.Errorf("answers = %v, want 00 once and 02 nine times", codes)
	}
}

func TestNotice_repeated(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{Repeat: 2})
	id, page := h.begin()
	h.act(page, "decline")
	h.wantAttempt(id, payment.Failed, 1)
	testenv.Equal(t, "ipn 00, ipn 02, ipn 02, return 24/02", h.story())
}

// A lost notice is sent again five minutes later, until it is confirmed.
func TestNotice_is_sent_again_until_confirmed(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{Lose: 2})
	id, page := h.begin()
	h.act(page, "pay")
	h.pass(t, 1, 5*time.Minute)
	h.pass(t, 1, 0) // it waits again
	h.wantAttempt(id, payment.Redirected, 0)
	h.pass(t, 1, 5*time.Minute)
	h.awaitStory("return 00/00, ipn 00")
	h.wantAttempt(id, payment.Paid, 1)
}

// The merchant has queried the result before any notification: it answers 02, and VNPay stops.
func TestNotice_of_a_payment_known_before(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{Lose: 1})
	id, page := h.begin()
	h.act(page, "pay")
	got := testenv.Must(h.m.Check(t.Context(), h.attempt(id)))(t)
	h.mu.Lock()
	h.attempts[id].Settle(got.State, got.Ref, h.Now())
	h.mu.Unlock()
	h.pass(t, 1, 5*time.Minute)
	testenv.Eventually(t, 10*time.Second, func() bool { return h.sim.Answers()["02"] == 1 })
	h.sim.Close()
	if n := h.Timers(); n != 0 {
		t.Errorf("%d notifications wait to be sent again, want 0", n)
	}
	h.wantAttempt(id, payment.Paid, 0)
}

// The merchant's database is unavailable: it answers 99, and five minutes later the same notification succeeds.
func TestNotice_is_sent_again_after_a_failure(t *testing.T) {
	h := newMerchant(t)
	h.breakDown(true)
	id, page := h.begin()
	h.act(page, "pay")
	h.breakDown(false)
	h.wantAttempt(id, payment.Redirected, 0)
	h.pass(t, 1, 5*time.Minute)
	h.awaitStory("ipn 99, return 00/00, ipn 00")
	h.wantAttempt(id, payment.Paid, 1)
}

// VNPay stops after ten attempts.
func TestNotice_stops_after_ten_attempts(t *testing.T) {
	h := newMerchant(t)
	h.breakDown(true)
	_, page := h.begin()
	h.act(page, "leave")
	for range 9 {
		h.pass(t, 1, 5*time.Minute)
	}
	h.awaitStory(strings.TrimSuffix(strings.Repeat("ipn 99, ", 10), ", "))
	testenv.Eventually(t, 10*time.Second, func() bool { return h.sim.Answers()["99"] == 10 }) // VNPay has not read it yet
	h.sim.Close()
	if codes := h.sim.Answers(); codes["99"] != 10 || len(codes) != 1 {
		t.Errorf("answers = %v, want only 99, ten times", codes)
	}
}

// Corrupted notifications are refused, and unusual but valid ones are accepted. Once they are valid again, the next
// attempt succeeds.
func TestCorrupted(t *testing.T) {
	for _, c := range []struct {
		corrupt vnpaysim.Corruption
		code    string
	}{
		{vnpaysim.Signature, vnpay.WrongSignature}, {vnpaysim.Tampered, vnpay.WrongSignature}, {vnpaysim.Duplicated, vnpay.WrongSignature},
		{vnpaysim.OtherAmount, vnpay.WrongAmount}, {vnpaysim.OtherSite, vnpay.NotRecorded},
		{vnpaysim.Extra, vnpay.Recorded}, {vnpaysim.UpperCase, vnpay.Recorded},
	} {
		t.Run(string(c.corrupt), func(t *testing.T) {
			h := newMerchant(t)
			h.faults(vnpaysim.Faults{Corrupt: c.corrupt})
			id, page := h.begin()
			h.act(page, "pay")
			want := "ipn " + c.code + ", return 00/00"
			if c.code != vnpay.Recorded {
				h.wantAttempt(id, payment.Redirected, 0)
				h.faults(vnpaysim.Faults{})
				h.pass(t, 1, 5*time.Minute)
				want += ", ipn 00"
			}
			h.awaitStory(want)
			h.wantAttempt(id, payment.Paid, 1)
		})
	}
}

// A notification about a payment that this merchant has never begun is answered as unknown.
func TestUnknownAttempt(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	h.mu.Lock()
	delete(h.attempts, id)
	h.mu.Unlock()
	h.act(page, "pay")
	testenv.Equal(t, "ipn 01, return 00/00", h.story())
}

// After the payment window VNPay refuses with a code that its manual does not list. A late payment succeeds.
func TestWindow(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	late, latePage := h.begin()
	if _, text := h.get(page); !strings.Contains(text, "01:45:00") {
		t.Errorf("page without its deadline 01:45:00: %s", text)
	}
	h.get(latePage)
	h.pass(t, 0, 15*time.Minute)
	if _, text := h.get(page); !strings.Contains(text, "Đã hết thời gian") {
		t.Errorf("page after the window = %s, want it expired", text)
	}
	h.act(page, "pay")
	h.wantAttempt(id, payment.Failed, 1)
	h.act(latePage, "late")
	h.wantAttempt(late, payment.Paid, 2)
	testenv.Equal(t, "ipn 00, return 15/02, ipn 00, return 00/00", h.story())
}

// A guest can choose, within the window, to pay after it.
func TestPayment_after_the_window(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	for range 2 { // a second press changes nothing
		h.act(page, "late")
	}
	h.pass(t, 1, 16*time.Minute)
	h.wantAttempt(id, payment.Redirected, 0)
	testenv.Equal(t, 1, h.Timers())
	h.pass(t, 1, time.Minute)
	h.awaitStory("ipn 00")
	h.wantAttempt(id, payment.Paid, 1)
}

// An invalid pay URL shows the error and creates no payment.
func TestPage_refuses(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	h.get(page)
	u := testenv.Must(url.Parse(page))(t)
	other := testenv.Must(vnpay.New(vnpay.Config{
		TmnCode: site, HashSecret: "9d2c7f0a9b1e4c3d8f6a7b0c1d2e3f40", PayURL: h.api + vnpaysim.PayPath, APIURL: h.api + vnpaysim.APIPath,
	}, http.DefaultClient, h.Now))(t)
	a := h.attempt(id)
	p := payment.Purchase{Attempt: a, OrderNumber: "B1", ExpiresAt: h.Now().Add(time.Minute), ReturnBaseURL: h.url}
	again := testenv.Must(h.m.Start(t.Context(), p))(t)
	p.Attempt.ID = strings.Replace(a.ID, "0", "1", 1)
	forged := testenv.Must(other.Start(t.Context(), p))(t)
	for name, c := range map[string]struct{ page, code string }{
		"another amount":         {strings.Replace(page, "15000000", "1500000", 1), "70"},
		"another secret":         {forged.URL, "70"},
		"another site":           {strings.Replace(page, site, "COMANDA2", 1), "72"},
		"nothing":                {h.api + vnpaysim.PayPath, "72"},
		"the type of the hash":   {page + "&vnp_SecureHashType=HMACSHA512", "03"},
		"a twin":                 {page + "&vnp_Amount=1", "03"},
		"the same ref once more": {again.URL, "01"},
	} {
		if status, text := h.get(c.page); status != http.StatusBadRequest || !strings.Contains(text, `data-code="`+c.code+`"`) || strings.Contains(text, "<form") {
			t.Errorf("page with %s: status %d with body %s, want 400 with code %s", name, status, text, c.code)
		}
		h.act(c.page, "pay")
	}
	_, begun := h.begin()
	h.pass(t, 0, 15*time.Minute)
	if status, text := h.get(begun); status != http.StatusBadRequest || !strings.Contains(text, `data-code="15"`) {
		t.Errorf("page opened late: status %d with body %s, want 400 with code 15", status, text)
	}
	if status, _ := h.get(u.String()); status != http.StatusOK {
		t.Errorf("valid page: status %d, want 200", status)
	}
	if got := h.sim.Payments(); len(got) != 1 || got[0].State != "ENDED" || h.story() != "" {
		t.Errorf("payments = %+v with story %s, want one ENDED without a story", got, h.story())
	}
}

// Every parameter must have its documented form, even if it is signed.
func TestPage_forms(t *testing.T) {
	h := newMerchant(t)
	_, page := h.begin()
	u := testenv.Must(url.Parse(page))(t)
	ok := u.Query()
	ok.Del("vnp_SecureHash")
	signed := func(key, value string) string {
		q := maps.Clone(ok)
		q.Set(key, value)
		text := strings.TrimSuffix(strings.ReplaceAll(q.Encode()+"&", key+"=&", ""), "&") // empty parameters are not sent
		mac := hmac.New(sha512.New, []byte(secret))
		mac.Write([]byte(text))
		return h.api + vnpaysim.PayPath + "?" + text + "&vnp_SecureHash=" + fmt.Sprintf("%X", mac.Sum(nil))
	}
	for _, c := range []struct{ key, value string }{
		{"vnp_Amount", "499999"}, {"vnp_Amount", "100000000000"}, {"vnp_Amount", "015000000"}, {"vnp_Amount", "5000.00"},
		{"vnp_Amount", ""}, {"vnp_Version", "2.0.1"}, {"vnp_Command", "genqr"}, {"vnp_CurrCode", "USD"}, {"vnp_CurrCode", ""},
		{"vnp_Locale", "vi"}, {"vnp_OrderInfo", "Đơn hàng"}, {"vnp_OrderInfo", "#1"}, {"vnp_OrderInfo", ""}, {"vnp_OrderType", ""},
		{"vnp_TxnRef", "a-1"}, {"vnp_TxnRef", ""}, {"vnp_IpAddr", "::1"}, {"vnp_IpAddr", ""}, {"vnp_CreateDate", "20261322013000"},
		{"vnp_ExpireDate", "20261322013000"}, {"vnp_ExpireDate", "20261122013000"}, {"vnp_ExpireDate", ""},
		{"vnp_ReturnUrl", "javascript:alert(1)"}, {"vnp_ReturnUrl", "http://a;script-src.example/"}, {"vnp_ReturnUrl", ""},
	} {
		if status, text := h.get(signed(c.key, c.value)); status != http.StatusBadRequest || !strings.Contains(text, `data-code="03"`) {
			t.Errorf("page with %s=%s: status %d with body %s, want 400 with code 03", c.key, c.value, status, text)
		}
	}
	testenv.Equal(t, 0, len(h.sim.Payments()))
	for _, c := range []struct{ key, value string }{{"vnp_Amount", "500000"}, {"vnp_BankCode", "NCB"}, {"vnp_Amount", "99999999900"}} {
		ok.Set("vnp_TxnRef", ok.Get("vnp_TxnRef")+"x")
		if status, text := h.get(signed(c.key, c.value)); status != http.StatusOK {
			t.Errorf("page with %s=%s: status %d with body %s, want 200", c.key, c.value, status, text)
		}
	}
}

// A reference may be reused on another day.
func TestPage_anotherDay(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	h.act(page, "decline")
	h.pass(t, 0, 24*time.Hour)
	_, page = h.begin(func(p *payment.Purchase) { p.Attempt.ID = id })
	h.act(page, "pay")
	if got := h.sim.Payments(); len(got) != 2 || got[0].State != "PAID" || got[1].State != "FAILED" {
		t.Errorf("payments = %+v, want PAID and FAILED", got)
	}
}
