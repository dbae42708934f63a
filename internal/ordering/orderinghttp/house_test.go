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

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/httpapi"
	"comanda/internal/identity/identityhttp"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/payment/linepay"
	"comanda/internal/payment/linepaysim"
	"comanda/internal/payment/vnpay"
	"comanda/internal/payment/vnpaysim"
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

// house is a restaurant with its routes, a VNPay and a LINE Pay, each behind a server of its own. Its time passes when a
// test says so.
type house struct {
	*clock

	t      *testing.T
	db     *sqldb.DB
	orders *ordering.Service
	vnpay  *vnpaysim.Simulator
	line   *linepaysim.Simulator
	url    string
	calls  calls // of LINE Pay's API
	log    journal
	watch  func() // called before an answer's first byte
	net    network
}

// in runs a test in a house of each engine.
func in(t *testing.T, currency money.Currency, test func(h *house)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(newHouse(t, db, currency)) })
}

// run runs a test in the house as if nothing had happened in it before.
func (h *house) run(name string, test func()) {
	outer := h.t
	outer.Helper()
	outer.Run(name, func(t *testing.T) {
		defer func() { h.t = outer }()
		h.t = t
		for _, table := range []string{
			"payment_event", "payment_mismatch", "refund", "payment_attempt", "outbox_events", "order_item", "order_info", "hold_line", "hold",
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

func newHouse(t *testing.T, db *sqldb.DB, currency money.Currency) *house {
	t.Helper()
	r := orderingtest.Open(t, db, 1, quota)
	r.Currency = currency
	return openHouse(t, db, r.Kitchen(t), guests{r.Visit}, &sockets{})
}

// openHouse opens a house whose parts talk over a network.
func openHouse(t *testing.T, db *sqldb.DB, kitchen ordering.Catalog, g orderinghttp.Guests, net network) *house {
	t.Helper()
	h := &house{
		t: t, db: db, clock: &clock{t: time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)}, calls: calls{n: map[string]int{}}, net: net,
	}
	url, serve := net.listen(t)
	h.url = url
	v, l := h.openGateways()
	led := orderingsql.NewLedger(db, orderingtest.NoGate{}, h.now)
	t.Cleanup(led.Stop)
	h.orders = &ordering.Service{
		Config: ordering.Defaults(), Ledger: led, Gate: open{}, Reader: orderingsql.NewOrders(db), Catalog: kitchen,
		Methods:  payment.NewMethods(payment.VNPay, payment.LINEPay),
		Gateways: map[payment.Method]payment.Gateway{payment.VNPay: v, payment.LINEPay: l},
		Payments: led, ReturnTo: h.url, Log: slog.New(slog.NewTextHandler(&h.log, nil)), Now: h.now,
	}
	h.orders.Config.Limits = ordering.Limits{}
	t.Cleanup(func() { h.orders.Close(context.Background()) })
	serve(h.routes(v, led, g))
	t.Cleanup(h.vnpay.Close) // before anything that its notices need
	t.Cleanup(h.line.Close)
	return h
}

func (h *house) openGateways() (*vnpay.Merchant, *linepay.Merchant) {
	h.t.Helper()
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	var err error
	h.vnpay, err = vnpaysim.New(vnpaysim.Options{
		TmnCode: site, HashSecret: secret, IPN: h.url + "/payment/vnpay/ipn", Now: h.now, After: h.after,
		Client: h.net.client(),
	})
	must(err)
	page, serve := h.net.listen(h.t)
	serve(h.vnpay)
	v, err := vnpay.New(vnpay.Config{
		TmnCode: site, HashSecret: secret, PayURL: page + vnpaysim.PayPath, APIURL: page + vnpaysim.APIPath,
	}, h.net.client(), h.now)
	must(err)
	h.line, err = linepaysim.New(linepaysim.Options{ChannelID: channel, ChannelSecret: secret, Now: h.now, After: h.after, Client: h.net.client()})
	must(err)
	host, serve := h.net.listen(h.t)
	serve(h.calls.of(h.line))
	l, err := linepay.New(linepay.Config{ChannelID: channel, ChannelSecret: secret, Host: host}, h.net.client(), linepay.Nonce)
	must(err)
	return v, l
}

func (h *house) routes(v *vnpay.Merchant, led *orderingsql.Ledger, g orderinghttp.Guests) http.Handler {
	h.t.Helper()
	conf := httpapi.Default()
	conf.ServiceToken = serviceToken
	server, err := httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		h.t.Fatal(err)
	}
	server.SetAuthenticator(identityhttp.Authenticator{})
	orderinghttp.Register(server.API(), h.orders, g, nil, led)
	orderinghttp.RegisterGateways(server.API(), h.orders, orderinghttp.Gateways{
		VNPay: calling{v}, LINEPay: returning{}, OrderPage: "/app/orders/", MemberPage: "/shop/orders/",
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(&watched{w, h}, r)
	})
}

// watched shows a test what is true when the first byte of an answer goes out.
type watched struct {
	http.ResponseWriter

	h *house
}

func (w *watched) Write(b []byte) (int, error) {
	if w.h.watch != nil {
		w.h.watch()
	}
	return w.ResponseWriter.Write(b)
}

func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) WriteHeader(status int) {
	if w.h.watch != nil {
		w.h.watch()
	}
	w.ResponseWriter.WriteHeader(status)
}

// open is a gate that leaves everything to the ledger.
type open struct{}

func (open) Reserve(context.Context, stock.Hold) stock.AdmissionResult {
	return stock.AdmissionResult{Status: stock.Admitted}
}
func (open) DropProvisional(stock.Hold) {}

// guests knows one phone at one table.
type guests struct{ visit string }

func (g guests) Resolve(_ context.Context, token string) (visit.Guest, error) {
	return visit.Guest{BranchID: 1, VisitID: g.visit, TokenHash: token}, nil
}

func (g guests) ResolveForRead(ctx context.Context, token string) (visit.Guest, error) {
	return g.Resolve(ctx, token)
}

// calling and returning are the gateways as the routes want them.
type calling struct{ m *vnpay.Merchant }

func (c calling) Read(rawQuery string) (string, payment.Report, error) {
	n, err := c.m.Read(rawQuery)
	return n.AttemptID, n.Report, err
}

func (calling) Message(code string) string { return vnpay.ReplyFor(code).Message }

type returning struct{}

func (returning) Read(rawQuery string) (ref, transaction string, err error) {
	r, err := linepay.Read(rawQuery)
	return r.AttemptID, r.TransactionID, err
}

// calls counts the calls of an API by the last word of their paths.
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

// journal is a log that may be read while it is written.
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

// clock is a time that passes when a test says so.
type clock struct {
	mu      sync.Mutex
	t       time.Time
	waiting []alarm
}

type alarm struct {
	at   time.Time
	ring chan time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := alarm{c.t.Add(d), make(chan time.Time, 1)}
	c.waiting = append(c.waiting, a)
	return a.ring
}

// pass lets time pass, and wakes what waits for it.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	c.waiting = slices.DeleteFunc(c.waiting, func(a alarm) bool {
		due := !c.t.Before(a.at)
		if due {
			a.ring <- c.t
		}
		return due
	})
}

