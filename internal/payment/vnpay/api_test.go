package vnpay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api is a server that returns one text for every request and records the requests.
type api struct {
	status int
	answer string
	header http.Header
	bodies []string
	calls  int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.bodies = append(a.bodies, string(body))
	a.calls++
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.answer)
}

func merchantAt(t *testing.T, a *api) *Merchant {
	t.Helper()
	if a.status == 0 {
		a.status = http.StatusOK
	}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return testMerchant(t, s.Client(), s.URL+"/merchant_webapi/api/transaction")
}

// queried returns a signed response to querydr. Its texts vary as VNPay's may: numbers have no quotes.
func queried(code, status, amount, number string) string {
	return queriedOf("01", code, status, amount, number)
}

// queriedOf returns a response like queried, with a type of transaction.
func queriedOf(kind, code, status, amount, number string) string {
	text := strings.Join([]string{
		"r1", "querydr", code, "QueryDR Success", "COMANDA1", testID, strings.Replace(amount, "null", "", 1), "NCB",
		"20261122013000", number, kind, status, "Thanh toan", "", "",
	}, "|")
	return fmt.Sprintf(`{"vnp_ResponseId":"r1","vnp_Command":"querydr","vnp_ResponseCode":%q,"vnp_Message":"QueryDR Success",
		"vnp_TmnCode":"COMANDA1","vnp_TxnRef":%q,"vnp_Amount":%s,"vnp_BankCode":"NCB","vnp_PayDate":"20261122013000",
		"vnp_TransactionNo":%s,"vnp_TransactionType":%q,"vnp_TransactionStatus":%q,"vnp_OrderInfo":"Thanh toan",
		"vnp_PromotionAmount":null,"vnp_Fee":[1],"vnp_SecureHash":%q}`, code, testID, amount, number, kind, status, mac(text))
}

func TestMerchant_Check(t *testing.T) {
	a := &api{answer: queried("00", "00", "15000000", "14422574")}
	m := merchantAt(t, a)
	want := payment.Report{
		State: payment.Paid, Ref: "14422574", Amount: 150_000, Currency: money.VND, Code: "00/00", Raw: a.answer,
	}
	ids := map[string]bool{}
	for _, ask := range []func() (payment.Report, error){
		func() (payment.Report, error) { return m.Check(t.Context(), testAttempt()) },
		func() (payment.Report, error) { return m.Confirm(t.Context(), testAttempt()) },
	} {
		if got, err := ask(); err != nil || got != want {
			t.Errorf("report = %+v, %v, want %+v", got, err, want)
		}
		var sent map[string]string
		testenv.NoError(t, json.Unmarshal([]byte(a.bodies[len(a.bodies)-1]), &sent))
		id := sent["vnp_RequestId"]
		if len(id) > 32 || !uid.Valid(id) || ids[id] {
			t.Errorf("request id %q after %v", id, ids)
		}
		ids[id] = true
		text := id + "|2.1.0|querydr|COMANDA1|" + testID + "|20261122012959|20261122013000|127.0.0.1|Truy van " + testID
		testenv.Equal(t, map[string]string{
			"vnp_RequestId": id, "vnp_Version": "2.1.0", "vnp_Command": "querydr", "vnp_TmnCode": "COMANDA1", "vnp_TxnRef": testID,
			"vnp_TransactionNo": "0", "vnp_TransactionDate": "20261122012959", "vnp_CreateDate": "20261122013000",
			"vnp_IpAddr": "127.0.0.1", "vnp_OrderInfo": "Truy van " + testID, "vnp_SecureHash": mac(text),
		}, sent)
	}
}

