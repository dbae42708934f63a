package linepay

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
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

// packageInfo is LINE Pay's package. The prices of its products add up to its amount, and the packages to the total;
// otherwise LINE Pay refuses the request (2101). One product for the whole bill cannot fail to add up, whatever discounts
// and service charges it has.
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

// locales maps our locales to LINE Pay's; others are shown in English.
var locales = map[string]string{"zh-TW": "zh_TW", "zh-CN": "zh_CN", "th": "th", "ja": "ja", "ko": "ko"}

// newRequestBody returns the request for a purchase. The id of the attempt is LINE Pay's order id (decision 19).
func newRequestBody(p payment.Purchase) requestBody {
	a := p.Attempt
	amount := formatMinor(a.Currency, a.Amount)
	goods := productName(p.Branch+" "+p.OrderNumber, maxProductName)
	body := requestBody{
		Amount: amount, Currency: string(a.Currency), OrderID: a.ID,
		Packages: []packageInfo{{
			ID: "order", Amount: amount, Name: productName(p.Branch, maxPackageName),
			Products: []product{{Name: goods, Quantity: 1, Price: amount}},
		}},
		RedirectURLs: redirects{p.ReturnBaseURL + "/payment/linepay/confirm", p.ReturnBaseURL + "/payment/linepay/cancel"},
	}
	// Otherwise a confirmation would only authorize, and the money would need another call to move.
	body.Options.Payment.Capture = true
	body.Options.Display.Locale = "en"
	if locale, ok := locales[p.Language]; ok {
		body.Options.Display.Locale = locale
	}
	body.Options.Extra.Branch = gatewayhttp.Truncate(p.Branch, maxBranchName)
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
// deadline.
func (m *Merchant) Start(ctx context.Context, p payment.Purchase) (payment.Page, error) {
	if !suitable(p.Attempt) {
		return payment.Page{}, payment.ErrUnsuitable
	}
	if p.Attempt.GatewayRef != "" { // L1
		return payment.Page{}, payment.ErrGateway.Because(errors.New("linepay: the attempt has a transaction already"))
	}
	c := request{name: "request", path: "/payments/request", body: newRequestBody(p), timeout: requestTimeout}
	a, err := m.call(ctx, c)
	if err == nil && a.Code != codeOK {
		err = a.codeError(c)
	}
	if err != nil {
		return payment.Page{}, payment.ErrGateway.Because(err)
	}
	page, err := pageOf(a)
	if err != nil {
		return payment.Page{}, payment.ErrGateway.Because(err)
	}
	return page, nil
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
	// The URL is where a guest's browser is sent, so nothing but a web address is accepted.
	u, err := url.Parse(page.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || !transactionID.MatchString(page.Ref) {
		return payment.Page{}, errors.New("linepay: request: the answer has no page or no transaction")
	}
	return page, nil
}

// suitable reports whether LINE Pay supports the amount and the currency.
func suitable(a payment.Attempt) bool {
	return payment.LINEPay.CheckAmount(a.Amount, a.Currency) == nil
}
