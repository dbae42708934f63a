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

// VNPay verifies what VNPay sends, and knows what it wants to hear.
type VNPay interface {
	// Read gives the report in a query string, or an error when VNPay has not signed it.
	Read(rawQuery string) (ref string, r payment.Report, err error)
	// Message is the text that belongs to a code of an answer.
	Message(code string) string
}

// LINEPay reads what the browsers of guests bring back from LINE Pay. It is not signed.
type LINEPay interface {
	Read(rawQuery string) (ref, transaction string, err error)
}

// Gateways are those that talk to us; nil ones are not offered.
type Gateways struct {
	VNPay   VNPay
	LINEPay LINEPay

	// OrderPage is where guests see their orders, before the order's id, and MemberPage where members do; empty where
	// there is no app.
	OrderPage, MemberPage string
}

type gateways struct {
	orders *ordering.Service
	Gateways
}

// RegisterGateways adds the addresses that gateways know. They are the reference's, and no part of our own contract.
func RegisterGateways(a *httpapi.API, orders *ordering.Service, g Gateways) {
	r := gateways{orders, g}
	handle := func(pattern string, h http.HandlerFunc) {
		a.Handle(httpapi.Route{Pattern: pattern, Policy: httpapi.Gateway, Handler: h, MaxBodyBytes: maxNotice})
	}
	if g.VNPay != nil {
		handle("GET /payment/vnpay/ipn", r.ipn)
		handle("POST /payment/vnpay/callback", r.callback)
		handle("GET /payment/vnpay/return", r.vnpayReturn)
	}
	if g.LINEPay != nil {
		handle("GET /payment/linepay/confirm", r.confirm)
		handle("GET /payment/linepay/cancel", r.cancel)
	}
	r.registerPage(a)
}

const maxNotice = 8 << 10 // bytes of a callback

// VNPay's codes for what became of its call (VNPay 2.1.0, "IPN URL").
const (
	ipnRecorded  = "00"
	ipnUnknown   = "01"
	ipnKnown     = "02"
	ipnAmount    = "04"
	ipnSignature = "97"
	ipnError     = "99"
)

func (g gateways) ipn(w http.ResponseWriter, r *http.Request) { g.notice(w, r, r.URL.RawQuery) }

// callback is the same under the reference's path, with the parameters as a form.
func (g gateways) callback(w http.ResponseWriter, r *http.Request) {
	query := r.URL.RawQuery
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			g.answer(w, r, ipnError)
			return
		}
		query = string(body)
	}
	g.notice(w, r, query)
}

// notice answers only after what it says is committed: VNPay calls again after anything but 00 and 02.
func (g gateways) notice(w http.ResponseWriter, r *http.Request, query string) {
	g.answer(w, r, g.take(r.Context(), query, headersOf(r)))
}

func (g gateways) take(ctx context.Context, query, headers string) string {
	ref, report, err := g.VNPay.Read(query)
	odd := payment.Event{Method: payment.VNPay, Raw: query, Headers: headers}
	switch {
	case errors.Is(err, errReturn): // signed, and about something else than a payment of ours
		odd.Verdict = "FOREIGN"
		return g.failed(ctx, ref, errors.Join(err, g.odd(ctx, odd)))
	case err != nil:
		odd.Verdict = "FORGED"
		if err := g.odd(ctx, odd); err != nil {
			return g.failed(ctx, ref, err)
		}
		return ipnSignature
	}
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

// failed says why VNPay has to come again. What it has said stands in no log: it carries a signature and may be replayed.
func (g gateways) failed(ctx context.Context, ref string, err error) string {
	g.orders.Log.WarnContext(ctx, "a notice could not be taken", "attempt", ref, "method", payment.VNPay, "err", err)
	return ipnError
}

// odd keeps what could not be verified, as far as one network may have something kept.
func (g gateways) odd(ctx context.Context, e payment.Event) error {
	if httpapi.Allow(ctx, "odd_notice_ip", httpapi.ClientNetwork(ctx)) == nil {
		return g.orders.Oddity(ctx, e)
	}
	return nil // counted and dropped: a flood of forgeries is no reason to fill the database
}

func (g gateways) answer(w http.ResponseWriter, _ *http.Request, code string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"RspCode": code, "Message": g.VNPay.Message(code)})
}

// vnpayReturn changes nothing: the guest's browser may bring it or not, once or twice, before the call or after it.
func (g gateways) vnpayReturn(w http.ResponseWriter, r *http.Request) {
	ref, _, err := g.VNPay.Read(r.URL.RawQuery)
	if err != nil {
		httpapi.Fail(w, r, errReturn)
		return
	}
	showPage(w, r, ref)
}

var errReturn = fault.New(fault.Invalid, "payment_return_invalid", "This is not how the payment service sends guests back.")

// confirmPatience is how long a guest waits for the gateway before the page says that it is being looked at.
const confirmPatience = 8 * time.Second

// confirm is where LINE Pay sends a guest who has approved. It works in whatever browser: everything is known here.
func (g gateways) confirm(w http.ResponseWriter, r *http.Request) {
	ref, transaction, err := g.LINEPay.Read(r.URL.RawQuery)
	if err != nil {
		httpapi.Fail(w, r, errReturn)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), confirmPatience)
	defer cancel()
	if _, err := g.orders.Approved(ctx, ref, transaction, headersOf(r)); err != nil {
		if errors.Is(err, payment.ErrAttempt) {
			_ = g.odd(ctx, payment.Event{
				Method: payment.LINEPay, Raw: r.URL.RawQuery, Headers: headersOf(r), Verdict: "FORGED",
			})
		}
		httpapi.Fail(w, r, err)
		return
	}
	showPage(w, r, ref)
}

// cancel is where LINE Pay sends a guest who changed their mind. What became of it is asked of LINE Pay, not of the
// browser.
func (g gateways) cancel(w http.ResponseWriter, r *http.Request) {
	ref, _, err := g.LINEPay.Read(r.URL.RawQuery)
	if err != nil {
		httpapi.Fail(w, r, errReturn)
		return
	}
	showPage(w, r, ref)
}
