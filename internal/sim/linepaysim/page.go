package linepaysim

import (
	"embed"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"comanda/internal/sim"
)

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
	s.Go(func() { _, _, _ = s.Get(address) }) // what the merchant answers is nothing to the gateway
}
