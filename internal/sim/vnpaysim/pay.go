package vnpaysim

import (
	"context"
	"embed"
	"net/http"
	"strconv"
	"time"

	"comanda/internal/sim"
)

// state is the state of a simulated payment.
type state string

const (
	waiting state = "WAITING" // for the guest
	ended   state = "ENDED"   // the window has passed
	failed  state = "FAILED"
	paid    state = "PAID"
)

// The response codes of a payment; 15 is not in the manual but occurs.
const (
	success  = "00"
	timedOut = "15"
	canceled = "24"
	noFunds  = "51"
)

// maxRefunds is the maximum number of refunds per payment; it bounds the memory that a script can use.
const maxRefunds = 100

// transaction is a payment. The mutex of the simulator guards it; what leaves the lock is a copy.
type transaction struct {
	purchase

	state    state
	last     result
	late     bool // it will be paid after its window
	refunded int64
	refunds  map[string]bool // requestKeys of the refunds
	whole    bool            // it was refunded in full at once
}

// result is the outcome of a payment at an instant.
type result struct {
	response string // vnp_ResponseCode
	status   string // vnp_TransactionStatus
	number   int64  // vnp_TransactionNo; 0 when no money has moved
	at       time.Time
}

// stateAt returns the state at an instant.
func (p *transaction) stateAt(t time.Time) state {
	if p.state == waiting && !t.Before(p.ends) {
		return ended
	}
	return p.state
}

// findOrAdd returns the payment of a pay URL, or adds it. A different pay URL with the same reference on the same day
// is refused. It returns a copy, and the code of the error page or an empty string. A known payment is shown even after
// its window.
func (s *Simulator) findOrAdd(order purchase) (transaction, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.transactions.Get(order.key()); p != nil {
		if p.data != order.data {
			return transaction{}, errExists
		}
		return *p, ""
	}
	if !s.Now().Before(order.ends) {
		return transaction{}, errOver
	}
	p := &transaction{purchase: order, state: waiting, refunds: map[string]bool{}}
	s.transactions.Add(order.key(), p)
	return *p, ""
}

// settle decides an open payment and returns it. A payment after its window fails, unless late is set. It reports false
// if the payment is unknown or was decided before.
func (s *Simulator) settle(key, response string, late bool) (transaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.transactions.Get(key), s.Now()
	if p == nil || p.state != waiting {
		return transaction{}, false
	}
	if p.stateAt(now) == ended && !late {
		response = timedOut
	}
	p.state, p.last = failed, result{response: response, status: "02", at: now}
	if response == success {
		s.number++
		p.state, p.last = paid, result{response, "00", s.number, now}
	}
	return *p, true
}

// scheduleLatePayment makes a guest pay once after the window. VNPay then reports money for an order that has expired.
func (s *Simulator) scheduleLatePayment(key string) {
	s.mu.Lock()
	p := s.transactions.Get(key)
	if p == nil || p.state != waiting || p.late {
		s.mu.Unlock()
		return
	}
	p.late = true
	d := p.ends.Add(s.o.LateBy).Sub(s.Now())
	s.mu.Unlock()
	s.Go(func() {
		if !s.Wait(context.Background(), d) {
			return
		}
		if p, ok := s.settle(key, success, true); ok {
			s.report(p, p.last)
		}
	})
}

//go:embed page.html texts.json
var files embed.FS

var paymentPage = sim.NewPage(files)

// view is the data of the page.
type view struct {
	sim.View

	Info, Ref, Amount string
	Until             string // the end of the payment window in UTC+7
	Left              int    // seconds until then
	Late              bool
}

// open returns the payment of a pay URL, or shows the error page. The URL itself creates the payment, so opening it
// twice shows one payment.
func (s *Simulator) open(w http.ResponseWriter, r *http.Request) (transaction, bool) {
	order, code := s.read(r.URL.RawQuery)
	var p transaction
	if code == "" {
		p, code = s.findOrAdd(order)
	}
	if code == "" {
		return p, true
	}
	v := viewOf(r, order.locale)
	v.Code, v.Message = code, v.Text["E"+code]
	paymentPage.Write(w, http.StatusBadRequest, v.View, v)
	return transaction{}, false
}

