package linepaysim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"comanda/internal/sim"
)

// purchase is the body of a start request, as far as the manual allows it. Anything else is a format error. Decode
// refuses unknown fields, so that a misspelt option shows in a test and is not ignored.
type purchase struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
	OrderID  string      `json:"orderId"`
	Packages []struct {
		ID       string      `json:"id"`
		Amount   json.Number `json:"amount"`
		UserFee  json.Number `json:"userFee"`
		Name     string      `json:"name"`
		Products []struct {
			ID       string      `json:"id"`
			Name     string      `json:"name"`
			ImageURL string      `json:"imageUrl"`
			Quantity int64       `json:"quantity"`
			Price    json.Number `json:"price"`
		} `json:"products"`
	} `json:"packages"`
	RedirectURLs struct {
		Confirm string `json:"confirmUrl"`
		Cancel  string `json:"cancelUrl"`
	} `json:"redirectUrls"`
	Options struct {
		Payment struct {
			Capture *bool `json:"capture"`
		} `json:"payment"`
		Display struct {
			Locale string `json:"locale"`
		} `json:"display"`
		Extra struct {
			BranchName string `json:"branchName"`
			BranchID   string `json:"branchId"`
		} `json:"extra"`
	} `json:"options"`
}

// request serves "Request Payment". No money moves until the confirmation.
func (s *Simulator) request(r *http.Request, body []byte, _ Fault) reply {
	var order purchase
	if !sim.Decode(body, &order) {
		return codeReply("2102")
	}
	amount, code := order.check()
	if code != "" {
		return codeReply(code)
	}
	p := s.add(order, amount)
	page := s.base(r) + "/pay/" + p.page
	return success(map[string]any{
		"transactionId": p.id, "paymentAccessToken": "0" + p.page[:11],
		"paymentUrl": map[string]string{"web": page, "app": "line://pay/payment/" + p.page},
	})
}

// check returns the amount, or the code of an error.
func (o purchase) check() (amount int64, code string) {
	amount, ok := hundredths(o.Currency, o.Amount)
	switch {
	case !slices.Contains([]string{"TWD", "THB", "USD"}, o.Currency):
		return 0, "1178"
	case !ok || amount <= 0:
		return 0, "1124"
	case o.OrderID == "" || len(o.OrderID) > 100 || len(o.Packages) == 0 || !o.addsUp(amount):
		return 0, "2101"
	case !validReturn(o.RedirectURLs.Confirm) || !validReturn(o.RedirectURLs.Cancel):
		return 0, "2101"
	case o.Options.Payment.Capture != nil && !*o.Options.Payment.Capture: // authorization without capture is not simulated
		return 0, "2101"
	}
	return amount, ""
}

// addsUp reports whether the products add up to their packages, and the packages to the amount.
func (o purchase) addsUp(amount int64) bool {
	var whole int64
	for _, pack := range o.Packages {
		part, ok := hundredths(o.Currency, pack.Amount)
		if !ok || pack.ID == "" || len(pack.Products) == 0 || len(o.Packages) > 20 {
			return false
		}
		products := int64(0)
		for _, item := range pack.Products {
			price, ok := hundredths(o.Currency, item.Price)
			if !ok || item.Name == "" || item.Quantity < 1 || item.Quantity > 10_000 {
				return false
			}
			products += price * item.Quantity
		}
		if products != part {
			return false
		}
		fee, ok := hundredths(o.Currency, pack.UserFee)
		if pack.UserFee != "" && !ok {
			return false
		}
		whole += part + fee
	}
	return whole == amount
}

// host limits the characters of a host name or address; others would not be safe in the content security policy.
var host = regexp.MustCompile(`^[0-9A-Za-z.\[\]:-]+$`)

// validReturn reports whether a browser can be redirected to a URL.
func validReturn(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && host.MatchString(u.Host) && u.User == nil &&
		len(address) <= 500
}

// base returns the URL under which browsers reach the simulator.
func (s *Simulator) base(r *http.Request) string {
	if s.baseURL != "" {
		return s.baseURL
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
