package linepay

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
)

func confirmText(transactionID, orderID string, amounts ...string) string {
	parts := make([]string, len(amounts))
	for i, a := range amounts {
		parts[i] = fmt.Sprintf(`{"method":"CREDIT_CARD","amount":%s}`, a)
	}
	return fmt.Sprintf(`{"returnCode":"0000","returnMessage":"Success.","info":{"orderId":%q,"transactionId":%s,"payInfo":[%s]}}`,
		orderID, transactionID, strings.Join(parts, ","))
}

// paymentsText returns a response with payment details, with more members of the payment and its refunds.
func paymentsText(more, refunds string) string {
	return `{"returnCode":"0000","info":[{"transactionId":` + ref + `,"orderId":"` + attemptID + `","transactionType":"PAYMENT",` +
		`"payStatus":"CAPTURE","currency":"TWD","payInfo":[{"method":"BALANCE","amount":300},{"method":"POINT","amount":60}]` +
		more + `,"refundList":[` + refunds + `]}]}`
}

func TestMerchant_Confirm_codes(t *testing.T) {
	const rejected = payment.State("") // ErrGateway
	for state, codes := range map[payment.State]string{
		payment.Failed:     "1101 1102 1110 1141 1142 1170 1180 1280 1281 1287 1290 1298",
		payment.Redirected: "1169",
		payment.Unknown:    "1145 1150 1152 1155 1163 1172 1177 1198 1199 1279 1299 1900 1901 1902 1903 1999 9000 0110 0123 8888",
		rejected:           "1104 1105 1106 1124 1153 1178 1183 1194 2101 2102",
	} {
		for code := range strings.FieldsSeq(codes) {
			text := `{"returnCode":"` + code + `","returnMessage":"說明"}`
			r, err := merchantOf(t, fakeLINEPay(map[string]string{"confirm": text})).Confirm(t.Context(), attempt())
			if state == rejected {
				if !errors.Is(err, payment.ErrGateway) || !strings.Contains(err.Error(), code) {
					t.Errorf("Confirm with code %s = %+v, %v, want ErrGateway with the code", code, r, err)
				}
				continue
			}
			if want := (payment.Report{State: state, Ref: ref, Code: code, Raw: text}); err != nil || r != want {
				t.Errorf("Confirm with code %s = %+v, %v, want %+v", code, r, err, want)
			}
		}
	}
}

func TestMerchant_Confirm_money(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		state  payment.State
		amount int64
	}{
		"one":               {confirmText(ref, attemptID, "360"), payment.Paid, 360},
		"card and points":   {confirmText(ref, attemptID, "300", "60"), payment.Paid, 360},
		"written otherwise": {confirmText(`"`+ref+`"`, attemptID, "360.00"), payment.Paid, 360},
		"less":              {confirmText(ref, attemptID, "359"), payment.Review, 359},
		"more":              {confirmText(ref, attemptID, "360", "1"), payment.Review, 361},
		"another order":     {confirmText(ref, "06g5s3p1q8n7q0a1b2c3d4e5f9", "360"), payment.Review, 360},
		"another payment":   {confirmText("2026112109876543213", attemptID, "360"), payment.Review, 360},
		"a rounded id":      {confirmText("2026112109876543000", attemptID, "360"), payment.Review, 360},
		"no amount":         {confirmText(ref, attemptID), payment.Review, 0},
		"a strange amount":  {confirmText(ref, attemptID, "3.6e2"), payment.Review, 0},
		"no info":           {`{"returnCode":"0000"}`, payment.Review, 0},
		"another info":      {`{"returnCode":"0000","info":[1]}`, payment.Review, 0},
	} {
		r, err := merchantOf(t, fakeLINEPay(map[string]string{"confirm": c.text})).Confirm(t.Context(), attempt())
		if err != nil || r.State != c.state || r.Amount != c.amount || r.Ref != ref || r.Code != codeOK || r.Raw != c.text {
			t.Errorf("Confirm with %s = %+v, %v, want %s with amount %d", name, r, err, c.state, c.amount)
		}
		if (r.Currency == "TWD") != (c.amount != 0) && c.state == payment.Paid {
			t.Errorf("%s: currency %q", name, r.Currency)
		}
	}
}

func TestMerchant_Confirm_body(t *testing.T) {
	for currency, want := range map[money.Currency]string{
		"TWD": `{"amount":1250,"currency":"TWD"}`, "THB": `{"amount":12.50,"currency":"THB"}`, "USD": `{"amount":12.50,"currency":"USD"}`,
	} {
		l := failingLINEPay(200, "", nil)
		a := attempt()
		a.Amount, a.Currency = 1250, currency
		if _, err := merchantOf(t, l).Confirm(t.Context(), a); err != nil || l.bodies[0] != want {
			t.Errorf("bodies = %v, %v, want %s", l.bodies, err, want)
		}
	}
}

