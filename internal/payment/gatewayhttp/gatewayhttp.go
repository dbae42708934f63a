// Package gatewayhttp contains the HTTP code that the adapters of payment gateways share. It calls an API with time
// and size limits, converts responses to text that any database can store, and checks the URLs of a configuration.
//
// Signatures and message formats differ for each gateway and stay in the gateway's package.
package gatewayhttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// MaxBody is the maximum size of a response in bytes. VNPay's have about 600; LINE Pay's list of a hundred refunds has a
// third of the limit.
const MaxBody = 64 << 10

var errTooLong = fmt.Errorf("the response is longer than %d bytes", MaxBody)

// StatusError is the HTTP status of a response other than 200.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("HTTP status %d", int(e)) }

// Client calls a gateway's API. It is safe for concurrent use.
type Client struct{ http http.Client }

// NewClient returns a client with the transport and timeout of c. It has no cookies, because a gateway's must not link
// payments of different guests. It follows no redirects, because the signature is for one URL, and a redirect to another
// host would send the request there.
func NewClient(c *http.Client) *Client {
	// The client is copied, so that the caller's client keeps its settings. Both share the transport and its
	// connections.
	own := *c
	own.Jar = nil
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{own}
}

// Do sends a signed request with a body of JSON and returns the response's body. After an error it is unknown whether the
// gateway has executed the request; the body is then what was received of it, if anything. Any status but 200 is an error,
// because both gateways report their own errors in the body of a 200.
func (c *Client) Do(r *http.Request) ([]byte, error) {
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	// Reading one byte more than the limit detects a longer response. Otherwise a truncated response could pass as
	// complete.
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	switch {
	case err != nil:
		return body, err
	// A truncated response could be valid JSON with only a part of a list of refunds.
	case len(body) > MaxBody:
		return body, errTooLong
	case resp.StatusCode != http.StatusOK:
		return body, StatusError(resp.StatusCode)
	}
	return body, nil
}

// Storable returns at most limit bytes of a received text, storable in any database: gateways may send invalid UTF-8, and
// PostgreSQL refuses NUL.
func Storable(s string, limit int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(Truncate(s, limit), "\uFFFD"), "\x00", "\uFFFD")
	return Truncate(s, limit) // replacements are longer than the bytes that they replace
}

// Truncate cuts a text at a number of bytes, between two characters.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Errors of CheckURL and CheckPage.
var (
	ErrURL     = errors.New("it is not a URL without credentials, query and fragment")
	ErrTLS     = errors.New("it must be https, unless it is on this machine")
	ErrPageTLS = errors.New("it must be https, unless it is in the local network")
)

// FieldCode returns the code of such an error for the setting that has the URL: no_tls or no_url.
func FieldCode(err error) string {
	if errors.Is(err, ErrTLS) || errors.Is(err, ErrPageTLS) {
		return "no_tls"
	}
	return "no_url"
}

// CheckURL checks a configured URL that this process calls: without TLS it must be on this machine, as simulators are.
func CheckURL(s string) error {
	return check(s, ErrTLS, netip.Addr.IsLoopback)
}

// CheckPage checks a configured URL that only browsers open. Without TLS it may be a simulator elsewhere in the local
// network, and nothing else: on a page without TLS anyone between guest and gateway can change where the money goes.
func CheckPage(s string) error {
	return check(s, ErrPageTLS, func(ip netip.Addr) bool {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	})
}

// check returns ErrURL, or noTLS for a URL without TLS whose host is not localhost and not a trusted address.
func check(s string, noTLS error, trusted func(netip.Addr) bool) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return ErrURL // without the cause: a URL may contain a password
	}
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !trusted(ip) {
		return noTLS
	}
	return nil
}
