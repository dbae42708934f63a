package linepay

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/telemetry"
)

// The timeouts of requests: the minimum that the manual demands for each call ("Request Payment" 10 s, "Check Payment
// Request Status" and "Retrieve Payment Details" 20 s, "Confirm Payment" 40 s). With a shorter one, outcomes would be
// unknown although LINE Pay is about to respond. "Refund Payment" states none; 20 s is what LINE Pay's SDKs use.
const (
	requestTimeout = 10 * time.Second
	lookupTimeout  = 20 * time.Second // check and details
	refundTimeout  = 20 * time.Second
	confirmTimeout = 40 * time.Second
)

const (
	maxRaw     = 4 << 10 // bytes of a response that are stored
	maxMessage = 200     // bytes of a message that an error contains
)

// A transaction id is a bare number of 19 digits in JSON (L5).
var (
	transactionID = regexp.MustCompile(`^[0-9]{19}$`)
	returnCode    = regexp.MustCompile(`^[0-9]{4}$`)
)

// request is one API request. It is used for one call, because a repetition needs another nonce.
type request struct {
	name    string // for errors
	path    string // without the prefix
	query   string // query of a GET
	body    any    // body of a POST; nil makes a GET
	timeout time.Duration
}

// response is the envelope of every response. Failed requests have it too, with HTTP status 200 ("Response"). The
// caller decodes Info.
type response struct {
	Code    string          `json:"returnCode"`
	Message string          `json:"returnMessage"`
	Info    json.RawMessage `json:"info"`

	raw string
}

// codeError returns the error for an unexpected code.
func (a response) codeError(c request) error {
	return &codeError{c.name, a.Code, gatewayhttp.Truncate(a.Message, maxMessage)}
}

// decodeInfo decodes the info member, whose shape depends on the call. A response without one is an error.
func (a response) decodeInfo(to any) error {
	if len(a.Info) == 0 {
		return errors.New("linepay: the answer has no info")
	}
	return json.Unmarshal(a.Info, to)
}

// call sends a request and parses the response. After an error it is unknown whether LINE Pay has executed the request.
// The raw text of the response is set in either case. A status other than 200, an answer that is not JSON and a code
// that is not four digits are errors, since a proxy on the way may have written them.
func (m *Merchant) call(ctx context.Context, c request) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := m.newRequest(ctx, c)
	if err != nil {
		return response{}, err
	}
	body, err := m.client.Do(r)
	a := response{raw: gatewayhttp.Storable(string(body), maxRaw)}
	if err != nil {
		if len(body) == 0 {
			a.raw = gatewayhttp.Storable(err.Error(), maxRaw)
		}
		return a, fmt.Errorf("linepay: %s: %w", c.name, err)
	}
	if err = json.Unmarshal(body, &a); err != nil || !returnCode.MatchString(a.Code) {
		return a, fmt.Errorf("linepay: %s: the response is not LINE Pay's", c.name)
	}
	return a, nil
}

// newRequest builds and signs an HTTP request. It signs the bytes that it sends.
func (m *Merchant) newRequest(ctx context.Context, c request) (*http.Request, error) {
	method, payload := http.MethodGet, []byte(c.query)
	var body io.Reader
	if c.body != nil {
		var err error
		if payload, err = json.Marshal(c.body); err != nil {
			return nil, fmt.Errorf("linepay: %s: %w", c.name, err)
		}
		method, body = http.MethodPost, bytes.NewReader(payload)
	}
	path := m.conf.Prefix + c.path
	r, err := http.NewRequestWithContext(ctx, method, m.conf.Host+path, body)
	if err != nil {
		return nil, fmt.Errorf("linepay: %s: %w", c.name, err)
	}
	// The query is set exactly as it was signed: building it from parameters could sort or encode it differently.
	r.URL.RawQuery = c.query
	nonce := m.nonce()
	r.Header.Set("X-Line-Channelid", m.conf.ChannelID)
	r.Header.Set("X-Line-Authorization-Nonce", nonce)
	r.Header.Set("X-Line-Authorization", sign(m.conf.ChannelSecret, path, payload, nonce))
	return r, nil
}

