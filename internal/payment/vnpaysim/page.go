package vnpaysim

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// view is the data of the page template.
type view struct {
	Lang, Other, OtherName string
	Switch                 string // URL of the page in the other language
	Nonce                  string
	Text                   map[string]string
	Info, Ref, Amount      string
	Until                  string // the end of the payment window in UTC+7
	Left                   int    // seconds until then
	Late                   bool
	Message                string // replaces the buttons; empty while the payment is undecided
	Back                   string // the return URL once the payment is decided
	Code                   string // code of VNPay's error page; the other fields are then empty
}

// open returns the payment of a pay URL, or shows the error page.
func (s *Simulator) open(w http.ResponseWriter, r *http.Request) (transaction, bool) {
	order, code := s.read(r.URL.RawQuery)
	var p transaction
	if code == "" {
		p, code = s.findOrAdd(order)
	}
	if code == "" {
		return p, true
	}
	v := newView(r, order.locale)
	v.Code, v.Message = code, v.Text["E"+code]
	s.write(w, http.StatusBadRequest, v, "")
	return transaction{}, false
}

func (s *Simulator) showPage(w http.ResponseWriter, r *http.Request) {
	if p, ok := s.open(w, r); ok {
		s.show(w, r, p, "")
	}
}

// newView returns a view in the language that the guest selected, or else the merchant's.
func newView(r *http.Request, locale string) view {
	lang := r.URL.Query().Get("lang")
	if _, ok := texts[lang]; !ok {
		lang = "vi"
		if locale == "en" {
			lang = "en"
		}
	}
	other := "en"
	if lang == "en" {
		other = "vi"
	}
	q := r.URL.Query()
	q.Set("lang", other)
	return view{
		Lang: lang, Other: other, OtherName: texts[other]["name"], Switch: "?" + q.Encode(), Text: texts[lang], Nonce: rand.Text(),
	}
}

// show writes a payment's page with a message, by default that of its state.
func (s *Simulator) show(w http.ResponseWriter, r *http.Request, p transaction, message string) {
	v := newView(r, p.locale)
	state := p.stateAt(s.o.Now())
	left := p.ends.Sub(s.o.Now())
	v.Info, v.Ref, v.Amount, v.Until = p.info, p.ref, grouped(p.amount/100), p.ends.In(ict).Format("15:04:05")
	v.Late, v.Left = state == ended, int(max(0, (left+time.Second-1)/time.Second))
	if message == "" && (state == paid || state == failed) {
		message = string(state)
	}
	v.Message = v.Text[message]
	if state == paid || state == failed {
		v.Back = s.returnURL(p)
	}
	s.write(w, http.StatusOK, v, " "+p.back.Scheme+"://"+p.back.Host)
}

// write sends a page with a content security policy that allows its style and its form. form-action must include the
// return URL's origin, because browsers also apply it to the redirect that follows a form.
func (s *Simulator) write(w http.ResponseWriter, status int, v view, origin string) {
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, v); err != nil {
		http.Error(w, "page", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+v.Nonce+"'; base-uri 'none'; "+
		"frame-ancestors 'none'; form-action 'self'"+origin)
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the browser may be gone
}

// actOnPage handles the guest's decision. The form posts to the signed pay URL, which authorizes it.
func (s *Simulator) actOnPage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	action := r.PostFormValue("action")
	p, ok := s.open(w, r)
	if !ok {
		return
	}
	over := p.stateAt(s.o.Now()) == ended
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

// decide settles a payment, reports it and redirects the browser, in the order of the faults.
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

// trySettle is settle, but returns the unchanged payment if it was decided before.
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
