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

// view is what the page shows.
type view struct {
	Lang, Other, OtherName string
	Switch                 string // address of the page in the other language
	Nonce                  string
	Text                   map[string]string
	Info, Ref, Amount      string
	Until                  string // when the window is over, at UTC+7
	Left                   int    // seconds until then
	Late                   bool
	Message                string // in place of the buttons; empty when there is something to decide
	Back                   string // where the guest goes on when everything is decided
	Code                   string // of VNPay's error page; with it, everything else is empty
}

// open reads a pay URL and finds its payment, or shows why it does not.
func (s *Simulator) open(w http.ResponseWriter, r *http.Request) (pay, bool) {
	order, code := s.read(r.URL.RawQuery)
	var p pay
	if code == "" {
		p, code = s.enter(order)
	}
	if code == "" {
		return p, true
	}
	v := begin(r, order.locale)
	v.Code, v.Message = code, v.Text["E"+code]
	s.write(w, http.StatusBadRequest, v, "")
	return pay{}, false
}

func (s *Simulator) showPage(w http.ResponseWriter, r *http.Request) {
	if p, ok := s.open(w, r); ok {
		s.show(w, r, p, "")
	}
}

// begin makes the view of a language: that which the guest has asked for, or else the merchant's.
func begin(r *http.Request, locale string) view {
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

// show writes a payment's page with a message, or with that of its state.
func (s *Simulator) show(w http.ResponseWriter, r *http.Request, p pay, message string) {
	v := begin(r, p.locale)
	state := p.now(s.o.Now())
	left := p.ends.Sub(s.o.Now())
	v.Info, v.Ref, v.Amount, v.Until = p.info, p.ref, grouped(p.amount/100), p.ends.In(hanoi).Format("15:04:05")
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

// write sends a page with its policy: the page's one style, and its form. Where the form leads in the end must be named
// too: browsers hold the redirect that answers a form against the same list.
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

// actOnPage is the guest's decision. The pay URL stands in the form's address, so it is its signature that lets a guest in.
func (s *Simulator) actOnPage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	action := r.PostFormValue("action")
	p, ok := s.open(w, r)
	if !ok {
		return
	}
	over := p.now(s.o.Now()) == ended
	switch {
	case action == "close":
		s.show(w, r, p, "CLOSED")
	case action == "late" && p.state == waiting && !over:
		s.promise(p.key())
		s.show(w, r, p, "LATER")
	default:
		s.decide(w, r, p, action)
	}
}

// responses are what becomes of a payment by each action.
var responses = map[string]string{
	"pay": success, "leave": success, "twice": success, "again": success, "late": success,
	"decline": canceled, "refuse": noFunds,
}

// decide settles a payment, reports it and sends the browser back, in the order of the faults.
func (s *Simulator) decide(w http.ResponseWriter, r *http.Request, p pay, action string) {
	response, ok := responses[action]
	if ok {
		p, ok = s.settleOrKeep(p, response, action == "late")
	}
	if !ok { // decided before, or no action of ours
		s.show(w, r, p, "")
		return
	}
	if action == "again" && p.state == paid { // a card is refused first
		await(r.Context(), s.report(p, result{noFunds, "02", 0, p.last.at}))
	}
	tried := s.report(p, p.last)
	if action == "twice" {
		second := s.report(p, p.last)
		await(r.Context(), second)
	}
	if !s.Faults().ReturnFirst {
		await(r.Context(), tried)
	}
	if action == "leave" {
		s.show(w, r, p, "CLOSED")
		return
	}
	http.Redirect(w, r, s.returnURL(p), http.StatusSeeOther) //nolint:gosec // the merchant has signed where it leads
}

// settleOrKeep is settle, which gives the payment as it was where nothing is to be decided.
func (s *Simulator) settleOrKeep(p pay, response string, late bool) (pay, bool) {
	if settled, ok := s.settle(p.key(), response, late); ok {
		return settled, true
	}
	return p, false
}

// await lets a notice arrive first, unless the browser has gone.
func await(ctx context.Context, tried <-chan struct{}) {
	select {
	case <-tried:
	case <-ctx.Done():
	}
}

// grouped writes an amount as people in Vietnam do: 1.250.000.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "." + s[i:]
	}
	return s
}
