package orderinghttp_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz/authzhttp"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/payment/linepay"
	"comanda/internal/payment/vnpay"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

const (
	serviceToken = "0123456789abcdef0123456789abcdef"
	site         = "COMANDA1"
	secret       = "5d2c7f0a9b1e4c3d8f6a7b0c1d2e3f40"
	channel      = "1656000001"
	quota        = 20
)

// testServer is a restaurant's server process with simulators of VNPay and LINE Pay, each behind its own server. Its clock
// moves only when a test calls pass.
type testServer struct {
	*testenv.Clock

	t        *testing.T
	db       *sqldb.DB
	orders   *ordering.Service
	settings ordering.Settings // changed only before requests
	vnpay    *vnpaysim.Simulator
	line     *linepaysim.Simulator
	url      string
	calls    calls // to LINE Pay's API
	log      journal
	watch    func() // called before the first byte of each response
	net      network
}

// eachEngine runs a test with a new testServer on each engine.
func eachEngine(t *testing.T, currency money.Currency, test func(h *testServer)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(newTestServer(t, db, currency)) })
}

// run runs a subtest after it has deleted all orders and payments and removed all faults.
func (h *testServer) run(name string, test func()) {
	outer := h.t
	outer.Helper()
	outer.Run(name, func(t *testing.T) {
		defer func() { h.t = outer }()
		h.t = t
		for _, table := range []string{
			"payment_event", "payment_mismatch", "refund", "payment_attempt", "event_log", "order_item", "order_info", "hold",
		} {
			h.change("DELETE FROM " + table)
		}
		h.change("UPDATE sales_quota_counter SET held_qty = 0, used_qty = 0")
		h.vnpayFaults(vnpaysim.Faults{})
		h.lineFaults()
		h.calls.forget()
		test()
	})
}

func newTestServer(t *testing.T, db *sqldb.DB, currency money.Currency) *testServer {
	t.Helper()
	r := orderingtest.Open(t, db, 1, quota)
	r.Currency = currency
	return openTestServer(t, db, r.Catalog(t), guests{r.Visit}, &sockets{})
}

// openTestServer starts a testServer whose servers communicate over net.
func openTestServer(t *testing.T, db *sqldb.DB, kitchen ordering.Catalog, g orderinghttp.Guests, net network) *testServer {
	t.Helper()
	h := &testServer{
		t: t, db: db, Clock: testenv.NewClockAt(time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)), calls: calls{n: map[string]int{}}, net: net,
	}
	url, serve := net.listen(t)
	h.url = url
	v, l := h.openGateways()
	ledger := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, h.Now)
	t.Cleanup(ledger.Stop)
	h.settings = ordering.Settings{
		Config: ordering.Defaults(), Methods: payment.NewMethods(payment.VNPay, payment.LINEPay),
		Gateways: map[payment.Method]payment.Gateway{payment.VNPay: v, payment.LINEPay: l}, ReturnTo: h.url,
	}
	h.settings.Limits = ordering.Limits{}
	h.orders = &ordering.Service{
		Settings: func() ordering.Settings { return h.settings }, Ledger: ledger, Admission: admitAll{},
		Reader: orderingsql.NewOrders(db), Catalog: kitchen, Payments: ledger,
		Log: slog.New(slog.NewTextHandler(&h.log, nil)), Now: h.Now,
	}
	t.Cleanup(func() { h.orders.Close(context.Background()) })
	serve(h.routes(v, ledger, g))
	t.Cleanup(h.vnpay.Close) // before anything that its notifications need
	t.Cleanup(h.line.Close)
	return h
}

func (h *testServer) openGateways() (*vnpay.Merchant, *linepay.Merchant) {
	h.t.Helper()
	h.vnpay = testenv.Must(vnpaysim.New(vnpaysim.Options{
		TmnCode: site, HashSecret: secret, IPN: h.url + "/payment/vnpay/ipn", Now: h.Now, After: h.After,
		Client: h.net.client(),
	}))(h.t)
	page, serve := h.net.listen(h.t)
	serve(h.vnpay)
	v := testenv.Must(vnpay.New(vnpay.Config{
		TmnCode: site, HashSecret: secret, PayURL: page + vnpaysim.PayPath, APIURL: page + vnpaysim.APIPath,
	}, h.net.client(), h.Now))(h.t)
	h.line = testenv.Must(linepaysim.New(linepaysim.Options{
		ChannelID: channel, ChannelSecret: secret, Now: h.Now, After: h.After, Client: h.net.client(),
	}))(h.t)
	host, serve := h.net.listen(h.t)
	serve(h.calls.of(h.line))
	conf := linepay.Config{ChannelID: channel, ChannelSecret: secret, Host: host}
	return v, testenv.Must(linepay.New(conf, h.net.client(), linepay.Nonce))(h.t)
}

