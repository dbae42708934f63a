package linepay

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

func TestParseMinor(t *testing.T) {
	for _, c := range []struct {
		currency money.Currency
		text     string
		want     int64
		ok       bool
	}{
		{"TWD", "360", 360, true}, {"TWD", "360.0", 360, true}, {"TWD", "360.00", 360, true}, {"TWD", "-60", -60, true},
		{"TWD", "360.5", 0, false}, {"TWD", "3e2", 0, false}, {"TWD", "", 0, false}, {"TWD", "-", 0, false},
		{"THB", "12.5", 1250, true}, {"THB", "12.50", 1250, true}, {"THB", "12.500", 1250, true}, {"THB", "12", 1200, true},
		{"THB", "-0.05", -5, true}, {"THB", "12.505", 0, false}, {"USD", "0.10", 10, true}, {"USD", "--1", 0, false},
		{"TWD", "9007199254740992", 0, false}, {"", "1", 0, false}, {"TWD", "NaN", 0, false},
	} {
		got, err := parseMinor(c.currency, json.Number(c.text))
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("parseMinor(%s, %q) = %d, %v, want %d and success %t", c.currency, c.text, got, err, c.want, c.ok)
		}
	}
}

// Every amount survives formatting and parsing.
func TestFormatMinor_round_trip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]money.Currency{money.TWD, money.THB, money.USD}).Draw(t, "currency")
		amount := rapid.Int64Range(0, money.Max).Draw(t, "amount")
		text := testenv.Must(json.Marshal(confirmBody{formatMinor(c, amount), string(c)}))(t)
		var decoded confirmBody
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatalf("body %s: %v", text, err)
		}
		if got, err := parseMinor(c, decoded.Amount); err != nil || got != amount {
			t.Errorf("%s is parsed as %d, want %d, %v", text, got, amount, err)
		}
	})
}

func TestSum_bounded(t *testing.T) {
	most := formatMinor(money.TWD, money.Max)
	if got, err := sum(money.TWD, []json.Number{most, "1"}); err == nil {
		t.Errorf("sum above the maximum = %d, want an error", got)
	}
}

const returned = "transactionId=" + ref + "&orderId=" + attemptID

func TestRead(t *testing.T) {
	for query, ok := range map[string]bool{
		returned: true,
		"orderId=" + attemptID + "&transactionId=" + ref:   true,
		returned + "&utm_source=line":                      true,
		"order%49d=" + attemptID + "&transactionId=" + ref: true,
		"":                                 false,
		"transactionId=" + ref:             false,
		"orderId=" + attemptID:             false,
		returned + "&orderId=" + attemptID: false,
		returned + "&order%49d=06g5s3p1q8n7q0a1b2c3d4e5f9":         false,
		returned + "&transactionId=2026112109876543213":            false,
		returned + "&a=1&a=2":                                      false,
		returned + ";a=1":                                          false,
		returned + "&%zz=1":                                        false,
		"transactionId=123&orderId=" + attemptID:                   false,
		"transactionId=" + ref + "%0A&orderId=" + attemptID:        false,
		"transactionId=" + ref + "&orderId=" + attemptID + "0":     false,
		"transactionId=" + ref + "&orderId='%20or%201=1":           false,
		returned + "&x=" + strings.Repeat("x", maxQuery):           false,
		"transactionId=2.0261121098765433e18&orderId=" + attemptID: false,
	} {
		r, err := Read(query)
		if ok && (err != nil || r != Return{ref, attemptID}) || !ok && !errors.Is(err, ErrForm) {
			t.Errorf("Read(%q) = %+v, %v, want success %t", query, r, err, ok)
		}
	}
}