// awaitWaiting waits until something waits for the time.
func (c *clock) awaitWaiting(t *testing.T) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.waiting) > 0
	})
}

// placed is an order as a guest is answered.
type placed struct {
	ID            string
	PaymentStatus string
	TotalPrice    int64
	Payment       struct{ RedirectURL string }
}

// order places an order of ten units.
func (h *house) order(m payment.Method) placed { return h.orderOf(m, 10) }

func (h *house) orderOf(m payment.Method, qty int) placed {
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

// again starts another attempt.
func (h *house) again(id string, m payment.Method) placed {
	h.t.Helper()
	var o placed
	h.ask(http.MethodPost, "/cis/order/"+id+"/pay", map[string]string{"method": string(m)}, http.StatusOK, &o)
	return o
}

// ask sends JSON as the guest, and as the staff where the path is theirs, and expects a status.
func (h *house) ask(method, path string, body any, want int, into any) {
	h.t.Helper()
	if status, answer := h.post(method, path, "phone", body, into); status != want {
		h.t.Fatalf("%s %s: %d %s, want %d", method, path, status, answer, want)
	}
}

// post is ask for anybody beside the test. Only a success is decoded.
func (h *house) post(method, path, token string, body, into any) (status int, answer string) {
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
		if err := json.Unmarshal([]byte(answer), into); err != nil {
			h.t.Error(err)
		}
	}
	return status, answer
}