func (h *testServer) routes(v *vnpay.Merchant, ledger *orderingsql.Ledger, g orderinghttp.Guests) http.Handler {
	h.t.Helper()
	conf := httpapi.Default()
	conf.ServiceToken = serviceToken
	server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(h.t)
	server.SetAuthenticator(authzhttp.Authenticator{})
	orderinghttp.Register(server.API(), h.orders, g, nil, ledger)
	orderinghttp.RegisterGateways(server.API(), h.orders, orderinghttp.Gateways{
		VNPay:     func() (orderinghttp.VNPay, bool) { return vnpayAdapter{v}, true },
		LINEPay:   func() (orderinghttp.LINEPay, bool) { return linePayAdapter{}, true },
		OrderPage: "/app/orders/", MemberPage: "/shop/orders/",
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(&observedWriter{w, h}, r)
	})
}

// observedWriter calls testServer.watch before the response's first byte.
type observedWriter struct {
	http.ResponseWriter

	h *testServer
}

func (w *observedWriter) Write(b []byte) (int, error) {
	if w.h.watch != nil {
		w.h.watch()
	}
	return w.ResponseWriter.Write(b)
}

func (w *observedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *observedWriter) WriteHeader(status int) {
	if w.h.watch != nil {
		w.h.watch()
	}
	w.ResponseWriter.WriteHeader(status)
}

// admitAll is an admission cache that admits every hold, so that only the ledger decides.
type admitAll struct{}

func (admitAll) Reserve(context.Context, stock.Hold) stock.AdmissionResult {
	return stock.AdmissionResult{Status: stock.Admitted}
}
func (admitAll) DropProvisional(stock.Hold) {}

// guests resolves every token to a guest of one visit.
type guests struct{ visit string }

func (g guests) Resolve(_ context.Context, token string) (visit.Guest, error) {
	return visit.Guest{BranchID: 1, VisitID: g.visit, TokenHash: token}, nil
}

func (g guests) ResolveForRead(ctx context.Context, token string) (visit.Guest, error) {
	return g.Resolve(ctx, token)
}

// vnpayAdapter adapts vnpay.Merchant to orderinghttp.VNPay.
type vnpayAdapter struct{ m *vnpay.Merchant }

func (c vnpayAdapter) Read(rawQuery string) (string, payment.Report, error) {
	n, err := c.m.Read(rawQuery)
	return n.AttemptID, n.Report, err
}

func (vnpayAdapter) Message(code string) string { return vnpay.ReplyFor(code).Message }

type linePayAdapter struct{}

func (linePayAdapter) Read(rawQuery string) (ref, transaction string, err error) {
	r, err := linepay.Read(rawQuery)
	return r.AttemptID, r.TransactionID, err
}

// calls counts an API's calls by the last segment of their paths.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) of(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.n[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
		c.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (c *calls) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.n)
}

func (c *calls) count(word string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[word]
}

// journal is a log that tests may read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// placed is an order as the guest's routes return it.
type placed struct {
	ID            string
	PaymentStatus string
	TotalPrice    int64
	Payment       struct{ RedirectURL string }
}

// order places an order of ten units.
func (h *testServer) order(m payment.Method) placed { return h.orderOf(m, 10) }

func (h *testServer) orderOf(m payment.Method, qty int) placed {
	h.t.Helper()
	var o placed
	h.ask(http.MethodPost, "/cis/order/create", map[string]any{
		"items":         []map[string]any{{"itemId": "101", "qty": qty}},
		"paymentMethod": string(m), "clientTxnId": rand.Text(), "menuVersionId": "1",
	}, http.StatusCreated, &o)
	if m.Remote() && o.Payment.RedirectURL == "" {
		h.t.Fatalf("there is no page to pay on: %+v", o)
	}
	return o
}

// again starts another payment attempt.
func (h *testServer) again(id string, m payment.Method) placed {
	h.t.Helper()
	var o placed
	h.ask(http.MethodPost, "/cis/order/"+id+"/pay", map[string]string{"method": string(m)}, http.StatusOK, &o)
	return o
}

// ask sends JSON as the guest, or as the staff on their paths, and checks the status.
func (h *testServer) ask(method, path string, body any, want int, into any) {
	h.t.Helper()
	if status, answer := h.post(method, path, "phone", body, into); status != want {
		h.t.Fatalf("%s %s: %d %s, want %d", method, path, status, answer, want)
	}
}

// post sends JSON like ask, but may run in any goroutine, because it checks no status. It decodes only a successful
// response into into.
func (h *testServer) post(method, path, token string, body, into any) (status int, answer string) {
	h.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Error(err)
	}
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(string(text)))
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(httpapi.CustomerTokenHeader, token)
	if strings.HasPrefix(path, "/api/") {
		r.Header.Set("Authorization", "Bearer "+serviceToken)
	}
	status, answer = h.send(r)
	if into != nil && status/100 == 2 {
		testenv.NoError(h.t, json.Unmarshal([]byte(answer), into))
	}
	return status, answer
}