// An accepted query has both parameters once, in their formats.
func FuzzRead(f *testing.F) {
	f.Add(returned)
	f.Add(returned + "&orderId=x")
	f.Add("transactionId=%32026112109876543211&orderId=" + attemptID)
	f.Fuzz(func(t *testing.T, query string) {
		r, err := Read(query)
		if err != nil {
			return
		}
		q, err := url.ParseQuery(query)
		if err != nil || len(q["transactionId"]) != 1 || len(q["orderId"]) != 1 {
			t.Fatalf("%q was accepted", query)
		}
		if len(r.TransactionID) != 19 || strings.Trim(r.TransactionID, "0123456789") != "" || len(r.AttemptID) != 26 {
			t.Errorf("%q is read as %+v", query, r)
		}
		if again, err := Read("transactionId=" + r.TransactionID + "&orderId=" + r.AttemptID); err != nil || again != r {
			t.Errorf("%+v is not what it was read from: %+v, %v", r, again, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := Read(returned); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerchant_Confirm(b *testing.B) {
	l := &fakeServer{}
	m := merchantOf(b, l)
	text := confirmText(ref, attemptID, "300", "60")
	for b.Loop() {
		*l = *failingLINEPay(200, text, nil)
		if r, err := m.Confirm(b.Context(), attempt()); err != nil || r.Amount != 360 {
			b.Fatal(r, err)
		}
	}
}

func TestSign_published(t *testing.T) {
	text := testenv.Must(os.ReadFile("testdata/vectors.json"))(t)
	var vectors []struct {
		ID, Method, Path, Query, Body, Nonce, Signature string
		Secret                                          string `json:"channel_secret"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 6 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, v := range vectors {
		payload := v.Body
		if v.Method == http.MethodGet {
			payload = v.Query
		}
		if got := sign(telemetry.Secret(v.Secret), v.Path, []byte(payload), v.Nonce); got != v.Signature {
			t.Errorf("%s: %s instead of %s", v.ID, got, v.Signature)
		}
	}
}

// The signature covers the bytes as received: the path without host, and the query without question mark.
func TestMerchant_signs_the_bytes_sent(t *testing.T) {
	l := fakeLINEPay(map[string]string{
		"request":  `{"returnCode":"0000","info":{"transactionId":` + ref + `,"paymentUrl":{"web":"https://pay.example/x"}}}`,
		"check":    `{"returnCode":"0123"}`,
		"payments": paymentsText("", ""),
		"confirm":  confirmText(ref, attemptID, "360"),
		"refund":   `{"returnCode":"0000"}`,
	})
	conf := testConfig()
	conf.Host, conf.Prefix = "https://proxy.example/line", "/v3"
	m := testenv.Must(New(conf, &http.Client{Transport: l}, Nonce))(t)
	a := attempt()
	testenv.Must(m.Start(t.Context(), purchaseOf(a)))(t)
	testenv.Must(m.Check(t.Context(), a))(t)
	testenv.Must(m.Confirm(t.Context(), a))(t)
	testenv.Must(m.Refund(t.Context(), payment.RefundRequest{Attempt: a, Amount: 60}))(t)
	nonces, paths := map[string]bool{}, []string{}
	for i, r := range l.requests {
		path, ok := strings.CutPrefix(r.URL.String(), "https://proxy.example/line")
		path, query, _ := strings.Cut(path, "?")
		payload := l.bodies[i]
		if r.Method == http.MethodGet {
			payload = query
		}
		nonce := r.Header.Get("X-LINE-Authorization-Nonce")
		if got := r.Header.Get("X-LINE-Authorization"); !ok || got != sign(conf.ChannelSecret, path, []byte(payload), nonce) {
			t.Errorf("%s %s is not signed as sent", r.Method, r.URL)
		}
		if nonces[nonce] || r.Header.Get("X-LINE-ChannelId") != conf.ChannelID || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: headers %v", r.Method, r.URL, r.Header)
		}
		nonces[nonce] = true
		paths = append(paths, r.Method+" "+r.URL.RequestURI())
	}
	want := []string{
		"POST /line/v3/payments/request", "GET /line/v3/payments/requests/" + ref + "/check",
		"GET /line/v3/payments?transactionId=" + ref, "POST /line/v3/payments/" + ref + "/confirm",
		"GET /line/v3/payments?transactionId=" + ref, "POST /line/v3/payments/" + ref + "/refund",
	}
	if got := strings.Join(paths, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("calls:\n%s", got)
	}
}

func TestNonce(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if a, b := Nonce(), Nonce(); a == b || !form.MatchString(a) || !form.MatchString(b) {
		t.Errorf("Nonce = %s and %s, want two different UUIDs of version 4", a, b)
	}
}

func BenchmarkSign(b *testing.B) {
	body := []byte(`{"amount":3600,"currency":"TWD"}`)
	for b.Loop() {
		sign("a917ab6a2367b536f8e5a6e2977e06f4", "/v4/payments/"+ref+"/confirm", body, "3f1a8d2e-5b6c-4d7e-8f90-a1b2c3d4e5f6")
	}
}
