package orderinghttp

import (
	_ "embed" // the page's texts
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/payment"
)

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

// words is the texts of one language in page.json.
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
	// From the end, so that earlier positions stay valid.
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