// sign returns X-LINE-Authorization: the HMAC-SHA256 of secret, path, payload and nonce, keyed with the secret. The
// payload is the body as sent, or the query without its question mark ("API authentication"). Some SDKs sign the question
// mark as well; LINE Pay then answers 1106.
func sign(secret telemetry.Secret, path string, payload []byte, nonce string) string {
	key := []byte(secret)
	mac := hmac.New(sha256.New, key)
	mac.Write(key)
	mac.Write([]byte(path))
	mac.Write(payload)
	mac.Write([]byte(nonce))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Nonce returns a random UUID. LINE Pay refuses a nonce that it has seen before ("API authentication").
func Nonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24; it would crash the program
	// Version 4 and the variant of RFC 9562: LINE Pay asks for a UUID or a timestamp.
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// codeGroup is the way to handle a returnCode. Each call interprets the groups differently: a refusal, for example, is
// final for a refund and leaves a confirmation unknown.
type codeGroup uint8

const (
	unclear  codeGroup = iota // the outcome is unknown: check before anything else; the zero value, for unlisted codes
	success                   // the request succeeded
	guest                     // the guest can try again in a new attempt
	merchant                  // Comanda's contract, settings or request are wrong; nothing happened
	refusal                   // LINE Pay refuses a lookup or refund, and will again
)

// The codes that are handled individually.
const (
	codeOK              = "0000" // success; for a check: waiting for the guest
	codeApproved        = "0110"
	codeCanceled        = "0121" // cancelled by the guest, or expired
	codeFailed          = "0122"
	codePaid            = "0123"
	codeUnknown         = "1150" // no such transaction
	codeExceedsLeft     = "1164" // the amount exceeds what is left to refund
	codeAlreadyRefunded = "1165" // refunded already
	codeNotApproved     = "1169"
)

// groups lists the codes of the manual's appendix that are not unclear. The codes for requests in progress, repeated
// requests and internal errors (1145, 1152, 1172, 1198, 1199, 19xx, 9000) are unclear on purpose: money may have
// moved.
var groups = map[string]codeGroup{
	codeOK: success,

	"1101": guest, "1102": guest, "1110": guest, "1141": guest, "1142": guest, codeNotApproved: guest, "1170": guest,
	"1180": guest,

	"1104": merchant, "1105": merchant, "1106": merchant, "1124": merchant, "1153": merchant, "1178": merchant,
	"1183": merchant, "1194": merchant, "2101": merchant, "2102": merchant,

	codeUnknown: refusal, "1155": refusal, "1159": refusal, "1163": refusal,
	codeExceedsLeft: refusal, codeAlreadyRefunded: refusal,
	"1177": refusal, "1179": refusal,
}

// groupOf returns the group of a code, or unclear for one that the manual does not list. Codes of four digits can be
// compared as text.
func groupOf(code string) codeGroup {
	if len(code) == 4 && code >= "1280" && code <= "1298" { // errors of the guest's card
		return guest
	}
	return groups[code]
}

// codeError is the error for a returnCode that the caller does not handle. It becomes the cause of payment.ErrGateway,
// which is logged and never shown to guests. details returns it with 1150 for a payment that LINE Pay does not have.
type codeError struct{ call, code, message string }

func (e *codeError) Error() string {
	return fmt.Sprintf("linepay: %s was answered %s %q", e.call, e.code, e.message)
}

// paymentInfo is a payment in LINE Pay's responses. Numbers are json.Number, because a transaction id does not fit in a
// float (L5) and an amount must stay exact. A confirmation has only some of the fields: type, status, currency and
// refunds are then empty.
type paymentInfo struct {
	Transaction json.Number `json:"transactionId"`
	OrderID     string      `json:"orderId"`
	Currency    string      `json:"currency"`
	Type        string      `json:"transactionType"`
	Status      string      `json:"payStatus"`
	PayInfo     []struct {
		Amount json.Number `json:"amount"`
	} `json:"payInfo"`
	Refunds []struct {
		Transaction json.Number `json:"refundTransactionId"`
		Amount      json.Number `json:"refundAmount"`
	} `json:"refundList"`
}

// report returns PAID if the payment matches the attempt, and REVIEW otherwise, because money has moved. err is the
// error of decoding p. The transaction is compared with r.Ref: the attempt's transaction or, for an attempt whose
// start got no response, the transaction of p.
func (p paymentInfo) report(a payment.Attempt, err error, code, raw string) payment.Report {
	r := payment.Report{State: payment.Review, Ref: a.GatewayRef, Code: code, Raw: raw}
	if ref := p.Transaction.String(); r.Ref == "" && transactionID.MatchString(ref) {
		r.Ref = ref
	}
	amount, sumErr := p.amount()
	if err != nil || sumErr != nil {
		return r
	}
	r.Amount, r.Currency = amount, money.Currency(p.Currency)
	// Other states are authorizations without a capture, which Comanda never requests. A confirmation has no status.
	whole := p.Status == "" || p.Status == "CAPTURE"
	if whole && p.OrderID == a.ID && p.Transaction.String() == r.Ref && amount == a.Amount && r.Currency == a.Currency {
		r.State = payment.Paid
	}
	return r
}

// amount returns the sum that was paid by all means, including points and discounts. A bill that is partly paid with
// points has one entry for each means, and only their sum is the requested amount (L3).
func (p paymentInfo) amount() (int64, error) {
	parts := make([]json.Number, len(p.PayInfo))
	for i, by := range p.PayInfo {
		parts[i] = by.Amount
	}
	return sum(money.Currency(p.Currency), parts)
}

// details is LINE Pay's record of an attempt's payment ("Retrieve Payment Details").
type details struct {
	paymentInfo

	raw string
}

func (d details) report(a payment.Attempt, code string) payment.Report {
	return d.paymentInfo.report(a, nil, code, d.raw)
}

// details requests an attempt's payment. An unknown payment is a codeError with 1150.
func (m *Merchant) details(ctx context.Context, a payment.Attempt) (details, error) {
	c := request{name: "details", path: "/payments", timeout: lookupTimeout}
	if a.GatewayRef != "" {
		c.query = "transactionId=" + url.QueryEscape(a.GatewayRef)
	} else {
		c.query = "orderId=" + url.QueryEscape(a.ID)
	}
	got, err := m.call(ctx, c)
	d := details{raw: got.raw}
	if err != nil {
		return d, err
	}
	if got.Code != codeOK {
		return d, got.codeError(c)
	}
	var all []paymentInfo
	if err := got.decodeInfo(&all); err != nil {
		return d, fmt.Errorf("linepay: details: %w", err)
	}
	for _, p := range all {
		if p.matches(a) {
			d.paymentInfo = p
			return d, nil
		}
	}
	return d, &codeError{c.name, codeUnknown, "the payment is not in the list"}
}

// matches reports whether p is the attempt's payment. LINE Pay's list also contains the refunds of the payment.
func (p paymentInfo) matches(a payment.Attempt) bool {
	if a.GatewayRef != "" {
		return p.Transaction.String() == a.GatewayRef
	}
	return p.OrderID == a.ID && (p.Type == "" || p.Type == "PAYMENT")
}
