package linepaysim

import (
	"crypto/rand"
	"embed"
	"encoding/binary"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"comanda/internal/sim"
)

// state is the state of a payment. The stored state does not change when the window ends; stateAt includes that.
type state string

const (
	waiting  state = "WAITING"  // for the guest
	approved state = "APPROVED" // by the guest; no money has moved
	canceled state = "CANCELED" // by the guest
	declined state = "DECLINED" // by the guest's bank
	ended    state = "ENDED"    // the window has passed
	captured state = "PAID"
)

// checkCodes maps each state to the code of a check.
var checkCodes = map[state]string{
	waiting: "0000", approved: "0110", canceled: "0121", ended: "0121", declined: "0122", captured: "0123",
}

// transaction is a payment. Amounts are hundredths in every currency. The mutex of the simulator guards it.
type transaction struct {
	id       int64
	page     string // the unguessable part of its page's URL
	order    purchase
	amount   int64
	paid     int64 // amount captured
	state    state
	until    time.Time // end of the payment window: no approval or capture after it
	paidAt   time.Time
	refunds  []refund
	refunded int64
}

type refund struct {
	id     int64
	amount int64
	at     time.Time
}

// stateAt returns the state at an instant.
func (p *transaction) stateAt(t time.Time) state {
	if (p.state == waiting || p.state == approved) && !t.Before(p.until) {
		return ended
	}
	return p.state
}

// shown returns the payment as testers see it.
func (p *transaction) shown(now time.Time) Payment {
	return Payment{
		TransactionID: strconv.FormatInt(p.id, 10), OrderID: p.order.OrderID, State: string(p.stateAt(now)),
		Currency: p.order.Currency, Amount: decimal(p.amount).String(), Refunded: decimal(p.refunded).String(),
		Refunds: len(p.refunds),
	}
}

// approve reports whether the guest may return to the merchant: they approve now or have approved before. A late guest
// approves after the window, which starts anew. A captured payment returns to the merchant as well: its page may be
// opened again.
func (p *transaction) approve(t time.Time, late bool) bool {
	switch p.stateAt(t) {
	case waiting:
		p.state = approved
	case ended:
		if !late {
			return false
		}
		p.state, p.until = approved, t.Add(Window)
	case canceled, declined:
		return false
	}
	return true
}

// refuse ends an undecided payment as canceled or declined.
func (p *transaction) refuse(t time.Time, as state) bool {
	if now := p.stateAt(t); now != waiting && now != approved {
		return false
	}
	p.state = as
	return true
}

// add stores a new payment. It does not compare order ids: the sandbox accepts the same one twice, so uniqueness is the
// merchant's task.
func (s *Simulator) add(order purchase, amount int64) *transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	p := &transaction{id: s.newID(now), page: rand.Text(), order: order, amount: amount, state: waiting, until: now.Add(Window)}
	s.byID.Add(p.id, p)
	s.byPage.Add(p.page, p)
	return p
}

// newID returns an id like LINE Pay's: the date and eleven digits. It is odd: above 2^53 an odd number is not
// representable as a float, so a conversion to float is detected.
func (s *Simulator) newID(now time.Time) int64 {
	y, m, d := now.UTC().Date()
	day := (int64(y)*100+int64(m))*100 + int64(d)
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails since Go 1.24; it would crash the program
		id := day*1e11 + int64(binary.BigEndian.Uint64(b[:])%1e11) | 1
		if s.byID.Get(id) == nil {
			return id
		}
	}
}

//go:embed page.html texts.json
var files embed.FS

var paymentPage = sim.NewPage(files)

// view is the data of the page.
type view struct {
	sim.View

	Merchant, Title, Order string
	Currency, Amount       string
	Late                   bool // after the payment window
	Minutes                int
}

// lookUp returns a copy of a page's payment, so that rendering does not hold the lock.
func (s *Simulator) lookUp(w http.ResponseWriter, r *http.Request) (transaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byPage.Get(r.PathValue("page"))
	if p == nil {
		http.NotFound(w, r)
		return transaction{}, false
	}
	return *p, true
}

func (s *Simulator) showPage(w http.ResponseWriter, r *http.Request) {
	if p, ok := s.lookUp(w, r); ok {
		s.show(w, r, p, "")
	}
}

// show writes the page with a message, by default that of the payment's state. p is a copy: the payment may change
// while the page is written, and the next request shows it.
func (s *Simulator) show(w http.ResponseWriter, r *http.Request, p transaction, message string) {
	now := s.Now()
	state := p.stateAt(now)
	if message == "" && state != waiting {
		message = string(state)
	}
	lang := "en"
	if p.order.Options.Display.Locale == "zh_TW" {
		lang = "zh-TW"
	}
	v := view{
		View: paymentPage.View(r, lang), Merchant: p.order.Packages[0].Name, Title: p.title(), Order: p.order.OrderID,
		Currency: p.order.Currency, Amount: decimal(p.amount).String(), Late: state == ended,
		Minutes: int(p.until.Sub(now) / time.Minute),
	}
	v.Message = v.Text[message]
	switch state {
	case approved, captured:
		v.Back = p.returnTo(p.order.RedirectURLs.Confirm)
	case canceled, declined:
		v.Back = p.returnTo(p.order.RedirectURLs.Cancel)
	}
	paymentPage.Write(w, http.StatusOK, v.View, v, p.order.RedirectURLs.Confirm, p.order.RedirectURLs.Cancel)
}

// actOnPage handles the guest's decision. Each action is decided under the lock by approve or refuse, so that of two
// clicks at once only one can decline. "twice" also opens the return URL in the background, as a guest with two
// browsers does.
func (s *Simulator) actOnPage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, sim.MaxBody)
	action := r.PostFormValue("action")
	p, ok := s.lookUp(w, r)
	if !ok {
		return
	}
	confirm, cancel := p.returnTo(p.order.RedirectURLs.Confirm), p.returnTo(p.order.RedirectURLs.Cancel)
	switch {
	case action == "close":
		s.show(w, r, p, "CLOSED")
	case action == "decline" && s.refuse(p.page, declined), action == "cancel" && s.refuse(p.page, canceled):
		redirect(w, r, cancel)
	case action == "leave" && s.approve(p.page, false):
		s.show(w, r, p, "CLOSED")
	case action == "twice" && s.approve(p.page, false):
		s.visit(confirm)
		redirect(w, r, confirm)
	case action == "pay" && s.approve(p.page, false), action == "late" && s.approve(p.page, true):
		redirect(w, r, confirm)
	default: // too late, or decided before
		s.showPage(w, r)
	}
}

// redirect sends the browser to the merchant.
func redirect(w http.ResponseWriter, r *http.Request, address string) {
	http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the merchant has signed the URL
}

// approve approves the payment of a page and reports whether the browser may return to the merchant.
func (s *Simulator) approve(page string, late bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byPage.Get(page)
	return p != nil && p.approve(s.Now(), late)
}

// refuse declines or cancels the payment of a page and reports whether it was still open.
func (s *Simulator) refuse(page string, as state) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byPage.Get(page)
	return p != nil && p.refuse(s.Now(), as)
}

// returnTo appends LINE Pay's parameters to a return URL.
func (p *transaction) returnTo(address string) string {
	return sim.WithQuery(address, "transactionId="+strconv.FormatInt(p.id, 10)+"&orderId="+url.QueryEscape(p.order.OrderID))
}

// visit opens a URL in the background, like another browser.
func (s *Simulator) visit(address string) {
	s.Go(func() { _, _, _ = s.Get(address) }) // the gateway ignores the merchant's response
}
