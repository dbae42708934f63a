package vnpaysim

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The codes that VNPay's error page shows.
const (
	errExists    = "01"
	errForm      = "03"
	errOver      = "15"
	errSignature = "70"
	errSite      = "72"
)

const layout = "20060102150405"

// ict is the zone of all times.
var ict = time.FixedZone("GMT+7", 7*3600)

// purchase is a valid pay URL.
type purchase struct {
	ref       string
	amount    int64 // in hundredths
	info      string
	locale    string // vn or en
	returnURL *url.URL
	created   string // as it was sent
	ends      time.Time
	data      string // the signed text: pay URLs with the same text are equal
}

// key identifies a payment: references are unique within a day. The day is that of the creation time.
func (p purchase) key() string { return keyOf(p.ref, p.created) }

func keyOf(ref, created string) string { return ref + "/" + created[:min(8, len(created))] }

// fields are the parameters of a pay URL and their formats. The order text has no diacritics or special characters.
var fields = map[string]form{
	"vnp_Version":    newForm(`^2\.1\.0$`),
	"vnp_Command":    newForm(`^pay$`),
	"vnp_TmnCode":    newForm(`^[A-Za-z0-9]{8}$`),
	"vnp_Amount":     newForm(`^[1-9][0-9]{0,11}$`),
	"vnp_BankCode":   newForm(`^([A-Za-z0-9]{3,20})?$`),
	"vnp_CreateDate": newForm(`^[0-9]{14}$`),
	"vnp_ExpireDate": newForm(`^[0-9]{14}$`),
	"vnp_CurrCode":   newForm(`^VND$`),
	"vnp_IpAddr":     newForm(`^[0-9A-Fa-f:.]{7,45}$`),
	"vnp_Locale":     newForm(`^(vn|en)$`),
	"vnp_OrderInfo":  newForm(`^[A-Za-z0-9 ]{1,255}$`),
	"vnp_OrderType":  newForm(`^[A-Za-z0-9]{1,100}$`),
	"vnp_ReturnUrl":  newForm(`^https?://[A-Za-z0-9.:\[\]-]+(/.{0,200})?$`),
	"vnp_TxnRef":     newForm(`^[A-Za-z0-9]{1,100}$`),
}

// form is a pattern that is compiled at its first match: a counted repetition compiles to a large program, which would slow
// down every start of the command, most of which do not simulate VNPay.
type form func() *regexp.Regexp

func newForm(pattern string) form {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// MatchString reports whether a text matches the pattern.
func (f form) MatchString(text string) bool { return f().MatchString(text) }

// VNPay's limits in hundredths of a dong.
const (
	minAmount = 5_000_00
	maxAmount = 1_000_000_000_00
)

// read verifies a pay URL. It returns the code of the error page, or an empty string.
func (s *Simulator) read(rawQuery string) (purchase, string) {
	params, hash, ok := vnp(rawQuery)
	switch {
	case !ok:
		return purchase{}, errForm
	// The site code is compared before the signature, because the secret of another merchant is unknown here.
	case params["vnp_TmnCode"] != s.o.TmnCode:
		return purchase{}, errSite
	case !s.verify(hashData(params), hash):
		return purchase{}, errSignature
	}
	for name, form := range fields {
		if !form.MatchString(params[name]) {
			return purchase{}, errForm
		}
	}
	return purchaseOf(params)
}

// purchaseOf converts parameters whose format was checked. It returns the code of the error page, or an empty string.
func purchaseOf(params map[string]string) (purchase, string) {
	p := purchase{
		ref: params["vnp_TxnRef"], info: params["vnp_OrderInfo"], locale: params["vnp_Locale"], created: params["vnp_CreateDate"],
		data: hashData(params),
	}
	var errs [4]error
	var created time.Time
	p.amount, errs[0] = strconv.ParseInt(params["vnp_Amount"], 10, 64)
	created, errs[1] = time.ParseInLocation(layout, p.created, ict)
	p.ends, errs[2] = time.ParseInLocation(layout, params["vnp_ExpireDate"], ict)
	p.returnURL, errs[3] = url.Parse(params["vnp_ReturnUrl"])
	if slices.ContainsFunc(errs[:], func(err error) bool { return err != nil }) {
		return purchase{}, errForm
	}
	if p.amount < minAmount || p.amount >= maxAmount || !p.ends.After(created) || p.returnURL.Host == "" {
		return purchase{}, errForm
	}
	return p, ""
}

// vnp returns VNPay's parameters of a query. A hash type belongs to older versions and is refused.
func vnp(rawQuery string) (params map[string]string, hash string, ok bool) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, "", false
	}
	params = map[string]string{}
	for key, all := range values {
		if !strings.HasPrefix(key, "vnp_") {
			continue
		}
		if len(all) != 1 || key == "vnp_SecureHashType" {
			return nil, "", false
		}
		params[key] = all[0]
	}
	hash = params["vnp_SecureHash"]
	delete(params, "vnp_SecureHash")
	return params, hash, true
}

// encode is PHP's urlencode, which VNPay's samples sign with. It is written byte by byte instead of with net/url, so
// that an error in the escaping of package vnpay shows.
func encode(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// hashData returns the signed text; the samples use the same name.
func hashData(params map[string]string) string {
	var data []string
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if params[key] != "" {
			data = append(data, encode(key)+"="+encode(params[key]))
		}
	}
	return strings.Join(data, "&")
}

// hmac returns the signature of a text in lower case.
func (s *Simulator) hmac(data string) string {
	h := hmac.New(sha512.New, []byte(s.o.HashSecret))
	h.Write([]byte(data))
	return hex.EncodeToString(h.Sum(nil))
}

// verify accepts both cases, and compares in constant time.
func (s *Simulator) verify(data, hash string) bool {
	return hmac.Equal([]byte(s.hmac(data)), []byte(strings.ToLower(hash)))
}
