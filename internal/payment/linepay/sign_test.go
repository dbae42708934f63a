package linepay

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"comanda/internal/payment"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

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