// An invalid response leaves the outcome unknown.
func TestMerchant_Confirm_unclear(t *testing.T) {
	good := confirmText(ref, attemptID, "360")
	for name, l := range map[string]*fakeServer{
		"HTML":         failingLINEPay(200, "<html>\x00\xff", nil),
		"empty":        failingLINEPay(200, "", nil),
		"half":         failingLINEPay(200, good[:40], nil),
		"no code":      failingLINEPay(200, `{"info":{}}`, nil),
		"odd code":     failingLINEPay(200, `{"returnCode":"0000 "}`, nil),
		"number":       failingLINEPay(200, `{"returnCode":0}`, nil),
		"status 500":   failingLINEPay(500, good, nil),
		"status 429":   failingLINEPay(429, `{"returnCode":"1101"}`, nil),
		"status 302":   failingLINEPay(302, good, nil),
		"too long":     failingLINEPay(200, good+strings.Repeat(" ", gatewayhttp.MaxBody), nil),
		"out of reach": failingLINEPay(0, "", http.ErrHandlerTimeout),
	} {
		r, err := merchantOf(t, l).Confirm(t.Context(), attempt())
		if err != nil || r.State != payment.Unknown || r.Ref != ref || r.Code != "" || r.Amount != 0 {
			t.Errorf("Confirm with %s = %+v, %v, want UNKNOWN", name, r, err)
		}
		if !utf8.ValidString(r.Raw) || strings.Contains(r.Raw, "\x00") || len(r.Raw) > maxRaw {
			t.Errorf("%s: raw %q", name, r.Raw)
		}
		if len(l.requests) != 1 {
			t.Errorf("%s: sent %d times", name, len(l.requests))
		}
	}
}

func TestMerchant_Confirm_refuses(t *testing.T) {
	l := failingLINEPay(200, "", nil)
	a := attempt()
	for _, odd := range []string{"", "123", ref + "0", "20261121098765432a1", "../../v4/x"} {
		a.GatewayRef = odd
		if _, err := merchantOf(t, l).Confirm(t.Context(), a); !errors.Is(err, payment.ErrGateway) {
			t.Errorf("Confirm of transaction %q: error %v, want ErrGateway", odd, err)
		}
	}
	a = attempt()
	a.Currency = "VND"
	if _, err := merchantOf(t, l).Confirm(t.Context(), a); !errors.Is(err, payment.ErrUnsuitable) || len(l.requests) != 0 {
		t.Errorf("%v, %d calls", err, len(l.requests))
	}
}

func TestMerchant_Check(t *testing.T) {
	gone := `{"returnCode":"1150"}`
	for name, c := range map[string]struct {
		check, details string
		want           payment.State // empty for ErrGateway
		amount         int64
	}{
		"waiting":           {`{"returnCode":"0000"}`, gone, payment.Redirected, 0},
		"approved":          {`{"returnCode":"0110"}`, gone, payment.Approved, 0},
		"ended":             {`{"returnCode":"0121"}`, gone, payment.Failed, 0},
		"failed":            {`{"returnCode":"0122"}`, gone, payment.Failed, 0},
		"paid":              {`{"returnCode":"0123"}`, paymentsText("", ""), payment.Paid, 360},
		"paid, given back":  {`{"returnCode":"0123"}`, paymentsText("", `{"refundAmount":-360}`), payment.Paid, 360},
		"paid, not listed":  {`{"returnCode":"0123"}`, gone, "", 0},
		"paid, list fails":  {`{"returnCode":"0123"}`, `<html>`, "", 0},
		"paid, other order": {`{"returnCode":"0123"}`, strings.ReplaceAll(paymentsText("", ""), attemptID, "x"), payment.Review, 360},
		"paid, other money": {`{"returnCode":"0123"}`, strings.ReplaceAll(paymentsText("", ""), "300", "299"), payment.Review, 359},
		"other currency":    {`{"returnCode":"0123"}`, strings.ReplaceAll(paymentsText("", ""), "TWD", "JPY"), payment.Review, 360},
		"authorised only":   {`{"returnCode":"0123"}`, strings.ReplaceAll(paymentsText("", ""), "CAPTURE", "AUTHORIZATION"), payment.Review, 360},
		"another's payment": {`{"returnCode":"0123"}`, strings.ReplaceAll(paymentsText("", ""), ref, "2026112109876543213"), "", 0},
		"no such request":   {gone, gone, payment.Redirected, 0},
		"paid long ago":     {gone, paymentsText("", ""), payment.Paid, 360},
		"gone, list fails":  {gone, `<html>`, "", 0},
		"signature":         {`{"returnCode":"1106"}`, gone, "", 0},
		"in process":        {`{"returnCode":"1145"}`, gone, "", 0},
		"HTML":              {`<html>`, gone, "", 0},
	} {
		m := merchantOf(t, fakeLINEPay(map[string]string{"check": c.check, "payments": c.details}))
		r, err := m.Check(t.Context(), attempt())
		if c.want == "" {
			if !errors.Is(err, payment.ErrGateway) || r != (payment.Report{}) {
				t.Errorf("Check with %s = %+v, %v, want ErrGateway", name, r, err)
			}
			continue
		}
		if err != nil || r.State != c.want || r.Amount != c.amount || r.Ref != ref || r.Raw == "" {
			t.Errorf("Check with %s = %+v, %v, want %s with amount %d", name, r, err, c.want, c.amount)
		}
		if c.want == payment.Paid && (r.Currency != "TWD" || r.Code != codePaid) {
			t.Errorf("Check with %s = %+v, want code %s in TWD", name, r, codePaid)
		}
	}
}

