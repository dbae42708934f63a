package orderinghttp

import (
	"context"
	_ "embed" // the page's texts
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/payment"
)

// VNPay verifies and parses VNPay's requests and supplies the texts of the responses.
type VNPay interface {
	// Read returns the report in a query string, or an error if VNPay's signature is missing or wrong.
	Read(rawQuery string) (ref string, r payment.Report, err error)
	// Message returns the text that VNPay defines for a response code.
	Message(code string) string
}

// LINEPay parses the redirects by which LINE Pay returns a guest's browser. They are not signed, so nothing is decided
// by them: the outcome comes from a request to LINE Pay.
type LINEPay interface {
	// Read returns the attempt's id and LINE Pay's transaction id in a query string.
	Read(rawQuery string) (ref, transaction string, err error)
}

// Gateways configures the routes that payment gateways call. Accounts of gateways may change while the process runs,
// so each request calls VNPay and LINEPay again. The routes of a gateway that is not configured answer 404.
type Gateways struct {
	VNPay   func() (VNPay, bool)
	LINEPay func() (LINEPay, bool)

	// OrderPage is the address of an order in the guest app, without the order's id; MemberPage is the same for
	// members. Empty without an app.
	OrderPage, MemberPage string
}

type gateways struct {
	orders *ordering.Service
	Gateways
}

// RegisterGateways registers the routes of the gateways. Their paths are those of qr-ordering.md and are not
// part of the API document.
func RegisterGateways(a *httpapi.API, orders *ordering.Service, g Gateways) {
	r := gateways{orders, g}
	handle := func(pattern string, h http.HandlerFunc) {
		a.Handle(httpapi.Route{Pattern: pattern, Policy: httpapi.Gateway, Handler: h, MaxBodyBytes: maxNotification})
	}
	vnpay := func(pattern string, serve func(http.ResponseWriter, *http.Request, VNPay)) {
		handle(pattern, with(g.VNPay, serve))
	}
	vnpay("GET /payment/vnpay/ipn", r.ipn)
	vnpay("POST /payment/vnpay/callback", r.callback)
	vnpay("GET /payment/vnpay/return", r.vnpayReturn)
	handle("GET /payment/linepay/confirm", with(g.LINEPay, r.confirm))
	handle("GET /payment/linepay/cancel", with(g.LINEPay, r.cancel))
	r.registerPage(a)
}

// with calls serve with the configured gateway, or answers 404 if there is none.
func with[G any](configured func() (G, bool), serve func(http.ResponseWriter, *http.Request, G)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		gateway, ok := configured()
		if !ok {
			httpapi.Fail(w, r, errNoGateway)
			return
		}
		serve(w, r, gateway)
	}
}

var errNoGateway = fault.New(fault.NotFound, "not_found", "This payment service is not configured.")

const maxNotification = 8 << 10 // bytes of a callback's body

// VNPay's response codes of an IPN call (VNPay 2.1.0, "IPN URL").
const (
	ipnRecorded  = "00"
	ipnUnknown   = "01"
	ipnKnown     = "02"
	ipnAmount    = "04"
	ipnSignature = "97"
	ipnError     = "99"
)

// ipn handles VNPay's server-to-server call. Its response is always 200; the code is in the body.
func (g gateways) ipn(w http.ResponseWriter, r *http.Request, v VNPay) {
	g.handleNotification(w, r, v, r.URL.RawQuery)
}

// callback handles VNPay's call at the path of qr-ordering.md. It also accepts the parameters as a form.
func (g gateways) callback(w http.ResponseWriter, r *http.Request, v VNPay) {
	query := r.URL.RawQuery
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			g.answer(w, v, ipnError)
			return
		}
		query = string(body)
	}
	g.handleNotification(w, r, v, query)
}

// handleNotification responds only after the reported state is committed: VNPay repeats the call after any code except
// 00 and 02.
func (g gateways) handleNotification(w http.ResponseWriter, r *http.Request, v VNPay, query string) {
	g.answer(w, v, g.handleVNPay(r.Context(), v, query, headersOf(r)))
}

// handleVNPay verifies and applies a notification, and returns the response code. Forged and foreign messages
// are stored for the staff, within a rate limit.
func (g gateways) handleVNPay(ctx context.Context, v VNPay, query, headers string) string {
	ref, report, err := v.Read(query)
	odd := payment.Event{Method: payment.VNPay, Raw: query, Headers: headers}
	switch {
	// Faults are equal by code, so errReturn matches vnpay.ErrForm. This package must not import vnpay.
	case errors.Is(err, errReturn): // signed, but not about a payment of this system
		odd.Verdict = "FOREIGN"
		return g.failed(ctx, ref, errors.Join(err, g.recordRejected(ctx, odd)))
	case err != nil:
		odd.Verdict = "FORGED"
		if err := g.recordRejected(ctx, odd); err != nil {
			return g.failed(ctx, ref, err)
		}
		return ipnSignature
	}
	// The signature was verified, so from here on VNPay is the sender of the message.
	report.Headers = headers
	result, err := g.orders.Report(ctx, ref, payment.VNPay, report, ordering.SourceCallback)
	switch {
	case errors.Is(err, payment.ErrAttempt):
		return ipnUnknown
	case errors.Is(err, payment.ErrAmount):
		return ipnAmount
	case err != nil:
		return g.failed(ctx, ref, err)
	case !result.Changed:
		return ipnKnown
	}
	return ipnRecorded
}

