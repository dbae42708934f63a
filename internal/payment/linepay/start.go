package linepay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/uid"
)

// The maximum lengths of names in bytes. LINE Pay's limits are the same numbers in characters, so these are never longer.
const (
	maxPackageName = 100
	maxProductName = 200
	maxBranchName  = 200
)

// requestBody is the body of "Request Payment".
type requestBody struct {
	Amount       json.Number    `json:"amount"`
	Currency     string         `json:"currency"`
	OrderID      string         `json:"orderId"`
	Packages     []packageInfo  `json:"packages"`
	RedirectURLs redirects      `json:"redirectUrls"`
	Options      requestOptions `json:"options"`
}

// packageInfo is LINE Pay's package. The prices of its products must add up to its amount, and the packages to the
// total; otherwise LINE Pay refuses the request (2101). Comanda sends one product for the whole bill, so the sums are
// always equal, whatever discounts and service charges the bill has.
type packageInfo struct {
	ID       string      `json:"id"`
	Amount   json.Number `json:"amount"`
	Name     string      `json:"name"`
	Products []product   `json:"products"`
}

type product struct {
	Name     string      `json:"name"`
	Quantity int         `json:"quantity"`
	Price    json.Number `json:"price"`
}

type redirects struct {
	Confirm string `json:"confirmUrl"`
	Cancel  string `json:"cancelUrl"`
}

type requestOptions struct {
	Payment struct {
		Capture bool `json:"capture"`
	} `json:"payment"`
	Display struct {
		Locale string `json:"locale"`
	} `json:"display"`
	Extra struct {
		Branch string `json:"branchName,omitempty"`
	} `json:"extra"`
}

// locales maps Comanda's locales to LINE Pay's. For other locales LINE Pay's pages are in English.
var locales = map[string]string{"zh-TW": "zh_TW", "zh-CN": "zh_CN", "th": "th", "ja": "ja", "ko": "ko"}

// newRequestBody returns the request for a purchase. The id of the attempt is LINE Pay's order id (decision 19).
func newRequestBody(p payment.Purchase) requestBody {
	a := p.Attempt
	amount := formatMinor(a.Currency, a.Amount)
	goods := productName(p.BranchName+" "+p.OrderNumber, maxProductName)
	body := requestBody{
		Amount: amount, Currency: string(a.Currency), OrderID: a.ID,
		Packages: []packageInfo{{
			ID: "order", Amount: amount, Name: productName(p.BranchName, maxPackageName),
			Products: []product{{Name: goods, Quantity: 1, Price: amount}},
		}},
		RedirectURLs: redirects{p.ReturnBaseURL + "/payment/linepay/confirm", p.ReturnBaseURL + "/payment/linepay/cancel"},
	}
	// Without this option a confirmation would only authorize, and capturing would need another call.
	body.Options.Payment.Capture = true
	body.Options.Display.Locale = cmp.Or(locales[p.Language], "en")
	body.Options.Extra.Branch = gatewayhttp.Truncate(p.BranchName, maxBranchName)
	return body
}

// productName truncates a name. LINE Pay refuses an empty one.
func productName(s string, limit int) string {
	if s = strings.TrimSpace(s); s == "" {
		return "-"
	}
	return gatewayhttp.Truncate(s, limit)
}

// Start implements payment.Gateway. LINE Pay has no expiry of its own: the caller of Confirm checks the order's
// deadline. A code after which nothing has happened is payment.ErrRefused (L6).
func (m *Merchant) Start(ctx context.Context, p payment.Purchase) (payment.Page, error) {
	if !supportsAmount(p.Attempt) {
		return payment.Page{}, payment.ErrUnsuitable
	}
	if p.Attempt.GatewayRef != "" { // L1
		return payment.Page{}, payment.ErrGateway.Because(errors.New("linepay: the attempt has a transaction already"))
	}
	c := request{name: "request", path: "/payments/request", body: newRequestBody(p), timeout: requestTimeout}
	a, err := m.call(ctx, c)
	switch {
	case err != nil:
		return payment.Page{}, payment.ErrGateway.Because(err)
	case a.Code != codeOK && a.refusesPage():
		return payment.Page{}, payment.ErrRefused.Because(&payment.RefusedError{Raw: a.raw, Err: a.codeError(c)})
	case a.Code != codeOK:
		return payment.Page{}, payment.ErrGateway.Because(a.codeError(c))
	}
	page, err := pageOf(a)
	if err != nil {
		return payment.Page{}, payment.ErrGateway.Because(err)
	}
	return page, nil
}