// A capture request may have moved money: if LINE Pay does not know the payment afterwards, the attempt stays as it is.
func TestMerchant_Check_unknown_after_a_capture(t *testing.T) {
	gone := `{"returnCode":"1150"}`
	for _, state := range []payment.State{payment.Confirming, payment.Unknown} {
		a := attempt()
		a.State = state
		r, err := merchantOf(t, fakeLINEPay(map[string]string{"check": gone, "payments": gone})).Check(t.Context(), a)
		if !errors.Is(err, payment.ErrGateway) {
			t.Errorf("Check of %s = %+v, %v, want ErrGateway", state, r, err)
		}
		found := fakeLINEPay(map[string]string{"check": gone, "payments": paymentsText("", "")})
		if r, err := merchantOf(t, found).Check(t.Context(), a); err != nil || r.State != payment.Paid {
			t.Errorf("Check of %s with a payment = %+v, %v, want PAID", state, r, err)
		}
	}
}

// Without a transaction, an attempt is looked up by its own id. Refunds in the response do not count as the attempt.
func TestMerchant_Check_unstarted(t *testing.T) {
	a := attempt()
	a.GatewayRef = ""
	withRefund := strings.Replace(paymentsText("", ""), `"info":[`, `"info":[{"transactionId":2026112109876543299,"orderId":"`+attemptID+`","transactionType":"PAYMENT_REFUND"},`, 1)
	l := fakeLINEPay(map[string]string{"payments": withRefund})
	r, err := merchantOf(t, l).Check(t.Context(), a)
	if err != nil || r.State != payment.Paid || r.Ref != ref || r.Amount != 360 || l.requests[0].URL.RawQuery != "orderId="+attemptID {
		t.Errorf("Check of an attempt without a reference = %+v, %v from %s, want PAID with 360", r, err, l.requests[0].URL)
	}
	r, err = merchantOf(t, fakeLINEPay(map[string]string{"payments": `{"returnCode":"1150"}`})).Check(t.Context(), a)
	if err != nil || r.State != payment.Redirected || r.Ref != "" || r.Code != "1150" {
		t.Errorf("Check of an unknown attempt = %+v, %v, want REDIRECTED with code 1150", r, err)
	}
	if _, err = merchantOf(t, failingLINEPay(500, "", nil)).Check(t.Context(), a); !errors.Is(err, payment.ErrGateway) {
		t.Error(err)
	}
}

// PAID requires a response with the order, the transaction and the amount of the attempt.
func FuzzMerchant_Confirm(f *testing.F) {
	f.Add(confirmText(ref, attemptID, "300", "60"))
	f.Add(`{"returnCode":"1169","returnMessage":"x"}`)
	f.Add(`{"returnCode":"0000","info":{"orderId":null,"transactionId":` + ref + `,"payInfo":[{}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := merchantOf(t, failingLINEPay(http.StatusOK, text, nil)).Confirm(t.Context(), attempt())
		if err != nil && !errors.Is(err, payment.ErrGateway) {
			t.Error(err)
		}
		if !utf8.ValidString(r.Raw) || len(r.Raw) > maxRaw {
			t.Errorf("raw %q", r.Raw)
		}
		if r.State != payment.Paid {
			return
		}
		var a struct {
			Info struct {
				OrderID       string
				TransactionID json.Number
				PayInfo       []struct{ Amount float64 }
			}
		}
		total := 0.0
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("response %s: %v", text, err)
		}
		for _, p := range a.Info.PayInfo {
			total += p.Amount
		}
		if a.Info.OrderID != attemptID || a.Info.TransactionID != ref || total != 360 {
			t.Errorf("PAID for %s", text)
		}
	})
}