// failed logs the cause and returns the code that makes VNPay repeat the call. It never logs the query: its signature
// would allow a replay.
func (g gateways) failed(ctx context.Context, ref string, err error) string {
	g.orders.Log.WarnContext(ctx, "a payment notification could not be processed",
		"attempt", ref, "method", payment.VNPay, "err", err)
	return ipnError
}

// recordRejected records a notification that failed verification, within the rate limit of the client's network.
func (g gateways) recordRejected(ctx context.Context, e payment.Event) error {
	if httpapi.Allow(ctx, "odd_notice_ip", httpapi.ClientNetwork(ctx)) == nil {
		return g.orders.RecordRejectedNotification(ctx, e)
	}
	return nil // the limiter counts the dropped message; otherwise a flood of forgeries could fill the database
}

// answer writes a response code in VNPay's format. A client that has disconnected is not an error: VNPay repeats the
// call.
func (g gateways) answer(w http.ResponseWriter, v VNPay, code string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"RspCode": code, "Message": v.Message(code)})
}

// vnpayReturn redirects the guest to the result page and changes nothing. Browsers may call it never, once or
// repeatedly, before or after the IPN call. The signature is verified, because the query comes from the browser.
func (g gateways) vnpayReturn(w http.ResponseWriter, r *http.Request, v VNPay) {
	ref, _, err := v.Read(r.URL.RawQuery)
	if err != nil {
		httpapi.Fail(w, r, errReturn)
		return
	}
	showPage(w, r, ref)
}

var errReturn = fault.New(fault.Invalid, "payment_return_invalid", "This is not a valid return from the payment service.")

// confirmWait is how long a guest's request waits for LINE Pay. Afterwards the page shows the payment as pending,
// and the confirmation continues without the request.
const confirmWait = 8 * time.Second

// confirm handles the redirect of a guest who approved a LINE Pay payment. It needs no cookie, because the redirect may
// reach a different browser from the one that placed the order.
func (g gateways) confirm(w http.ResponseWriter, r *http.Request, l LINEPay) {
	ref, transaction, err := l.Read(r.URL.RawQuery)
	if err != nil {
		httpapi.Fail(w, r, errReturn)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), confirmWait)
	defer cancel()
	if _, err := g.orders.ConfirmApproved(ctx, ref, transaction, headersOf(r)); err != nil {
		// The redirect names an unknown attempt, or another transaction id than the attempt's.
		if errors.Is(err, payment.ErrAttempt) {
			_ = g.recordRejected(ctx, payment.Event{
				Method: payment.LINEPay, Raw: r.URL.RawQuery, Headers: headersOf(r), Verdict: "FORGED",
			})
		}
		httpapi.Fail(w, r, err)
		return
	}
	showPage(w, r, ref)
}

// cancel handles the redirect of a guest who canceled at LINE Pay. It changes nothing: the redirect is not signed, so
// the state comes from LINE Pay itself.
func (g gateways) cancel(w http.ResponseWriter, r *http.Request, l LINEPay) {
	ref, _, err := l.Read(r.URL.RawQuery)
	if err != nil {
		httpapi.Fail(w, r, errReturn)
		return
	}
	showPage(w, r, ref)
}

// The result page shows the state of a payment after a gateway's redirect. A browser that stores the order's visit or a
// member's login continues to the order at once. Gateways may return to another browser than the one that placed the
// order, so the page needs no cookie and no script: the attempt's id, which cannot be guessed, grants access. The page
// shows the payment's state and amount, but neither the guest nor the items.

// showPage redirects a browser to an attempt's result page. It escapes ref, so the target is always on this site.
func showPage(w http.ResponseWriter, r *http.Request, ref string) {
	http.Redirect(w, r, "/pay/"+url.PathEscape(ref), http.StatusSeeOther)
}

// registerPage registers the result page. It is public: the attempt's id is the permission (decision 19).
func (g gateways) registerPage(a *httpapi.API) {
	a.Handle(httpapi.Route{Pattern: "GET /pay/{ref}", Policy: httpapi.Public, Handler: http.HandlerFunc(g.page)})
}

// pageRefresh is the refresh interval of an undecided page, in seconds. The browser reloads the page, which works
// without a script.
const pageRefresh = 3