func TestMerchant_Check_answers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		state  payment.State // empty for ErrGateway
		ref    string
	}{
		"pending":               {queried("00", "01", "15000000", "0"), payment.Redirected, ""},
		"pending, no amount":    {queried("00", "01", "null", "0"), payment.Redirected, ""},
		"paid, no amount":       {queried("00", "00", "null", "14422574"), "", ""},
		"all went back":         {queriedOf("02", "00", "00", "15000000", "14422574"), payment.Review, "14422574"},
		"a part went back":      {queriedOf("03", "00", "00", "15000000", "14422574"), payment.Review, "14422574"},
		"no type":               {queriedOf("", "00", "00", "15000000", "14422574"), payment.Paid, "14422574"},
		"failed":                {queried("00", "02", "15000000", "14422574"), payment.Failed, "14422574"},
		"reversed":              {queried("00", "04", "15000000", "14422574"), payment.Review, "14422574"},
		"being refunded":        {queried("00", "05", "15000000", "14422574"), payment.Review, "14422574"},
		"suspicious":            {queried("00", "07", "15000000", "14422574"), payment.Review, "14422574"},
		"texts for numbers":     {strings.Replace(queried("00", "00", "15000000", "14422574"), ":15000000", `:"15000000"`, 1), payment.Paid, "14422574"},
		"number written oddly":  {queried("00", "00", "1.5e7", "14422574"), "", ""},
		"unknown there":         {queried("91", "", "0", "0"), payment.Redirected, ""},
		"too often":             {queried("94", "", "0", "0"), "", ""},
		"bad site":              {queried("02", "", "0", "0"), "", ""},
		"bad form":              {queried("03", "", "0", "0"), "", ""},
		"bad checksum":          {queried("97", "", "0", "0"), "", ""},
		"other":                 {queried("99", "00", "15000000", "14422574"), "", ""},
		"no status":             {queried("00", "", "15000000", "14422574"), "", ""},
		"a part of a dong":      {queried("00", "00", "15000001", "14422574"), "", ""},
		"divided before hashed": {strings.Replace(queried("00", "00", "15000000", "14422574"), "15000000", "150000", 1), "", ""},
		"unsigned":              {strings.Replace(queried("00", "00", "15000000", "14422574"), "SecureHash", "Other", 1), "", ""},
		"not JSON":              {"<html>", "", ""},
		"empty":                 {"", "", ""},
		"a list":                {"[]", "", ""},
		"nothing":               {"null", "", ""},
		"endless":               {queried("00", "00", "15000000", "14422574") + strings.Repeat(" ", gatewayhttp.MaxBody), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := merchantAt(t, &api{answer: c.answer}).Check(t.Context(), testAttempt())
			if c.state == "" {
				if !errors.Is(err, payment.ErrGateway) || got != (payment.Report{}) {
					t.Errorf("Check = %+v, %v, want ErrGateway", got, err)
				}
				return
			}
			if err != nil || got.State != c.state || got.Ref != c.ref || got.Raw != c.answer {
				t.Errorf("Check = %+v, %v, want %s with reference %s", got, err, c.state, c.ref)
			}
		})
	}
}

// A response that was signed for another attempt or another command is refused.
func TestMerchant_Check_others(t *testing.T) {
	m := merchantAt(t, &api{answer: queried("00", "00", "15000000", "14422574")})
	other := testAttempt()
	other.ID = "1dfq5c2v9s6gk0r3b7m1n4t8u2"
	if got, err := m.Check(t.Context(), other); !errors.Is(err, payment.ErrGateway) {
		t.Errorf("another attempt's answer: %+v,: error %v, want ErrGateway", got, err)
	}
	if got, err := merchantAt(t, &api{answer: refunded("00", "05")}).Check(t.Context(), testAttempt()); !errors.Is(err, payment.ErrGateway) {
		t.Errorf("another command's answer: %+v,: error %v, want ErrGateway", got, err)
	}
}

// Responses of a server that is not VNPay's, or that fails, are ErrGateway. Redirects are not followed, and no error
// contains the secret.
func TestMerchant_unreachable(t *testing.T) {
	otherServer := &api{answer: queried("00", "00", "15000000", "14422574"), status: http.StatusOK}
	other := httptest.NewServer(otherServer)
	defer other.Close()
	gone := httptest.NewServer(otherServer)
	gone.Close()
	servers := map[string]*Merchant{
		"moved": merchantAt(t, &api{status: http.StatusTemporaryRedirect, header: http.Header{"Location": {other.URL}}}),
		"ill":   merchantAt(t, &api{status: http.StatusBadGateway, answer: queried("00", "00", "15000000", "14422574")}),
		"gone":  testMerchant(t, http.DefaultClient, gone.URL),
	}
	for name, m := range servers {
		_, err := m.Check(t.Context(), testAttempt())
		_, other := m.Refund(t.Context(), testRepayment())
		for _, err := range []error{err, other} {
			if !errors.Is(err, payment.ErrGateway) || strings.Contains(err.Error(), testSecret) {
				t.Errorf("%s: error %v, want ErrGateway without the secret", name, err)
			}
		}
	}
	if otherServer.calls > 0 {
		t.Error("a redirect was followed")
	}
}

func testRepayment() payment.RefundRequest {
	a := testAttempt()
	a.State, a.GatewayRef = payment.Paid, "14422574"
	return payment.RefundRequest{
		ID: "0dfq5c2v9s6gk0r3b7m1n4t8u9", Attempt: a, Amount: 150_000, Full: true, By: "lan@house.example", Reason: "Hết món | late",
		DecidedAt: testNow.Add(-90 * time.Second),
	}
}

