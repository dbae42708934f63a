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
	"strings"
	"time"
	"unicode/utf8"
)

// The timeouts of requests: the minimum that LINE Pay's manual demands.
const (
	requestTimeout = 10 * time.Second
	lookupTimeout  = 20 * time.Second // check and details
	refundTimeout  = 20 * time.Second
	confirmTimeout = 40 * time.Second
)

const (
	maxBody    = 64 << 10 // bytes of a response; one with a hundred refunds has a third of it
	maxRaw     = 4 << 10  // bytes of a response that are stored
	maxMessage = 200      // bytes of a message that an error contains
)

var (
	transactionID = regexp.MustCompile(`^[0-9]{19}$`)
	returnCode    = regexp.MustCompile(`^[0-9]{4}$`)
)

// request is one API request.
type request struct {
	name    string // for errors
	path    string // without the prefix
	query   string // of a GET
	body    any    // of a POST; nil makes a GET
	timeout time.Duration
}

// response is the envelope of every response. The caller decodes Info.
type response struct {
	Code    string          `json:"returnCode"`
	Message string          `json:"returnMessage"`
	Info    json.RawMessage `json:"info"`

	raw string
}

// codeError returns the error for an unexpected code.
func (a response) codeError(c request) error {
	return &codeError{c.name, a.Code, truncate(a.Message, maxMessage)}
}

// decodeInfo decodes the info.
func (a response) decodeInfo(to any) error {
	if len(a.Info) == 0 {
		return errors.New("linepay: the answer has no info")
	}
	return json.Unmarshal(a.Info, to)
}

// call sends a request and parses the response. After an error it is unknown whether LINE Pay has executed the request.
// The raw text of the response is set in either case.
func (m *Merchant) call(ctx context.Context, c request) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := m.newRequest(ctx, c)
	if err != nil {
		return response{}, err
	}
	resp, err := m.client.Do(r)
	if err != nil {
		return response{raw: storable(err.Error())}, fmt.Errorf("linepay: %s: %w", c.name, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	a := response{raw: storable(string(body))}
	switch {
	case err != nil:
		return a, fmt.Errorf("linepay: %s: %w", c.name, err)
	case len(body) > maxBody:
		return a, fmt.Errorf("linepay: %s: the answer is longer than %d bytes", c.name, maxBody)
	case resp.StatusCode != http.StatusOK: // LINE Pay reports its own errors with 200
		return a, fmt.Errorf("linepay: %s: HTTP status %d", c.name, resp.StatusCode)
	}
	err = json.Unmarshal(body, &a)
	if err != nil || !returnCode.MatchString(a.Code) {
		return a, fmt.Errorf("linepay: %s: the answer is not LINE Pay's", c.name)
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
	r.URL.RawQuery = c.query
	nonce := m.nonce()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Line-Channelid", m.conf.ChannelID)
	r.Header.Set("X-Line-Authorization-Nonce", nonce)
	r.Header.Set("X-Line-Authorization", sign(m.conf.ChannelSecret, path, payload, nonce))
	return r, nil
}

// storable makes a text storable in any database: valid UTF-8 without NUL, at most maxRaw bytes.
func storable(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(truncate(s, maxRaw), "\uFFFD"), "\x00", "\uFFFD")
	return truncate(s, maxRaw)
}

// truncate cuts a text at a number of bytes, between two characters.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