// send sends a request. It never ends the test, so any goroutine may call it.
func (h *testServer) send(r *http.Request) (status int, text string) {
	h.t.Helper()
	resp, err := h.net.client().Do(r)
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Error(err)
	}
	return resp.StatusCode, string(body)
}

func (h *testServer) get(address string) (status int, text string) {
	h.t.Helper()
	return h.browse(http.MethodGet, address, "")
}

// press submits an action on a gateway's page and follows the redirects, like a guest's browser.
func (h *testServer) press(page, action string) string {
	h.t.Helper()
	status, text := h.browse(http.MethodPost, page, url.Values{"action": {action}}.Encode())
	if status != http.StatusOK {
		h.t.Errorf("%s leads to %d %.300s", action, status, text)
	}
	return text
}

func (h *testServer) browse(method, address, form string) (status int, text string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, address, strings.NewReader(form))
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	r.Header.Set("Accept-Language", "en")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return h.send(r)
}

// paymentRows selects everything about payments in the database as lines of text. An order without attempts has the one
// that it was placed with.
const paymentRows = `
	SELECT 'order ' || status || '/' || payment_status || ' refunded ' || refunded_amount FROM order_info
	UNION ALL SELECT 'attempt ' || coalesce(a.method, o.payment_method) || ' ' || coalesce(a.state, 'CREATED')
	FROM order_info o LEFT JOIN payment_attempt a ON a.order_id = o.id
	UNION ALL SELECT 'refund ' || reason || ' ' || amount || ' ' || state || ' ' || code FROM refund
	UNION ALL SELECT 'report ' || source || ' ' || verdict FROM payment_event
	UNION ALL SELECT 'event ' || event_type FROM event_log`

func (h *testServer) read(query string) []string {
	h.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(query)}}).Must("it")
	all, err := sqldb.Collect(context.WithoutCancel(h.t.Context()), h.db, sqldb.Value[string], stmt)
	if err != nil {
		h.t.Error(err)
	}
	slices.Sort(all)
	return all
}

func (h *testServer) change(statement string) {
	h.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(statement)}}).Must("it")
	testenv.Must(h.db.Exec(h.t.Context(), stmt))(h.t)
}

// wantRows compares the result of paymentRows, without order.placed events, with the expected lines. A line may begin
// with a count: "3 report CALLBACK REPEATED". It also checks that Drift finds no difference.
func (h *testServer) wantRows(lines ...string) {
	h.t.Helper()
	var want []string
	for _, l := range lines {
		n := 1
		if l[0] >= '1' && l[0] <= '9' {
			n, l = int(l[0]-'0'), l[2:]
		}
		want = append(want, slices.Repeat([]string{strings.TrimSpace(l)}, n)...)
	}
	slices.Sort(want)
	got := h.read(paymentRows)
	got = slices.DeleteFunc(got, func(l string) bool { return l == "event order.placed" })
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	testenv.Equal(h.t, want, got)
	h.balanced()
}

// wantRowsAnd compares like wantRows, with additional lines that several tests share.
func (h *testServer) wantRowsAnd(common []string, lines ...string) {
	h.t.Helper()
	h.wantRows(slices.Concat(common, lines)...)
}

func (h *testServer) balanced() {
	h.t.Helper()
	found := testenv.Must(orderingsql.NewOrders(h.db).Drift(h.t.Context(), "2026-01-01", h.Now()))(h.t)
	counters := testenv.Must(stocksql.New(h.db).Drift(h.t.Context(), "2026-01-01"))(h.t)
	for _, d := range append(found, counters...) {
		h.t.Error(d)
	}
}

// reconcile advances the clock by d and runs the reconciler.
func (h *testServer) reconcile(d time.Duration) {
	h.t.Helper()
	h.Advance(d)
	testenv.NoError(h.t, h.orders.CheckPayments(h.t.Context()))
}

// expire advances the clock beyond every order's deadline and runs the sweeper.
func (h *testServer) expire() {
	h.t.Helper()
	h.Advance(17 * time.Minute)
	testenv.Must(h.orders.ExpireOverdue(h.t.Context()))(h.t)
}

func (h *testServer) refunds(d time.Duration) {
	h.t.Helper()
	h.Advance(d)
	testenv.NoError(h.t, h.orders.SendRefunds(h.t.Context()))
}

func (h *testServer) vnpayFaults(f vnpaysim.Faults) {
	h.t.Helper()
	testenv.NoError(h.t, h.vnpay.SetFaults(f))
}

func (h *testServer) lineFaults(f ...linepaysim.Fault) {
	h.t.Helper()
	testenv.NoError(h.t, h.line.SetFaults(f...))
}

func (h *testServer) await(done func() bool) {
	h.t.Helper()
	testenv.Eventually(h.t, 10*time.Second, done)
}