// refunded returns a signed response to refund.
func refunded(code, status string) string {
	text := "r2|refund|" + code + "|m|COMANDA1|" + testID + "|15000000|NCB|20261122013000|14422575|02|" + status + "|Hoan tien"
	return fmt.Sprintf(`{"vnp_ResponseId":"r2","vnp_Command":"refund","vnp_ResponseCode":%q,"vnp_Message":"m","vnp_TmnCode":"COMANDA1",
		"vnp_TxnRef":%q,"vnp_Amount":"15000000","vnp_BankCode":"NCB","vnp_PayDate":"20261122013000","vnp_TransactionNo":"14422575",
		"vnp_TransactionType":"02","vnp_TransactionStatus":%q,"vnp_OrderInfo":"Hoan tien","vnp_SecureHash":%q}`,
		code, testID, status, strings.ToUpper(mac(text)))
}

func TestMerchant_Refund(t *testing.T) {
	a := &api{answer: refunded("00", "05")}
	m := merchantAt(t, a)
	for range 2 {
		want := payment.RefundOutcome{State: payment.RefundDone, Ref: "14422575", Code: "00"}
		if got, err := m.Refund(t.Context(), testRepayment()); err != nil || got != want {
			t.Fatalf("Refund = %+v, %v, want %+v", got, err, want)
		}
	}
	testenv.Equal(t, a.bodies[1], a.bodies[0])
	var sent map[string]string
	testenv.NoError(t, json.Unmarshal([]byte(a.bodies[0]), &sent))
	text := "0dfq5c2v9s6gk0r3b7m1n4t8u9|2.1.0|refund|COMANDA1|02|" + testID + "|15000000|14422574|20261122012959|" +
		"lan house example|20261122012830|127.0.0.1|Hoan tien " + testID + " Het mon late"
	if sent["vnp_SecureHash"] != mac(text) {
		t.Errorf("%v is not signed as %s", sent, text)
	}
	part := testRepayment()
	part.Full, part.Amount, part.By, part.Attempt.GatewayRef = false, 1, "", ""
	testenv.Must(m.Refund(t.Context(), part))(t)
	clear(sent)
	testenv.NoError(t, json.Unmarshal([]byte(a.bodies[2]), &sent))
	if sent["vnp_TransactionType"] != "03" || sent["vnp_Amount"] != "100" || sent["vnp_TransactionNo"] != "0" || sent["vnp_CreateBy"] != "Comanda" {
		t.Errorf("a part is asked for as %v", sent)
	}
}

func TestMerchant_Refund_answers(t *testing.T) {
	const done, refused, unknown = payment.RefundDone, payment.RefundRefused, payment.RefundUnknown
	for _, c := range []struct {
		answer string
		first  payment.RefundState // empty for ErrGateway
		again  payment.RefundState // result of a refund that was sent before
		code   string
	}{
		{refunded("00", "05"), done, done, "00"},
		{refunded("00", "06"), done, done, "00"},
		{refunded("00", "09"), refused, refused, "00/09"},
		{refunded("94", ""), unknown, done, "94"},
		{refunded("91", ""), refused, refused, "91"},
		{refunded("95", ""), refused, refused, "95"},
		{refunded("03", ""), refused, refused, "03"},
		{refunded("99", ""), refused, unknown, "99"},
		{refunded("93", ""), refused, unknown, "93"},
		{refunded("02", ""), "", "", ""},
		{refunded("97", ""), "", "", ""},
		{strings.Replace(refunded("91", ""), `"91"`, `"00"`, 1), "", "", ""},
		{queried("00", "00", "15000000", "14422574"), "", "", ""},
		{`{"vnp_ResponseCode":"99"}`, "", "", ""},
	} {
		for sent, state := range map[bool]payment.RefundState{false: c.first, true: c.again} {
			r := testRepayment()
			r.Sent = sent
			got, err := merchantAt(t, &api{answer: c.answer}).Refund(t.Context(), r)
			if got.State != state || got.Code != c.code || (err == nil) != (state != "") || err != nil && !errors.Is(err, payment.ErrGateway) {
				t.Errorf("Refund with answer %s = %+v, %v, want state %q, code %q", c.answer, got, err, state, c.code)
			}
		}
	}
}

// Code 94 settles a refund only if no earlier request was answered: an answer shows that VNPay had not accepted it.
func TestMerchant_Refund_sent_again_after_an_answer(t *testing.T) {
	for code, want := range map[string]payment.RefundState{
		"": payment.RefundDone, payment.Unreachable: payment.RefundDone,
		"94": payment.RefundUnknown, "99": payment.RefundUnknown, "00/09": payment.RefundUnknown,
	} {
		r := testRepayment()
		r.Sent, r.Code = true, code
		got := testenv.Must(merchantAt(t, &api{answer: refunded("94", "")}).Refund(t.Context(), r))(t)
		if got.State != want {
			t.Errorf("after the answer %q: %s, want %s", code, got.State, want)
		}
	}
}

