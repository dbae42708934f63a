package notice

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"time"

	"comanda/internal/fault"
)

// Limits of subscriptions. A member has a browser on each device, a guest one or two on a phone.
const (
	MaxAccountBrowsers = 10
	MaxGuestBrowsers   = 3
	maxEndpoint        = 1000 // characters
)

// ErrSubscription refuses a subscription whose endpoint or keys are not those of a browser.
var ErrSubscription = fault.New(fault.Invalid, "push_subscription_invalid",
	"A subscription has an https endpoint and the keys p256dh and auth.")

// Subscription is a browser that accepts notices while the page is closed (RFC 8030). Endpoint and keys are secrets: with
// them anybody could send to the browser (N5).
type Subscription struct {
	ID       string // SHA-256 of the endpoint
	Reader   string
	Audience Audience
	Session  string // login of an account, with which the subscription ends; empty for a guest
	Endpoint string
	P256dh   string // the browser's public key, in base64url
	Auth     string // its authentication secret, in base64url
	Locale   string
	Created  time.Time
}

// NewSubscription returns the subscription of a reader's browser, or ErrSubscription.
func (s *Service) NewSubscription(r Reader, endpoint, p256dh, auth, locale string) (Subscription, error) {
	u, err := url.Parse(endpoint)
	key, badKey := base64.RawURLEncoding.DecodeString(strings.TrimRight(p256dh, "="))
	secret, badSecret := base64.RawURLEncoding.DecodeString(strings.TrimRight(auth, "="))
	if err != nil || badKey != nil || badSecret != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Fragment != "" || len(endpoint) > maxEndpoint || len(secret) != 16 {
		return Subscription{}, ErrSubscription
	}
	if _, err := ecdh.P256().NewPublicKey(key); err != nil {
		return Subscription{}, ErrSubscription
	}
	sum := sha256.Sum256([]byte(endpoint))
	return Subscription{
		ID: hex.EncodeToString(sum[:]), Reader: r.ID, Audience: r.Audiences[0], Session: r.Session, Endpoint: endpoint,
		P256dh: base64.RawURLEncoding.EncodeToString(key), Auth: base64.RawURLEncoding.EncodeToString(secret), Locale: locale,
		Created: s.Now(),
	}, nil
}

// Subscribe stores a reader's browser.
func (s *Service) Subscribe(ctx context.Context, b Subscription) error {
	limit := MaxAccountBrowsers
	if b.Session == "" {
		limit = MaxGuestBrowsers
	}
	return s.Store.Subscribe(ctx, b, limit)
}

// Unsubscribe removes a reader's browser. It also succeeds if there is none.
func (s *Service) Unsubscribe(ctx context.Context, r Reader, id string) error {
	return s.Store.Unsubscribe(ctx, r.ID, id)
}

// Payload is what a browser receives. Its service worker makes the text in the language of the reader.
type Payload struct {
	ID     string `json:"id"`
	Kind   Kind   `json:"kind"`
	Order  string `json:"order,omitempty"`
	URL    string `json:"url"` // path of the page that a tap opens
	Locale string `json:"locale"`
	Data
}

// PayloadOf returns the payload of a notice for customers.
func PayloadOf(n UserNotice, locale string) Payload {
	page := "/shop/orders/"
	if strings.HasPrefix(string(n.Audience), "v") {
		page = "/app/orders/"
	}
	return Payload{ID: n.ID, Kind: n.Kind, Order: n.OrderID, URL: page + n.OrderID, Locale: locale, Data: n.Data}
}
