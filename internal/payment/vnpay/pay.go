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
	"unicode"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
)

const (
	version    = "2.1.0"
	timeLayout = "20060102150405"
	maxInfo    = 255 // vnp_OrderInfo and vnp_ReturnUrl, in bytes
	returnPath = "/payment/vnpay/return"

	// unknownIP is sent if the guest's address is unknown, and as this server's address, which the API requires and
	// does not check.
	unknownIP = "127.0.0.1"
)

// ict is Indochina Time. It is a fixed zone, so that it does not depend on the machine's zone database (V2).
var ict = time.FixedZone("ICT", 7*60*60)

// Merchant implements payment.Gateway for VNPay. It is stateless and safe for concurrent use.
type Merchant struct {
	conf   Config
	client *gatewayhttp.Client
	now    func() time.Time
}

var _ payment.Gateway = (*Merchant)(nil)

// New returns a merchant. It uses the client's transport and timeout, but no cookies, and follows no redirects. now is
// the deciding clock, by which orders expire.
func New(c Config, client *http.Client, now func() time.Time) (*Merchant, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Merchant{c.complete(), gatewayhttp.NewClient(client), now}, nil
}

// Start implements payment.Gateway. It sends nothing: the URL of the page is the signed request (PAY,
// "vnp_Command=pay"). An unsupported amount or less than a second to pay is payment.ErrUnsuitable, and a return URL that
// VNPay would not accept is payment.ErrRefused: a URL that was not stored was not given to a guest.
func (m *Merchant) Start(_ context.Context, p payment.Purchase) (payment.Page, error) {
	a := p.Attempt
	if !supportsAmount(a) || !p.ExpiresAt.After(m.now()) || p.ExpiresAt.Sub(a.CreatedAt) < time.Second {
		return payment.Page{}, payment.ErrUnsuitable
	}
	returnURL := p.ReturnBaseURL + returnPath
	// Encoders differ in these characters: VNPay might sign the URL differently and refuse the page.
	if len(returnURL) > maxInfo || strings.ContainsAny(returnURL, "~*()'!") {
		return payment.Page{}, payment.ErrRefused.Because(errors.New("vnpay: the return URL is too long or has ~*()'! in it"))
	}
	locale, info := localize(p)
	// Times are those of the attempt and the order, not of the call, so that a repetition returns the same URL (V3).
	text := canonical([]pair{
		{"vnp_Version", version},
		{"vnp_Command", "pay"},
		{"vnp_TmnCode", m.conf.TmnCode},
		{"vnp_TxnRef", a.ID},
		{"vnp_Amount", formatAmount(a.Amount)},
		{"vnp_CurrCode", string(money.VND)},
		{"vnp_CreateDate", formatTime(a.CreatedAt)},
		{"vnp_ExpireDate", formatTime(p.ExpiresAt)},
		{"vnp_IpAddr", formatIP(p.ClientIP)},
		{"vnp_Locale", locale},
		{"vnp_OrderInfo", info},
		{"vnp_OrderType", "other"},
		{"vnp_ReturnUrl", returnURL},
	})
	return payment.Page{URL: m.conf.PayURL + "?" + text + "&" + hashKey + "=" + m.sign(text)}, nil
}

// supportsAmount reports whether VNPay accepts the attempt's amount and currency. For others VNPay would show an error
// page and send no report.
func supportsAmount(a payment.Attempt) bool {
	return a.Method == payment.VNPay && a.Method.CheckAmount(a.Amount, a.Currency) == nil
}

// localize returns VNPay's code of the guest's language, and the text on the page. VNPay supports Vietnamese and
// English only, so English is used for every other language.
func localize(p payment.Purchase) (locale, info string) {
	locale, info = "en", "Payment of order %s %s"
	if strings.HasPrefix(p.Language, "vi") {
		locale, info = "vn", "Thanh toan don hang %s %s"
	}
	return locale, asciiText(fmt.Sprintf(info, p.OrderNumber, p.BranchName), maxInfo)
}

// formatTime formats an instant as VNPay does: "yyyyMMddHHmmss, GMT+7".
func formatTime(t time.Time) string { return t.In(ict).Format(timeLayout) }

// formatDay returns the date of an instant in VNPay's zone.
func formatDay(t time.Time) string { return t.In(ict).Format(time.DateOnly) }

// formatAmount formats an amount in hundredths of a dong, which VNPay uses everywhere.
func formatAmount(amount int64) string { return strconv.FormatInt(amount*100, 10) }

// formatIP formats an IP address in the 7 to 45 characters that VNPay requires; short forms of IPv6 are expanded.
func formatIP(s string) string {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return unknownIP
	}
	// A zone is not part of VNPay's format. A mapped IPv4 address is sent as the guest's own.
	ip = ip.WithZone("").Unmap()
	if short := ip.String(); len(short) >= 7 {
		return short
	}
	return ip.StringExpanded()
}

// letters lists Vietnamese letters in groups, each after its letter without diacritics.
const letters = "aàáảãạăằắẳẵặâầấẩẫậ eèéẻẽẹêềếểễệ iìíỉĩị oòóỏõọôồốổỗộơờớởỡợ uùúủũụưừứửữự yỳýỷỹỵ dđ"

// baseLetter maps each letter, in both cases, to its base. Texts are in NFC, where a Vietnamese letter is one
// character; combining marks of other spellings are dropped by asciiText.
var baseLetter = func() map[rune]rune {
	m := map[rune]rune{}
	for row := range strings.FieldsSeq(letters) {
		first := rune(row[0])
		for _, r := range row {
			m[r], m[unicode.ToUpper(r)] = first, unicode.ToUpper(first)
		}
	}
	return m
}()

// asciiText reduces a text to what VNPay always accepts: A-Z, a-z, 0-9 and single spaces, at most n bytes (PAY,
// vnp_OrderInfo: "Vietnamese without diacritics and no special characters"). It drops combining marks and replaces
// every other character with a space.
func asciiText(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch b, ok := baseLetter[r]; {
		case ok:
			return b
		case unicode.Is(unicode.Mn, r):
			return -1
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			return r
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(s[:min(n, len(s))])
}