// Code 94 does not settle this refund if VNPay may be processing another one.
func TestMerchant_Refund_besideOthers(t *testing.T) {
	for name, c := range map[string]struct {
		other payment.Refund
		known bool
	}{
		"done by us":         {payment.Refund{State: payment.RefundDone, Sent: true}, false},
		"done by hand":       {payment.Refund{State: payment.RefundDone}, false},
		"not known":          {payment.Refund{State: payment.RefundUnknown, Sent: true}, false},
		"refused":            {payment.Refund{State: payment.RefundRefused, Sent: true}, false},
		"not sent so far":    {payment.Refund{State: payment.RefundSending}, true},
		"not decided so far": {payment.Refund{State: payment.RefundDue}, true},
		"never was sent":     {payment.Refund{State: payment.RefundRefused}, true},
	} {
		r := testRepayment()
		r.Sent, r.OtherRefunds = true, []payment.Refund{c.other}
		got, err := merchantAt(t, &api{answer: refunded("94", "")}).Refund(t.Context(), r)
		if (got.State == payment.RefundDone) != c.known || errors.Is(err, payment.ErrGateway) == c.known {
			t.Errorf("%s: Refund = %+v, %v, want done %t", name, got, err, c.known)
		}
	}
}

// VNPay recognizes a repetition within one day of UTC+7, which starts at 17:00 UTC. A first request is not a
// repetition.
func TestMerchant_Refund_anotherDay(t *testing.T) {
	for _, c := range []struct {
		ago         time.Duration
		whole, sent bool
		code        string
	}{
		{time.Hour, false, true, "00"}, {85 * time.Minute, false, true, "00"}, {85*time.Minute + 1, false, true, AnotherDay},
		{24 * time.Hour, false, true, AnotherDay}, {24 * time.Hour, false, false, "00"}, {24 * time.Hour, true, true, "00"},
	} {
		a := &api{answer: refunded("00", "05")}
		m := merchantAt(t, a)
		r := testRepayment()
		r.DecidedAt = testNow.Add(-c.ago)
		if !c.whole {
			r.Amount, r.Full = 1_000, false
		}
		r.Sent = c.sent
		got, err := m.Refund(t.Context(), r)
		kept := c.code == AnotherDay
		if err != nil || got.Code != c.code || (got.State == payment.RefundUnknown) != kept || (a.calls == 0) != kept {
			t.Errorf("%v ago: %+v, %v after %d calls", c.ago, got, err, a.calls)
		}
	}
}

// A request shortly before midnight may reach VNPay on the next day.
func TestMerchant_Refund_beforeMidnight(t *testing.T) {
	for left, again := range map[time.Duration]bool{time.Hour: true, 5*time.Minute + 1: true, 5 * time.Minute: false, 1: false} {
		a := &api{answer: refunded("00", "05")}
		m := merchantAt(t, a)
		now := testNow.Add(22*time.Hour + 30*time.Minute - left)
		m.now = func() time.Time { return now }
		r := testRepayment()
		r.Amount, r.Full, r.Sent, r.DecidedAt = 1_000, false, true, now.Add(-time.Hour)
		got, err := m.Refund(t.Context(), r)
		if err != nil || (got.State == payment.RefundDone) != again || (a.calls == 1) != again {
			t.Errorf("with %v left: %+v, %v after %d calls", left, got, err, a.calls)
		}
	}
}

func TestMerchant_Refund_unsuitable(t *testing.T) {
	a := &api{}
	m := merchantAt(t, a)
	for name, change := range map[string]func(*payment.RefundRequest){
		"nothing":            func(r *payment.RefundRequest) { r.Amount, r.Full = 0, false },
		"more than was paid": func(r *payment.RefundRequest) { r.Amount, r.Full = 150_001, false },
		"not the whole":      func(r *payment.RefundRequest) { r.Amount = 149_999 },
		"another method":     func(r *payment.RefundRequest) { r.Attempt.Method = payment.Counter },
		"another currency":   func(r *payment.RefundRequest) { r.Attempt.Currency = money.USD },
	} {
		r := testRepayment()
		change(&r)
		if got, err := m.Refund(t.Context(), r); !errors.Is(err, payment.ErrUnsuitable) || got.State != "" {
			t.Errorf("Refund with %s = %+v, %v, want ErrUnsuitable", name, got, err)
		}
	}
	if a.calls > 0 {
		t.Errorf("VNPay was asked %d times", a.calls)
	}
}