// words contains the texts of one language in page.json.
type words struct {
	Title     string `json:"title"`
	Pending   string `json:"pending"`
	Paid      string `json:"paid"`
	Failed    string `json:"failed"`
	Ended     string `json:"ended"`
	Refund    string `json:"refund"`
	Amount    string `json:"amount"`
	Counter   string `json:"counter"`
	Close     string `json:"close"`
	Again     string `json:"again"`
	Order     string `json:"order"`
	Retry     string `json:"retry"`
	Start     string `json:"start"`
	Separator string `json:"separator"`
}

//go:embed page.json
var pageTexts []byte

// pageWords are the page's texts by language.
var pageWords = func() (w map[string]words) {
	if err := json.Unmarshal(pageTexts, &w); err != nil {
		panic(err) // page.json is embedded, so only a build with an invalid file fails here
	}
	return w
}()

// page writes the result page in the browser's language. It only reads, and may be reloaded at any time.
func (g gateways) page(w http.ResponseWriter, r *http.Request) {
	d, a, err := g.orders.Attempt(r.Context(), r.PathValue("ref"))
	if err == nil {
		err = g.result(d, a, httpapi.Locale(r.Header.Get("Accept-Language"), locales...)).Write(w)
	}
	if err != nil {
		httpapi.Fail(w, r, err)
	}
}

// result returns the result page of an attempt.
func (g gateways) result(d ordering.Detail, a payment.Attempt, language string) httpapi.Page {
	words, state := pageWords[language], pageState(d, a)
	p := httpapi.Page{
		Language: language, Label: fmt.Sprintf(words.Title, ordering.ShortNumber(d.Number)),
		Facts: []httpapi.PageFact{{Name: words.Amount, Value: amountOf(a, words.Separator)}},
	}
	order := words.Order
	switch state {
	case "paid":
		p.Heading, p.Tone, p.Hint = words.Paid, "good", words.Close
	case "failed":
		p.Heading, p.Tone, p.Hint = words.Failed, "bad", words.Counter
		order = words.Retry // the order's page offers the next attempt
	case "ended":
		p.Heading, p.Tone, p.Hint = words.Ended, "bad", words.Close
	case "refund":
		p.Heading, p.Hint = words.Refund, words.Close
	default:
		p.Heading, p.Refresh = words.Pending, pageRefresh
	}
	// The gateway's page is still open, so a guest who left it by mistake can return.
	if a.State == payment.Redirected && d.PaymentStatus == ordering.Unpaid {
		p.Links = append(p.Links, httpapi.PageLink{Text: words.Again, URL: a.URL})
	}
	if at := g.orderPage(d); at != "" {
		p.Links = append(p.Links, httpapi.PageLink{Text: order, URL: at}, httpapi.PageLink{Text: words.Start, URL: "/"})
		p.Return = &httpapi.PageReturn{Key: storageKey(d), URL: at}
	}
	return p
}

// storageKey returns the local storage key under which the app keeps access to the order: the visit of a guest, or the
// login of a member (web/guest/src/table/draft.ts, web/guest/src/member/tokens.ts).
func storageKey(d ordering.Detail) string {
	if d.VisitID == "" {
		return "comanda.member"
	}
	return "comanda.visit." + d.VisitID
}

// orderPage returns the address of the order in the guest's or member's app, or "" without an app.
func (g gateways) orderPage(d ordering.Detail) string {
	page := g.OrderPage
	if d.VisitID == "" {
		page = g.MemberPage
	}
	if page == "" {
		return ""
	}
	return page + url.PathEscape(d.ID)
}

// pageState returns the state that the page shows. An attempt is "failed" only after the gateway has reported it. Money
// that the order could not use shows as a refund, whichever attempt was charged.
func pageState(d ordering.Detail, a payment.Attempt) string {
	switch {
	case d.PaymentStatus == ordering.RefundDue || d.PaymentStatus == ordering.Refunded:
		return "refund"
	case a.State == payment.Paid && d.PaymentStatus == ordering.Paid:
		return "paid"
	case a.State == payment.Paid:
		return "refund"
	// Money may have moved, so the page must not offer another attempt.
	case a.State == payment.Confirming || a.State == payment.Unknown || a.State == payment.Review:
		return "pending"
	case d.Status == ordering.Canceled:
		return "ended"
	case a.State == payment.Failed || a.State == payment.Canceled:
		return "failed"
	}
	return "pending"
}

// amountOf formats an amount for display: 130.000 ₫, NT$440, 12.50 USD.
func amountOf(a payment.Attempt, separator string) string {
	whole, fraction, _ := strings.Cut(a.Currency.Format(a.Amount), ".")
	// Separators are inserted from the end, so that earlier positions stay valid.
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + separator + whole[i:]
	}
	if fraction != "" {
		whole += map[string]string{".": ",", ",": "."}[separator] + fraction
	}
	switch a.Currency {
	case money.VND:
		return whole + " ₫"
	case money.TWD:
		return "NT$" + whole
	}
	return whole + " " + string(a.Currency)
}
