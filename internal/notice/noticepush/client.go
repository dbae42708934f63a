package noticepush

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"comanda/internal/notice"
)

// Client sends messages to push services. It implements notice.PushTransport and is safe for concurrent use.
type Client struct {
	HTTP *http.Client // of NewHTTPClient
	Key  func(ctx context.Context) (Key, error)
	// Subject returns a mailto: or https: URL of the operator.
	Subject func() string
	Now     func() time.Time
}

// errAddress refuses to connect to an address that is not public.
var errAddress = errors.New("noticepush: the endpoint is not at a public address")

// NewHTTPClient returns a client for endpoints, which are addresses that users supply. It connects to public addresses
// only, checked after names are resolved, follows no redirects and uses no proxy: otherwise an endpoint could reach
// services of the operator's network. local allows all addresses, for tests. roots are trusted certificates; nil for the
// system's.
func NewHTTPClient(local bool, roots *x509.CertPool) *http.Client {
	d := &net.Dialer{Timeout: 5 * time.Second}
	if !local {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !public(at.Addr()) {
				return errAddress
			}
			return nil
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: d.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 4,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// reserved are networks that are not private by the definition of package netip and yet not of the public internet: shared
// addresses of providers, documentation, benchmarks, and the prefixes that embed an IPv4 address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("::/96"), netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is one of the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Send implements notice.PushTransport. Errors contain the host of the endpoint only, because its path is a secret (N5).
func (c *Client) Send(ctx context.Context, s notice.Subscription, payload []byte, ttl time.Duration, urgency string) error {
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" {
		return fmt.Errorf("%w: its endpoint is damaged", notice.ErrRefused)
	}
	to, err := parseKeys(s.P256dh, s.Auth)
	if err != nil {
		return fmt.Errorf("%w: %w", notice.ErrRefused, err)
	}
	body, err := encrypt(payload, to)
	if err != nil {
		return fmt.Errorf("%w: %w", notice.ErrRefused, err)
	}
	key, err := c.Key(ctx)
	if err != nil {
		return err
	}
	authorization, err := key.authorization(u, c.Subject(), c.Now())
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: its endpoint is damaged", notice.ErrRefused)
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Encoding", "aes128gcm")
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("TTL", strconv.FormatInt(int64(ttl/time.Second), 10))
	r.Header.Set("Urgency", urgency)
	res, err := c.HTTP.Do(r)
	if err != nil {
		return withoutURL(u, err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // so that the connection can be used again
	return c.result(u, res)
}

// withoutURL returns the error of a request without the endpoint's path.
func withoutURL(u *url.URL, err error) error {
	if errors.Is(err, errAddress) {
		return fmt.Errorf("%w: %w", notice.ErrRefused, errAddress)
	}
	if cause, ok := errors.AsType[*url.Error](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("push service %s: %w", u.Host, err)
}

// result translates an answer (RFC 8030, sections 5 and 8.4).
func (c *Client) result(u *url.URL, res *http.Response) error {
	failed := fmt.Errorf("push service %s: status %d", u.Host, res.StatusCode)
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		return notice.ErrGone
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		if after, ok := c.retryAfter(res.Header.Get("Retry-After")); ok {
			return notice.RetryLaterError{After: after}
		}
		return failed
	case code == http.StatusRequestTimeout, code >= 500:
		return failed
	default: // this message will not be accepted later either, and redirects are not followed
		return fmt.Errorf("%w: %w", notice.ErrRefused, failed)
	}
}

// retryAfter reads a number of seconds or a date.
func (c *Client) retryAfter(header string) (time.Duration, bool) {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(header)
	return at.Sub(c.Now()), err == nil
}

// tokenLife is how long a token is valid; RFC 8292 allows 24 hours.
const tokenLife = 12 * time.Hour

// Key identifies this installation to push services (RFC 8292). Subscriptions are bound to it. It never prints its value.
type Key struct {
	private *ecdsa.PrivateKey
	public  string // in base64url
}

// NewKey returns a new key in its stored form.
func NewKey() (string, error) {
	k, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(k.Bytes()), nil
}

// ParseKey returns a stored key.
func ParseKey(stored string) (Key, error) {
	errDamaged := errors.New("noticepush: the installation's key for Web Push is damaged")
	scalar, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		return Key{}, errDamaged // the cause may contain the key
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		return Key{}, errDamaged
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		return Key{}, errDamaged
	}
	return Key{private, base64.RawURLEncoding.EncodeToString(public)}, nil
}

// String hides the key from fmt and logs.
func (Key) String() string { return "[redacted]" }

// GoString hides it from %#v.
func (Key) GoString() string { return "[redacted]" }

// Public returns the public key in base64url, with which browsers subscribe.
func (k Key) Public() string { return k.public }

// authorization returns the Authorization header of a request to a push service. subject is a mailto: or https: URL at
// which the service can reach the operator.
func (k Key) authorization(endpoint *url.URL, subject string, now time.Time) (string, error) {
	claims := jwt.MapClaims{"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(tokenLife).Unix(), "sub": subject}
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(k.private)
	if err != nil {
		return "", errors.New("noticepush: the token cannot be signed")
	}
	return "vapid t=" + token + ", k=" + k.public, nil
}
