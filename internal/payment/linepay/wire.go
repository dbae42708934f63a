package linepay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"comanda/internal/payment/gatewayhttp"
)

// The timeouts of requests: the minimum that the pages of the calls demand ("Request Payment" 10 s, "Check Payment Request
// Status" and "Retrieve Payment Details" 20 s, "Confirm Payment" 40 s). A shorter one would make outcomes unknown that LINE
// Pay is about to answer. "Refund Payment" states none; 20 s is what LINE Pay's SDKs use.
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

// request is one API request. It is used for one call: a repetition needs another nonce.
type request struct {
	name    string // for errors
	path    string // without the prefix
	query   string // of a GET
	body    any    // of a POST; nil makes a GET
	timeout time.Duration
}

// response is the envelope of every response, also of those to failed requests, whose HTTP status is 200 ("Response"). The
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

// decodeInfo decodes the info.
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
	// Set as it was signed: building it from parameters could sort or encode it differently.
	r.URL.RawQuery = c.query
	nonce := m.nonce()
	r.Header.Set("X-Line-Channelid", m.conf.ChannelID)
	r.Header.Set("X-Line-Authorization-Nonce", nonce)
	r.Header.Set("X-Line-Authorization", sign(m.conf.ChannelSecret, path, payload, nonce))
	return r, nil
}