// send may run beside the test, so it does not end it.
func (h *house) send(r *http.Request) (status int, text string) {
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

func (h *house) get(address string) (status int, text string) {
	h.t.Helper()
	return h.browse(http.MethodGet, address, "")
}

// press is a guest who presses a button on a gateway's page and follows where it leads.
func (h *house) press(page, action string) string {
	h.t.Helper()
	status, text := h.browse(http.MethodPost, page, url.Values{"action": {action}}.Encode())
	if status != http.StatusOK {
		h.t.Errorf("%s leads to %d %.300s", action, status, text)
	}
	return text
}

func (h *house) browse(method, address, form string) (status int, text string) {
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

// books is everything in SQL that is about money, and how often each event was told.
const books = `
	SELECT 'order ' || status || '/' || payment_status || ' refunded ' || refunded_amount FROM order_info
	UNION ALL SELECT 'attempt ' || method || ' ' || state FROM payment_attempt
	UNION ALL SELECT 'refund ' || reason || ' ' || amount || ' ' || state || ' ' || code FROM refund
	UNION ALL SELECT 'report ' || source || ' ' || verdict FROM payment_event
	UNION ALL SELECT 'event ' || event_type FROM outbox_events`

func (h *house) read(query string) []string {
	h.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(query)}}).Must("it")
	rows, err := h.db.Query(context.WithoutCancel(h.t.Context()), stmt)
	all, err := sqldb.Collect(rows, err, sqldb.Value[string])
	if err != nil {
		h.t.Error(err)
	}
	slices.Sort(all)
	return all
}

func (h *house) change(statement string) {
	h.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(statement)}}).Must("it")
	if _, err := h.db.Exec(h.t.Context(), stmt); err != nil {
		h.t.Fatal(err)
	}
}

// wants compares the books with what they should say, the events of an order that was placed aside. Every line may
// carry a factor: "3 report CALLBACK REPEATED". What operators run finds nothing.
func (h *house) wants(lines ...string) {
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
	got := h.read(books)
	got = slices.DeleteFunc(got, func(l string) bool { return l == "event order.placed" })
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if d := cmp.Diff(want, got); d != "" {
		h.t.Errorf("the books: %s", d)
	}
	h.balanced()
}

// wantsMore is wants with lines that several tests share.
func (h *house) wantsMore(some []string, lines ...string) {
	h.t.Helper()
	h.wants(slices.Concat(some, lines)...)
}

func (h *house) balanced() {
	h.t.Helper()
	found, err := orderingsql.NewOrders(h.db).Drift(h.t.Context(), "2026-01-01", h.now())
	if err != nil {
		h.t.Fatal(err)
	}
	counters, err := stocksql.New(h.db).Drift(h.t.Context(), "2026-01-01")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, d := range append(found, counters...) {
		h.t.Error(d)
	}
}

// reconcile lets so much time pass and has the gateways asked.
func (h *house) reconcile(d time.Duration) {
	h.t.Helper()
	h.pass(d)
	if err := h.orders.AskGateways(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// expire lets the deadline of every order pass.
func (h *house) expire() {
	h.t.Helper()
	h.pass(17 * time.Minute)
	if _, err := h.orders.ExpireOverdue(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) refunds(d time.Duration) {
	h.t.Helper()
	h.pass(d)
	if err := h.orders.SendRefunds(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) vnpayFaults(f vnpaysim.Faults) {
	h.t.Helper()
	if err := h.vnpay.SetFaults(f); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) lineFaults(f ...linepaysim.Fault) {
	h.t.Helper()
	if err := h.line.SetFaults(f...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) await(done func() bool) {
	h.t.Helper()
	testenv.Eventually(h.t, 10*time.Second, done)
}
