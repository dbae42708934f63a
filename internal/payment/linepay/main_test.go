package linepay

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/payment"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ref       = "2026112109876543211"
	attemptID = "06g5s3p1q8n7q0a1b2c3d4e5f6"
)

// fakeServer is a fake LINE Pay with the responses of a test, call by call.
type fakeServer struct {
	requests []*http.Request
	bodies   []string
	answer   func(r *http.Request, body string) (status int, text string, err error)
}

func (l *fakeServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	l.requests, l.bodies = append(l.requests, r), append(l.bodies, body)
	status, text, err := l.answer(r, body)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Location": {"/elsewhere"}}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Header: h, Request: r}, nil
}

// fakeLINEPay returns a LINE Pay that answers each call by the last word of its path: request, check, confirm, refund,
// payments.
func fakeLINEPay(texts map[string]string) *fakeServer {
	return &fakeServer{answer: func(r *http.Request, _ string) (int, string, error) {
		return http.StatusOK, texts[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]], nil
	}}
}

func failingLINEPay(status int, text string, err error) *fakeServer {
	return &fakeServer{answer: func(*http.Request, string) (int, string, error) { return status, text, err }}
}

func testConfig() Config {
	return Config{ChannelID: "1656000001", ChannelSecret: "a917ab6a2367b536f8e5a6e2977e06f4"}
}

func merchantOf(t testing.TB, l *fakeServer) *Merchant {
	t.Helper()
	return testenv.Must(New(testConfig(), &http.Client{Transport: l}, Nonce))(t)
}

func attempt() payment.Attempt {
	return payment.Attempt{
		ID: attemptID, OrderID: "06g5s3p1q8n7q0a1b2c3d4e5f7", Method: payment.LINEPay, Amount: 360, Currency: "TWD",
		State: payment.Redirected, GatewayRef: ref, CreatedAt: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	}
}

func purchaseOf(a payment.Attempt) payment.Purchase {
	a.GatewayRef = ""
	return payment.Purchase{
		Attempt: a, OrderNumber: "A-012", BranchName: "小籠包 <永康店> & 茶", ExpiresAt: a.CreatedAt.Add(15 * time.Minute), ClientIP: "2001:db8::1",
		Language: "zh-TW", ReturnBaseURL: "https://eat.example",
	}
}
