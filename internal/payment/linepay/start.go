package linepay

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"comanda/internal/payment"
)

// What LINE Pay takes of names, in bytes: its limits are in characters, so these are never more.
const (
	maxPackageName = 100
	maxProductName = 200
	maxBranchName  = 200
)

// purchase is the body of the call "request".
type purchase struct {
	Amount       json.Number    `json:"amount"`
	Currency     string         `json:"currency"`
	OrderID      string         `json:"orderId"`
	Packages     []parcel       `json:"packages"`
	RedirectURLs redirects      `json:"redirectUrls"`
	Options      requestOptions `json:"options"`
}

// parcel is LINE Pay's package. Its products add up to its amount, and the packages to the purchase's.
type parcel struct {
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

// locales are LINE Pay's names of languages; for others it shows English.
var locales = map[string]string{"zh-TW": "zh_TW", "zh-CN": "zh_CN", "th": "th", "ja": "ja", "ko": "ko"}

func newPurchase(p payment.Purchase) purchase {
	a := p.Attempt
	amount := number(a.Currency, a.Amount)
	goods := name(p.House+" "+p.Number, maxProductName)
	body := purchase{
		Amount: amount, Currency: string(a.Currency), OrderID: a.ID,
		Packages: []parcel{{
			ID: "order", Amount: amount, Name: name(p.House, maxPackageName),
			Products: []product{{Name: goods, Quantity: 1, Price: amount}},
		}},
		RedirectURLs: redirects{p.ReturnTo + "/payment/linepay/confirm", p.ReturnTo + "/payment/linepay/cancel"},
	}
	body.Options.Payment.Capture = true
	body.Options.Display.Locale = "en"
	if locale, ok := locales[p.Language]; ok {
		body.Options.Display.Locale = locale
	}
	body.Options.Extra.Branch = short(p.House, maxBranchName)
	return body
}

// name is never empty, which LINE Pay would refuse.
func name(s string, most int) string {
	if s = strings.TrimSpace(s); s == "" {
		return "-"
	}
	return short(s, most)
}

// Start implements payment.Gateway. LINE Pay cannot be told when an order ends: whoever confirms looks at that.
func (m *Merchant) Start(ctx context.Context, p payment.Purchase) (payment.Page, error) {
	if !suitable(p.Attempt) {
		return payment.Page{}, payment.ErrUnsuitable
	}
	if p.Attempt.GatewayRef != "" { // L1
		return payment.Page{}, payment.ErrGateway.Because(errors.New("linepay: the attempt has a transaction already"))
	}
	c := call{name: "request", path: "/payments/request", body: newPurchase(p), timeout: requestTimeout}
	a, err := m.ask(ctx, c)
	if err == nil && a.Code != codeOK {
		err = a.fail(c)
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

// pageOf reads the answer to "request".
func pageOf(a answer) (payment.Page, error) {
	var info struct {
		Transaction json.Number `json:"transactionId"`
		Page        struct {
			Web string `json:"web"`
		} `json:"paymentUrl"`
	}
	if err := a.into(&info); err != nil {
		return payment.Page{}, err
	}
	page := payment.Page{URL: info.Page.Web, Ref: info.Transaction.String()}
	u, err := url.Parse(page.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || !transaction.MatchString(page.Ref) {
		return payment.Page{}, errors.New("linepay: request: the answer has no page or no transaction")
	}
	return page, nil
}

// suitable tells whether LINE Pay takes such an amount.
func suitable(a payment.Attempt) bool { return a.Amount > 0 && currencies[a.Currency] }