// refusesPage reports whether the response to a start request says that there is no payment. "Not approved" is no such
// response: it is about a payment that exists.
func (a response) refusesPage() bool {
	group := groupOf(a.Code)
	return group == merchant || group == guest && a.Code != codeNotApproved
}

// pageOf parses the response to a start request.
func pageOf(a response) (payment.Page, error) {
	var info struct {
		Transaction json.Number `json:"transactionId"`
		Page        struct {
			Web string `json:"web"`
		} `json:"paymentUrl"`
	}
	if err := a.decodeInfo(&info); err != nil {
		return payment.Page{}, err
	}
	page := payment.Page{URL: info.Page.Web, Ref: info.Transaction.String()}
	// Guests' browsers are sent to the URL, so only web addresses are accepted.
	u, err := url.Parse(page.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || !transactionID.MatchString(page.Ref) {
		return payment.Page{}, errors.New("linepay: request: the answer has no page or no transaction")
	}
	return page, nil
}

// supportsAmount reports whether LINE Pay supports the amount and the currency.
func supportsAmount(a payment.Attempt) bool {
	return payment.LINEPay.CheckAmount(a.Amount, a.Currency) == nil
}

// formatMinor formats minor units as a JSON number: 120 for TWD, 120.50 for THB. It uses no floats. LINE Pay compares
// the amount of a confirmation with that of the request, so both come from here.
func formatMinor(c money.Currency, minor int64) json.Number { return json.Number(c.Format(minor)) }

// parseMinor parses a JSON number as minor units. It ignores trailing zeros of the fraction; a fraction of a minor unit
// is an error. LINE Pay lists refunds with a minus. money.Parse refuses one, so the sign is handled here.
func parseMinor(c money.Currency, n json.Number) (int64, error) {
	whole, fraction, _ := strings.Cut(n.String(), ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	if digits, negative := strings.CutPrefix(whole, "-"); negative {
		m, err := c.Parse(digits)
		return -m, err
	}
	return c.Parse(whole)
}

// sum adds parts of an amount, some of which may be negative, such as discounts. The limit is checked after each part:
// two numbers within it cannot overflow an int64.
func sum(c money.Currency, parts []json.Number) (int64, error) {
	var total int64
	for _, p := range parts {
		m, err := parseMinor(c, p)
		if err != nil {
			return 0, err
		}
		if total += m; total > money.Max || total < -money.Max {
			return 0, fmt.Errorf("linepay: %s is too much", p)
		}
	}
	return total, nil
}

// ErrForm refuses a query that LINE Pay does not send.
var ErrForm = fault.New(fault.Invalid, "payment_return_invalid", "This is not a valid return from LINE Pay.")

// maxQuery is the maximum length of a query in bytes. LINE Pay's two parameters have about 70.
const maxQuery = 2 << 10

// Return is the query with which LINE Pay redirects a browser to the confirm or cancel URL. It is not signed and
// anyone can send one. So it only names the payment to check; the caller gets the state from LINE Pay.
type Return struct {
	TransactionID string // 19 digits
	AttemptID     string
}

// Read parses the raw query of such a URL. It ignores other parameters; a repeated one is ErrForm.
func Read(rawQuery string) (Return, error) {
	if len(rawQuery) > maxQuery {
		return Return{}, ErrForm
	}
	q, err := url.ParseQuery(rawQuery)
	if err != nil {
		return Return{}, ErrForm
	}
	// A proxy in front of this server could read another one of two values with the same name.
	for _, values := range q {
		if len(values) != 1 {
			return Return{}, ErrForm
		}
	}
	r := Return{TransactionID: q.Get("transactionId"), AttemptID: q.Get("orderId")}
	if !transactionID.MatchString(r.TransactionID) || !uid.Valid(r.AttemptID) {
		return Return{}, ErrForm
	}
	return r, nil
}
