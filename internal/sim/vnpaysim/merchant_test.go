package vnpaysim_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/vnpay"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	site   = "COMANDA1"
	secret = "5d2c7f0a9b1e4c3d8f6a7b0c1d2e3f40"
)

// merchant is a minimal merchant: attempts in a map, an IPN URL and a return URL, handled as the manual requires.
type merchant struct {
	*testenv.Clock

	t   *testing.T
	m   *vnpay.Merchant
	sim *vnpaysim.Simulator
	api string
	url string

	mu       sync.Mutex
	down     bool // whether the database is down
	attempts map[string]*payment.Attempt
	changes  int      // number of changes of attempts
	received []string // received messages with their results, in order
}

func newMerchant(t *testing.T, options ...func(*vnpaysim.Options)) *merchant {
	t.Helper()
	h := &merchant{
		Clock: testenv.NewClockAt(time.Date(2026, 11, 21, 18, 30, 0, 0, time.UTC)), t: t, attempts: map[string]*payment.Attempt{},
	}
	own := httptest.NewServer(h)
	t.Cleanup(own.Close)
	h.url = own.URL
	o := vnpaysim.Options{
		TmnCode: site, HashSecret: secret, IPN: own.URL + "/ipn?from=vnpay", Now: h.Now, After: h.After,
	}
	for _, change := range options {
		change(&o)
	}
	h.sim = testenv.Must(vnpaysim.New(o))(t)
	gateway := httptest.NewServer(h.sim)
	h.api = gateway.URL
	t.Cleanup(gateway.Close)
	t.Cleanup(h.sim.Close) // before its server, so that no page waits for a notice
	conf := vnpay.Config{
		TmnCode: site, HashSecret: secret, PayURL: gateway.URL + vnpaysim.PayPath, APIURL: gateway.URL + vnpaysim.APIPath,
	}
	h.m = testenv.Must(vnpay.New(conf, gateway.Client(), h.Now))(t)
	return h
}

func (h *merchant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := h.m.Read(r.URL.RawQuery)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.URL.Path {
	case "/ipn":
		code := h.handleIPN(n, err)
		h.received = append(h.received, "ipn "+code)
		_ = json.NewEncoder(w).Encode(vnpay.ReplyFor(code))
	case "/payment/vnpay/return":
		h.received = append(h.received, "return "+n.Code)
		_, _ = fmt.Fprintf(w, "back with %s, %v", n.Code, err)
	default:
		http.NotFound(w, r)
	}
}

// handleIPN checks signature, attempt, amount and state, as an IPN handler does.
func (h *merchant) handleIPN(n vnpay.Notice, err error) string {
	a := h.attempts[n.AttemptID]
	switch {
	case err != nil && strings.Contains(err.Error(), vnpay.ErrSignature.Code):
		return vnpay.WrongSignature
	case err != nil, h.down:
		return vnpay.NotRecorded
	case a == nil:
		return vnpay.UnknownAttempt
	case n.Amount != a.Amount || n.Currency != a.Currency:
		return vnpay.WrongAmount
	case !a.Settle(n.State, n.Ref, h.Now()):
		return vnpay.RecordedBefore
	}
	h.changes++
	return vnpay.Recorded
}

func (h *merchant) breakDown(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
}

// begin creates an attempt and returns the URL of its page.
func (h *merchant) begin(change ...func(*payment.Purchase)) (id, page string) {
	h.t.Helper()
	now := h.Now()
	p := payment.Purchase{
		Attempt: payment.Attempt{
			ID: uid.New(now), Method: payment.VNPay, Amount: 150_000, Currency: money.VND, State: payment.Redirected, CreatedAt: now,
		},
		OrderNumber: "A17", BranchName: "Phở Thìn", ExpiresAt: now.Add(15 * time.Minute), ClientIP: "203.0.113.7", Language: "vi", ReturnBaseURL: h.url,
	}
	for _, f := range change {
		f(&p)
	}
	got := testenv.Must(h.m.Start(h.t.Context(), p))(h.t)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attempts[p.Attempt.ID] = &p.Attempt
	return p.Attempt.ID, got.URL
}

func (h *merchant) attempt(id string) payment.Attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *h.attempts[id]
}

// story returns the events so far.
func (h *merchant) story() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.received, ", ")
}

func (h *merchant) awaitStory(story string) {
	h.t.Helper()
	defer func() {
		if h.t.Failed() {
			h.t.Logf("received %q, want %q", h.story(), story)
		}
	}()
	testenv.Eventually(h.t, 10*time.Second, func() bool { return h.story() == story })
}

// wantAttempt checks an attempt's state and the number of changes so far.
func (h *merchant) wantAttempt(id string, state payment.State, changes int) {
	h.t.Helper()
	a := h.attempt(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.State != state || h.changes != changes {
		h.t.Errorf("the attempt is %s after %d changes, want %s after %d; received %s", a.State, h.changes, state, changes, h.received)
	}
}

// act presses a button as the guest and follows the redirects.
func (h *merchant) act(page, action string) (status int, text string) {
	h.t.Helper()
	return h.browse(http.MethodPost, page, url.Values{"action": {action}}.Encode())
}

// pass waits until n timers are pending, and advances the clock.
func (h *merchant) pass(t *testing.T, n int, d time.Duration) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() bool { return h.Timers() >= n })
	h.Advance(d)
}

func (h *merchant) get(page string) (status int, text string) {
	h.t.Helper()
	return h.browse(http.MethodGet, page, "")
}

// browse sends a request. It does not end the test, so any goroutine may call it.
func (h *merchant) browse(method, page, form string) (status int, text string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, page, strings.NewReader(form))
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := newClient().Do(r)
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

// newClient returns a client that leaves no connection open.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
}

func (h *merchant) faults(f vnpaysim.Faults) {
	h.t.Helper()
	testenv.NoError(h.t, h.sim.SetFaults(f))
}