func (s *Simulator) showPage(w http.ResponseWriter, r *http.Request) {
	if p, ok := s.open(w, r); ok {
		s.show(w, r, p, "")
	}
}

// viewOf returns a view in the guest's language. VNPay's page has two languages; the merchant passes vn or en.
func viewOf(r *http.Request, locale string) view {
	if locale != "en" {
		locale = "vi"
	}
	return view{View: paymentPage.View(r, locale)}
}

// show writes a payment's page with a message, by default that of its state.
func (s *Simulator) show(w http.ResponseWriter, r *http.Request, p transaction, message string) {
	v := viewOf(r, p.locale)
	state := p.stateAt(s.Now())
	left := p.ends.Sub(s.Now())
	v.Info, v.Ref, v.Amount, v.Until = p.info, p.ref, grouped(p.amount/100), p.ends.In(ict).Format("15:04:05")
	v.Late, v.Left = state == ended, int(max(0, (left+time.Second-1)/time.Second))
	if message == "" && (state == paid || state == failed) {
		message = string(state)
	}
	v.Message = v.Text[message]
	if state == paid || state == failed {
		v.Back = s.returnURL(p)
	}
	paymentPage.Write(w, http.StatusOK, v.View, v, p.returnURL.String())
}

// actOnPage handles the guest's decision. The form posts to the signed pay URL, which authorizes it.
func (s *Simulator) actOnPage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, sim.MaxBody)
	action := r.PostFormValue("action")
	p, ok := s.open(w, r)
	if !ok {
		return
	}
	over := p.stateAt(s.Now()) == ended
	switch {
	case action == "close":
		s.show(w, r, p, "CLOSED")
	case action == "late" && p.state == waiting && !over:
		s.scheduleLatePayment(p.key())
		s.show(w, r, p, "LATER")
	default:
		s.decide(w, r, p, action)
	}
}

// responses maps each action to its response code.
var responses = map[string]string{
	"pay": success, "leave": success, "twice": success, "again": success, "late": success,
	"decline": canceled, "refuse": noFunds,
}

// decide settles a payment, reports it and redirects the browser, in the order of the faults. It does not wait for a
// reply to the notice longer than its first attempt takes: later ones come in the background.
func (s *Simulator) decide(w http.ResponseWriter, r *http.Request, p transaction, action string) {
	response, ok := responses[action]
	if ok {
		p, ok = s.trySettle(p, response, action == "late")
	}
	if !ok { // decided before, or an unknown action
		s.show(w, r, p, "")
		return
	}
	if action == "again" && p.state == paid { // first the report of a refused card
		waitTried(r.Context(), s.report(p, result{noFunds, "02", 0, p.last.at}))
	}
	tried := s.report(p, p.last)
	if action == "twice" {
		second := s.report(p, p.last)
		waitTried(r.Context(), second)
	}
	if !s.Faults().ReturnFirst {
		waitTried(r.Context(), tried)
	}
	if action == "leave" {
		s.show(w, r, p, "CLOSED")
		return
	}
	http.Redirect(w, r, s.returnURL(p), http.StatusSeeOther) //nolint:gosec // the URL is signed by the merchant
}

// trySettle is settle, but returns the unchanged payment if it was decided before. Of two clicks at once only one
// settles the payment and reports it.
func (s *Simulator) trySettle(p transaction, response string, late bool) (transaction, bool) {
	if settled, ok := s.settle(p.key(), response, late); ok {
		return settled, true
	}
	return p, false
}

// waitTried waits for the first attempt of a notice, unless the browser disconnects.
func waitTried(ctx context.Context, tried <-chan struct{}) {
	select {
	case <-tried:
	case <-ctx.Done():
	}
}

// grouped formats an amount with Vietnamese separators: 1.250.000.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "." + s[i:]
	}
	return s
}
