package linepaysim

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageSource string

var (
	pageTemplate = template.Must(template.New("page").Parse(pageSource))
	styleHash    = hashOfStyle(pageSource)
)

// hashOfStyle returns the source expression of the page's style for its content security policy.
func hashOfStyle(source string) string {
	_, rest, _ := strings.Cut(source, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// view is the data of the page template.
type view struct {
	Lang, Other, OtherName string
	Text                   map[string]string
	House, Title, Order    string
	Currency, Amount       string
	Message                string // replaces the buttons; empty while the payment is undecided
	Back                   string // the return URL once the payment is decided
	Late                   bool   // after the payment window
	Minutes                int
}

// lookUp returns a copy of a page's payment, so that rendering does not hold the lock.
func (s *Simulator) lookUp(w http.ResponseWriter, r *http.Request) (transaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byPage[r.PathValue("page")]
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

// show writes the page with a message, by default that of the payment's state.
func (s *Simulator) show(w http.ResponseWriter, r *http.Request, p transaction, message string) {
	now := s.o.Now()
	state := p.stateAt(now)
	if message == "" && state != waiting {
		message = string(state)
	}
	lang := language(r.URL.Query().Get("lang"), p.order.Options.Display.Locale)
	other := "en"
	if lang == "en" {
		other = "zh-TW"
	}
	v := view{
		Lang: lang, Other: other, OtherName: texts[other]["name"], Text: texts[lang], Message: texts[lang][message],
		House: p.order.Packages[0].Name, Title: p.title(), Order: p.order.OrderID, Currency: p.order.Currency,
		Amount: decimal(p.amount).String(), Late: state == ended, Minutes: int(p.until.Sub(now) / time.Minute),
	}
	switch state {
	case approved, captured:
		v.Back = withIDs(p.order.RedirectURLs.Confirm, p)
	case canceled, declined:
		v.Back = withIDs(p.order.RedirectURLs.Cancel, p)
	}
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
	h.Set("Content-Security-Policy", policy(p.order))
	_, _ = page.WriteTo(w) // the browser may be gone
}

// policy returns a content security policy that allows the page's style and its form. form-action must include the
// return URLs' origins, because browsers also apply it to the redirect that follows a form.
func policy(o purchase) string {
	return "default-src 'none'; style-src " + styleHash + "; base-uri 'none'; frame-ancestors 'none'; form-action 'self' " +
		origin(o.RedirectURLs.Confirm) + " " + origin(o.RedirectURLs.Cancel)
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "'none'"
	}
	return u.Scheme + "://" + u.Host
}

// actOnPage handles the guest's decision.
func (s *Simulator) actOnPage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	action := r.PostFormValue("action")
	p, ok := s.lookUp(w, r)
	if !ok {
		return
	}
	confirm, cancel := withIDs(p.order.RedirectURLs.Confirm, p), withIDs(p.order.RedirectURLs.Cancel, p)
	switch {
	case action == "close":
		s.show(w, r, p, "CLOSED")
	case action == "decline" && s.refuse(p.page, declined), action == "cancel" && s.refuse(p.page, canceled):
		http.Redirect(w, r, cancel, http.StatusSeeOther)
	case action == "leave" && s.approve(p.page, false):
		s.show(w, r, p, "CLOSED")
	case action == "twice" && s.approve(p.page, false):
		s.visit(confirm)
		http.Redirect(w, r, confirm, http.StatusSeeOther)
	case action == "pay" && s.approve(p.page, false), action == "late" && s.approve(p.page, true):
		http.Redirect(w, r, confirm, http.StatusSeeOther)
	default: // too late, or decided before
		s.showPage(w, r)
	}
}

func (s *Simulator) approve(page string, late bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byPage[page]
	return p != nil && p.approve(s.o.Now(), late)
}

func (s *Simulator) refuse(page string, as state) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byPage[page]
	return p != nil && p.refuse(s.o.Now(), as)
}

// withIDs appends LINE Pay's parameters to a return URL.
func withIDs(address string, p transaction) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := "transactionId=" + strconv.FormatInt(p.id, 10) + "&orderId=" + url.QueryEscape(p.order.OrderID)
	if u.RawQuery != "" {
		q = u.RawQuery + "&" + q
	}
	u.RawQuery = q
	return u.String()
}
