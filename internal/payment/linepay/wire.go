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

// How long LINE Pay may take to answer, at the least that its manual asks for.
const (
	requestTimeout = 10 * time.Second
	lookupTimeout  = 20 * time.Second // check and details
	refundTimeout  = 20 * time.Second
	confirmTimeout = 40 * time.Second
)

const (
	maxBody    = 64 << 10 // bytes of an answer; a hundred refunds take a third of it
	maxRaw     = 4 << 10  // bytes of an answer that are kept
	maxMessage = 200      // bytes of an answer that an error repeats
)

var (
	transaction = regexp.MustCompile(`^[0-9]{19}$`)
	returnCode  = regexp.MustCompile(`^[0-9]{4}$`)
)

// call is one call of the API.
type call struct {
	name    string // for errors
	path    string // without the prefix
	query   string // of a GET
	body    any    // of a POST; nil makes a GET
	timeout time.Duration
}

// answer is what every call is answered with. Info is read by who knows its shape.
type answer struct {
	Code    string          `json:"returnCode"`
	Message string          `json:"returnMessage"`
	Info    json.RawMessage `json:"info"`

	raw string
}

// fail makes an error of an answer whose code is of no use.
func (a answer) fail(c call) error { return &codeError{c.name, a.Code, short(a.Message, maxMessage)} }

// into reads the info.
func (a answer) into(to any) error {
	if len(a.Info) == 0 {
		return errors.New("linepay: the answer has no info")
	}
	return json.Unmarshal(a.Info, to)
}

// ask makes a call and reads its answer. An error means that there was no answer, or none of LINE Pay's: whether the
// call was heard is then unknown. The answer's raw text is there in either case.
func (m *Merchant) ask(ctx context.Context, c call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := m.request(ctx, c)
	if err != nil {
		return answer{}, err
	}
	resp, err := m.client.Do(r)
	if err != nil {
		return answer{raw: storable(err.Error())}, fmt.Errorf("linepay: %s: %w", c.name, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	a := answer{raw: storable(string(body))}
	switch {
	case err != nil:
		return a, fmt.Errorf("linepay: %s: %w", c.name, err)
	case len(body) > maxBody:
		return a, fmt.Errorf("linepay: %s: the answer is longer than %d bytes", c.name, maxBody)
	case resp.StatusCode != http.StatusOK: // failures of business come with 200
		return a, fmt.Errorf("linepay: %s: HTTP status %d", c.name, resp.StatusCode)
	}
	err = json.Unmarshal(body, &a)
	if err != nil || !returnCode.MatchString(a.Code) {
		return a, fmt.Errorf("linepay: %s: the answer is not LINE Pay's", c.name)
	}
	return a, nil
}

// request builds and signs. The bytes that are signed are the bytes that are sent.
func (m *Merchant) request(ctx context.Context, c call) (*http.Request, error) {
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

// storable makes any text fit for a column of any database.
func storable(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(short(s, maxRaw), "\uFFFD"), "\x00", "\uFFFD")
	return short(s, maxRaw)
}

// short cuts a text at a number of bytes, between two characters.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
