package orderinghttp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz/authzhttp"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/payment"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// fakeListing is a fake Listing that records its filters and returns one row of each kind.
type fakeListing struct {
	orders   ordering.OrderFilter
	attempts ordering.AttemptFilter
}

func (s *fakeListing) Listed(_ context.Context, f ordering.OrderFilter) ([]ordering.ListedOrder, int64, error) {
	s.orders = f
	return []ordering.ListedOrder{{Table: "T1", Order: ordering.Order{
		ID: "o", Scope: stock.Scope{Branch: 1, Date: "2026-02-26"}, Kind: ordering.DineIn, Number: 1041, Total: 7,
		Items: []ordering.Item{{ItemID: 1, Name: "Phở", Price: 7, Qty: 1}}, CreatedAt: time.Unix(60, 0).UTC(),
	}}}, 41, nil
}

func (s *fakeListing) ListedAttempts(_ context.Context, f ordering.AttemptFilter) ([]ordering.ListedAttempt, int64, error) {
	s.attempts = f
	return []ordering.ListedAttempt{{Number: 42, BizDate: "2026-02-26", Attempt: payment.Attempt{
		ID: "p", OrderID: "o", Method: payment.VNPay, State: payment.Paid, SettledAt: time.Unix(60, 0).UTC(),
	}}}, 1, nil
}

func TestLists(t *testing.T) {
	conf := httpapi.Default()
	conf.ServiceToken = serviceToken
	server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	server.SetAuthenticator(authzhttp.Authenticator{})
	s := &fakeListing{}
	orderinghttp.RegisterLists(server.API(), s)
	web := httptest.NewServer(server)
	defer web.Close()
	defer web.Client().CloseIdleConnections()
	ask := func(path string) (status int, body map[string]any) {
		t.Helper()
		r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+path, nil))(t)
		r.Header.Set("Authorization", "Bearer "+serviceToken)
		res, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text := testenv.Must(io.ReadAll(res.Body))(t)
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatalf("answer %s: %v", text, err)
		}
		return res.StatusCode, body
	}

	status, body := ask("/api/orders?branchId=1&bizDate=2026-02-26&status=READY&paymentStatus=PAID&q=b-42&page=3&size=5")
	want := ordering.OrderFilter{
		Branch: 1, Dates: ordering.Dates{From: "2026-02-26", To: "2026-02-26"}, Status: "READY", PaymentStatus: ordering.Paid,
		Number: ordering.NumberFilter{Whole: 1041}, Limit: 5, Offset: 10,
	}
	if diff := cmp.Diff(want, s.orders); diff != "" || status != http.StatusOK {
		t.Errorf("GET /api/orders: status %d, filter (-want +got):\n%s", status, diff)
	}
	row, _ := body["items"].([]any)[0].(map[string]any)
	if row["number"] != "B-042" || row["tableLabel"] != "T1" || row["paidAt"] != nil || body["total"] != 41.0 || body["page"] != 3.0 {
		t.Errorf("orders = %v, want B-042 of table T1, unpaid, on page 3 of 41", body)
	}

	status, body = ask("/api/payments?branchId=1&from=2026-02-01&to=2026-02-28&method=VNPAY&state=PAID")
	wanted := ordering.AttemptFilter{
		Branch: 1, Dates: ordering.Dates{From: "2026-02-01", To: "2026-02-28"}, Method: payment.VNPay, State: payment.Paid, Limit: 20,
	}
	if diff := cmp.Diff(wanted, s.attempts); diff != "" || status != http.StatusOK {
		t.Errorf("GET /api/payments: status %d, filter (-want +got):\n%s", status, diff)
	}
	row, _ = body["items"].([]any)[0].(map[string]any)
	if row["number"] != "A-042" || row["orderId"] != "o" || row["settledAt"] != "1970-01-01T00:01:00Z" {
		t.Errorf("payments = %v, want the settled one of A-042", body)
	}

	for path, want := range map[string]string{
		"/api/orders":                                            "invalid",
		"/api/orders?branchId=1&q=nonsense":                      "invalid_number",
		"/api/orders?branchId=1&size=101":                        "invalid",
		"/api/orders?branchId=1&status=EATEN":                    "invalid",
		"/api/orders?branchId=1&bizDate=2026-02-30":              "invalid",
		"/api/orders?branchId=1&bizDate=26-02-2026":              "invalid",
		"/api/payments?branchId=1&state=STUCK":                   "invalid",
		"/api/payments?branchId=x":                               "invalid",
		"/api/payments?branchId=1&from=2026-02-30":               "invalid",
		"/api/payments?branchId=1&to=2026-13-01":                 "invalid",
		"/api/payments?branchId=1&from=2026-02-02&to=2026-02-01": "invalid",
	} {
		if status, body := ask(path); status != http.StatusUnprocessableEntity || body["code"] != want {
			t.Errorf("GET %s: status %d, code %v, want 422 %s", path, status, body["code"], want)
		}
	}
}
