package notice

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"comanda/internal/backoff"
	"comanda/internal/fault"
	"comanda/internal/queue"
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
// them a stranger could send to the browser (N5).
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

// Payload is the content of a push message. The service worker of the page makes the text from it, in the language of
// the reader.
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

const (
	// MaxAttempts is the number of times that a delivery to a browser is tried.
	MaxAttempts = 8

	// SendTimeout bounds one delivery, from dialling to the answer.
	SendTimeout = 10 * time.Second

	pushBatch     = 16              // deliveries per claim, sent at the same time
	pushLease     = time.Minute     // then another process may claim the deliveries; far longer than SendTimeout
	settleTimeout = 5 * time.Second // to record results while the process stops
	maxRetryAfter = time.Hour       // longest wait that a push service can request
)

// retries spans fifty minutes, so that an overloaded push service gets the notice without an operator.
var retries = queue.Policy{
	Policy: backoff.Policy{First: 5 * time.Second, Factor: 3, Max: 20 * time.Minute}, MaxAttempts: MaxAttempts,
}

// Errors of a PushTransport. Any other error is tried again.
var (
	ErrGone    = errors.New("notice: the subscription has ended")
	ErrRefused = errors.New("notice: the push service refuses the message")
)

// RetryLaterError is a push service's request to try later (429 or 503 with Retry-After).
type RetryLaterError struct{ After time.Duration }

// Error implements error.
func (e RetryLaterError) Error() string {
	return "notice: the push service asks to wait " + e.After.String()
}

// Delivery is a queued delivery to one browser.
type Delivery struct {
	ID           string
	Subscription string
	Payload      string
	Urgency      string
	Expires      time.Time
	Attempts     int
}

// PushTransport delivers a payload to a browser. Its errors must not contain the endpoint (N5).
type PushTransport interface {
	Send(ctx context.Context, s Subscription, payload []byte, ttl time.Duration, urgency string) error
}

// PushStore is the queue of deliveries; noticesql implements it.
type PushStore interface {
	Claim(ctx context.Context, now, until time.Time, limit int) ([]Delivery, error)
	DeleteQueued(ctx context.Context, ids []string) error
	RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error
	// Subscription returns a browser whose login has not ended.
	Subscription(ctx context.Context, id string, now time.Time) (s Subscription, found bool, err error)
	// DeleteSubscription removes a browser that the push service no longer knows.
	DeleteSubscription(ctx context.Context, id string) error
}

// PushSender delivers queued notices to browsers. Any number of processes may run one. Delivery is at least once; browsers
// show a notice with the same tag once.
type PushSender struct {
	Store     PushStore
	Transport PushTransport
	Now       func() time.Time
	Log       *slog.Logger
	Result    func(result string) // counts results, see Results; may be nil
}

// Results returns the results of an attempt.
func Results() []string { return []string{"sent", "expired", "gone", "later", "failed", "dead"} }

// RunOnce delivers what is due until nothing is left.
func (s *PushSender) RunOnce(ctx context.Context) error {
	for {
		now := s.Now()
		due, err := s.Store.Claim(ctx, now, now.Add(pushLease), pushBatch)
		if err != nil || len(due) == 0 {
			return err
		}
		// Push services differ in speed, and one that hangs must not delay the others.
		var all sync.WaitGroup
		failed := make([]error, len(due))
		for i, d := range due {
			all.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						failed[i] = errors.New("notice: a delivery panicked")
						s.Log.ErrorContext(ctx, "a delivery panicked", "delivery", d.ID, "panic", p)
					}
				}()
				failed[i] = s.deliver(ctx, d)
			})
		}
		all.Wait()
		if err := errors.Join(failed...); err != nil {
			return err
		}
	}
}

// deliver sends one delivery and stores the result. It returns an error only if the database does not answer.
func (s *PushSender) deliver(ctx context.Context, d Delivery) error {
	now := s.Now()
	sub, found, err := s.Store.Subscription(ctx, d.Subscription, now)
	if err != nil { // also when the process stops
		return errors.Join(err, s.release(ctx, d, now))
	}
	if !found || !now.Before(d.Expires) {
		s.report(ctx, "expired", d, nil)
		return s.Store.DeleteQueued(ctx, []string{d.ID})
	}
	sending, cancel := context.WithTimeout(ctx, SendTimeout)
	err = s.Transport.Send(sending, sub, []byte(d.Payload), d.Expires.Sub(now), d.Urgency)
	cancel()
	// What was sent must be recorded even if ctx has ended.
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	now = s.Now()
	var later RetryLaterError
	switch {
	case err == nil:
		s.report(ctx, "sent", d, nil)
		return s.Store.DeleteQueued(settled, []string{d.ID})
	case errors.Is(err, ErrGone):
		s.report(ctx, "gone", d, nil)
		return errors.Join(s.Store.DeleteSubscription(settled, d.Subscription), s.Store.DeleteQueued(settled, []string{d.ID}))
	case errors.As(err, &later):
		s.report(ctx, "later", d, nil)
		due := now.Add(min(max(later.After, time.Second), maxRetryAfter))
		return s.release(ctx, d, due)
	case ctx.Err() != nil: // the process stops
		return s.release(ctx, d, now)
	}
	failure, result := retries.Failed(d.ID, d.Attempts, d.Attempts, now, err), "failed"
	if failure.Dead = failure.Dead || errors.Is(err, ErrRefused); failure.Dead {
		result = "dead"
	}
	s.report(ctx, result, d, err)
	return s.Store.RecordFailures(settled, now, failure)
}

// release makes a claimed delivery due at an instant without counting the attempt, even if ctx has ended.
func (s *PushSender) release(ctx context.Context, d Delivery, due time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return s.Store.RecordFailures(ctx, s.Now(), queue.Released(d.ID, d.Attempts, due))
}

// report counts and logs the result of a delivery, without its content and its endpoint (N5).
func (s *PushSender) report(ctx context.Context, result string, d Delivery, err error) {
	if s.Result != nil {
		s.Result(result)
	}
	level, attrs := slog.LevelInfo, []any{"delivery", d.ID, "attempt", d.Attempts, "result", result}
	if err != nil {
		level, attrs = slog.LevelWarn, append(attrs, "err", err)
	}
	s.Log.Log(ctx, level, "push", attrs...)
}
