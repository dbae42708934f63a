package linepaysim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// authenticate verifies the merchant's signature over the bytes of the path and of the query or body as received. It
// returns an error message, or an empty string.
func (s *Simulator) authenticate(r *http.Request, body []byte) string {
	nonce := r.Header.Get("X-Line-Authorization-Nonce")
	switch {
	case r.Header.Get("X-Line-Channelid") != s.channelID:
		return "Header information error: the channel."
	case nonce == "" || len(nonce) > 100:
		return "Header information error: the nonce."
	case !s.signed(r, body, nonce):
		return "Header information error: the signature."
	// Last, because a request with a wrong signature must not use up a nonce.
	case !s.remember(nonce):
		return "Header information error: the nonce was used before."
	}
	return ""
}

// signed reports whether the secret has signed the request. It signs the escaped path as it was received, and compares
// in constant time.
func (s *Simulator) signed(r *http.Request, body []byte, nonce string) bool {
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Line-Authorization"))
	if err != nil {
		return false
	}
	payload := string(body)
	if r.Method == http.MethodGet {
		payload = r.URL.RawQuery
	}
	message := strings.Join([]string{s.secret, r.URL.EscapedPath(), payload, nonce}, "")
	h := hmac.New(sha256.New, []byte(s.secret))
	_, _ = io.WriteString(h, message) // a hash never fails
	return hmac.Equal(h.Sum(nil), given)
}

// remember reports whether a nonce is new, and stores it. After Keep others it may be used again.
func (s *Simulator) remember(nonce string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nonces.Add(nonce, struct{}{})
}

// maxHundredths is far above any bill, and far below an overflow in multiplications and sums.
const maxHundredths = 1_000_000_000_000

// hundredths parses an amount; ok is false if it has more decimals than its currency allows. All currencies are counted
// in hundredths, which is exact for the two decimals of THB and USD. The limit of length keeps a number with a thousand
// digits from being computed.
func hundredths(currency string, n json.Number) (amount int64, ok bool) {
	if len(n) > 20 || strings.ContainsAny(string(n), "eE") {
		return 0, false
	}
	// Exact fractions instead of floats: 0.1 and 0.10 are one amount, and 1.005 is none.
	exact, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return 0, false
	}
	exact.Mul(exact, big.NewRat(100, 1))
	if !exact.IsInt() || !exact.Num().IsInt64() {
		return 0, false
	}
	amount = exact.Num().Int64()
	if currency == "TWD" && amount%100 != 0 || amount > maxHundredths || amount < -maxHundredths {
		return 0, false
	}
	return amount, true
}

// decimal formats hundredths as a JSON number without trailing zeros. Real responses are numbers, so it returns one and
// not a text.
func decimal(amount int64) json.Number {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	fraction := strings.TrimRight(strconv.FormatInt(100+amount%100, 10)[1:], "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return json.Number(sign + strconv.FormatInt(amount/100, 10) + fraction)
}
