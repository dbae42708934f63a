package orderinghttp

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/payment"
)

// The page on which a guest ends up after a gateway's. Gateways return to the device's own browser, not to the one in
// which the order was made, so it needs neither cookies nor scripts: the attempt's id, which nobody can guess, opens it.
// It tells what has become of the payment and nothing about who paid or what was ordered.

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(strings.Replace(pageText, "/* style */", pageStyle, 1)))

var pageCSP = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// showPage sends a browser on to an attempt's page, which is on this site whatever the reference says.
func showPage(w http.ResponseWriter, r *http.Request, ref string) {
	http.Redirect(w, r, "/pay/"+url.PathEscape(ref), http.StatusSeeOther)
}

func (g gateways) registerPage(a *httpapi.API) {
	a.Handle(httpapi.Route{Pattern: "GET /pay/{ref}", Policy: httpapi.Public, Handler: http.HandlerFunc(g.page)})
}

// pageAgain is how often an undecided page looks again, in seconds, and pageWords what it says in each language.
const pageAgain = 3

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
	Separator string `json:"separator"`
}

//go:embed page.json
var pageTexts []byte

var pageWords = func() (w map[string]words) {
	if err := json.Unmarshal(pageTexts, &w); err != nil {
		panic(err) // a defect of the program, found by its first test
	}
	return w
}()

type view struct {
	Language, Number, State, Amount string
	Page                            string // of the gateway, while it may still be paid there
	Order                           string // the order in the guests' app
	Again                           int    // seconds; 0 when it is decided
	Words                           words
}

func (g gateways) page(w http.ResponseWriter, r *http.Request) {
	d, a, err := g.orders.Attempt(r.Context(), r.PathValue("ref"))
	if err != nil {
		httpapi.Fail(w, r, err)
		return
	}
	language := httpapi.Locale(r.Header.Get("Accept-Language"), locales...)
	v := view{
		Language: language, Number: ordering.ShortNumber(d.Number), State: pageState(d, a), Words: pageWords[language],
		Amount: amountOf(a, pageWords[language].Separator),
	}
	if v.State == "pending" {
		v.Again = pageAgain
	}
	v.Order = g.orderPage(d)
	if a.State == payment.Redirected && d.PaymentStatus == ordering.Unpaid {
		v.Page = a.URL
	}
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, v); err != nil {
		httpapi.Fail(w, r, fault.Wrap("show a payment", err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pageCSP)
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	_, _ = w.Write(body.Bytes())
}

// orderPage is the order in the app of whoever placed it: at a table, or from home.
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

// pageState says what the guest is told. Nothing failed while a gateway has not said so.
func pageState(d ordering.Detail, a payment.Attempt) string {
	switch {
	case d.PaymentStatus == ordering.RefundDue || d.PaymentStatus == ordering.Refunded:
		return "refund"
	case a.State == payment.Paid && d.PaymentStatus == ordering.Paid:
		return "paid"
	case a.State == payment.Paid:
		return "refund"
	case a.State == payment.Confirming || a.State == payment.Unknown || a.State == payment.Review:
		return "pending"
	case d.Status == ordering.Canceled:
		return "ended"
	case a.State == payment.Failed || a.State == payment.Canceled:
		return "failed"
	}
	return "pending"
}

// amountOf writes an amount as people read it: 130.000 ₫, NT$440, 12.50 USD.
func amountOf(a payment.Attempt, separator string) string {
	whole, fraction, _ := strings.Cut(a.Currency.Format(a.Amount), ".")
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
