package orderinghttp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
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

// Gateways configures the routes that payment gateways call. Their accounts may change while the process runs, so each
// request asks for the gateway. The routes of one that is not configured answer 404.
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

// RegisterGateways registers the routes of the gateways. Their paths are those of the reference and are not
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

// with calls serve with the configured gateway, or answers 404.
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

// callback is ipn under the reference's path. It also accepts the parameters as a form.
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
	// Faults are equal by code, so this matches vnpay.ErrForm, which this package must not import.
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
	// From here on the message is VNPay's own: the signature was verified.
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
	g.orders.Log.WarnContext(ctx, "a notice could not be taken", "attempt", ref, "method", payment.VNPay, "err", err)
	return ipnError
}

// recordRejected records a notification that failed verification, within the rate limit of the client's network.
func (g gateways) recordRejected(ctx context.Context, e payment.Event) error {
	if httpapi.Allow(ctx, "odd_notice_ip", httpapi.ClientNetwork(ctx)) == nil {
		return g.orders.RecordRejectedNotification(ctx, e)
	}
	return nil // the limiter counts it; dropping the rest keeps a flood of forgeries from filling the database
}

// answer writes a response code in VNPay's format. A client that has disconnected is no error: VNPay repeats the call.
func (g gateways) answer(w http.ResponseWriter, v VNPay, code string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"RspCode": code, "Message": v.Message(code)})
}

// vnpayReturn changes nothing. Browsers may call it never, once or repeatedly, before or after the IPN call. The
// signature is verified, because the query comes from the browser.
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
		// A redirect about no attempt of ours, or with another transaction id.
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
