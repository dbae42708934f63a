package vnpay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
)

// VNPay's own limits, in dong: "from 5,000 to below 1 billion".
const (
	least = 5_000
	most  = 999_999_999
)

const (
	version    = "2.1.0"
	stamp      = "20060102150405"
	maxInfo    = 255 // vnp_OrderInfo and vnp_ReturnUrl, in bytes
	returnPath = "/payment/vnpay/return"

	// nowhere stands for an address that is not known, and for our own, which the API wants to be told and does not check.
	nowhere = "127.0.0.1"
)

// ict is Indochina Time. It is fixed, because a zone of this offset must not depend on the machine's database (V2).
var ict = time.FixedZone("ICT", 7*60*60)

// Merchant is payment.Gateway by VNPay. It keeps nothing between calls and may be used by many at once.
type Merchant struct {
	conf   Config
	client *http.Client
	now    func() time.Time
}

var _ payment.Gateway = (*Merchant)(nil)

// New makes a merchant. The client's transport is used, and nothing else of it that could act by itself: redirects are
// not followed and cookies not kept.
func New(c Config, client *http.Client, now func() time.Time) (*Merchant, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	own := *client
	own.Jar = nil
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Merchant{c.complete(), &own, now}, nil
}

// Start implements payment.Gateway. It calls nobody: the page's address is the request, signed (PAY, "vnp_Command=pay").
// What VNPay does not take, and what must be paid in less than a second, is payment.ErrUnsuitable.
func (m *Merchant) Start(_ context.Context, p payment.Purchase) (payment.Page, error) {
	a := p.Attempt
	if !suitable(a) || !p.Ends.After(m.now()) || p.Ends.Sub(a.CreatedAt) < time.Second {
		return payment.Page{}, payment.ErrUnsuitable
	}
	back := p.ReturnTo + returnPath
	if len(back) > maxInfo || strings.ContainsAny(back, "~*()'!") {
		return payment.Page{}, payment.ErrGateway.Because(errors.New("vnpay: our own address is long or has ~*()'! in it"))
	}
	locale, info := words(p)
	text := canonical([]pair{
		{"vnp_Version", version},
		{"vnp_Command", "pay"},
		{"vnp_TmnCode", m.conf.TmnCode},
		{"vnp_TxnRef", a.ID},
		{"vnp_Amount", hundredfold(a.Amount)},
		{"vnp_CurrCode", string(money.VND)},
		{"vnp_CreateDate", clock(a.CreatedAt)},
		{"vnp_ExpireDate", clock(p.Ends)},
		{"vnp_IpAddr", device(p.Address)},
		{"vnp_Locale", locale},
		{"vnp_OrderInfo", info},
		{"vnp_OrderType", "other"},
		{"vnp_ReturnUrl", back},
	})
	return payment.Page{URL: m.conf.PayURL + "?" + text + "&" + hashKey + "=" + m.sign(text)}, nil
}

func suitable(a payment.Attempt) bool {
	return a.Method == payment.VNPay && a.Currency == money.VND && a.Amount >= least && a.Amount <= most
}

// words gives VNPay's code of the guest's language and what the guest reads on the page.
func words(p payment.Purchase) (locale, info string) {
	locale, info = "en", "Payment of order %s %s"
	if strings.HasPrefix(p.Language, "vi") {
		locale, info = "vn", "Thanh toan don hang %s %s"
	}
	return locale, plain(fmt.Sprintf(info, p.Number, p.House), maxInfo)
}

// clock writes an instant as VNPay does everywhere: "yyyyMMddHHmmss, GMT+7".
func clock(t time.Time) string { return t.In(ict).Format(stamp) }

// day is the day that an instant falls on for VNPay.
func day(t time.Time) string { return t.In(ict).Format(time.DateOnly) }

// hundredfold writes an amount: VNPay counts in hundredths of a dong.
func hundredfold(amount int64) string { return strconv.FormatInt(amount*100, 10) }

// device writes an IP address in 7 to 45 characters; the short forms of IPv6 are written out.
func device(s string) string {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return nowhere
	}
	ip = ip.WithZone("").Unmap()
	if short := ip.String(); len(short) >= 7 {
		return short
	}
	return ip.StringExpanded()
}
