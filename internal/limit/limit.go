// Package limit implements rate limits. A policy has a burst and an interval at which requests are replenished (GCRA,
// the generic cell rate algorithm); it stores one timestamp per subject.
//
//	L1  within any window a policy grants at most twice its burst, in whatever order requests arrive
//	L2  limits that protect users (logins, codes, orders) are shared by all processes through Redis; while Redis is
//	    unreachable each process applies the same policy by itself: limited, never open
//	L3  limits that protect a process (login_instance, api_token, api_ip) are local: a call to Redis for every request
//	    would cost more than the request
//	L4  a request that this process refuses is not sent to Redis: a flood costs the flooded process only
//	L5  hard limits over days are stored in SQL by the packages that need them, not here
package limit

import (
	"context"
	"time"

	"comanda/internal/fault"
)

// Store stores the state of subjects: Memory, or Redis for shared policies. An error means that the store could not
// decide, never that the request is refused. The time is an argument because the deciding clock is the database's.
type Store interface {
	Reserve(ctx context.Context, p *Policy, subject string, now time.Time) (Result, error)
	Peek(ctx context.Context, p *Policy, subject string, now time.Time) (Result, error)
}

// Limiter applies the policies. A nil Limiter allows everything. It is safe for concurrent use. Its fields are set
// once, before the first request.
type Limiter struct {
	Local    *Memory
	Shared   Store // normally limitredis; nil keeps every policy local
	Now      func() time.Time
	Rejected func(policy string) // counts refusals; may be nil
}

// Allow counts one request of a subject under a policy. If ok is false, retry is the time until the next request is
// allowed. The subject is an address, a token hash or an id; Redis stores only its hash.
func (l *Limiter) Allow(ctx context.Context, policy, subject string) (retry time.Duration, ok bool) {
	v := l.Reserve(ctx, policy, subject)
	return v.Retry, v.OK
}

// Reserve is Allow with the complete result.
func (l *Limiter) Reserve(ctx context.Context, policy, subject string) Result {
	return l.decide(policy, func(s Store, p *Policy) (Result, error) { return s.Reserve(ctx, p, subject, l.Now()) })
}

// Peek reports whether Reserve would succeed, without counting a request. It serves limits that count failures only. A
// failed Peek counts in Rejected like a failed Reserve, because its caller refuses the request. Other requests may
// come between Peek and a later Reserve, so the two together are not exact.
func (l *Limiter) Peek(ctx context.Context, policy, subject string) Result {
	return l.decide(policy, func(s Store, p *Policy) (Result, error) { return s.Peek(ctx, p, subject, l.Now()) })
}

// decide queries the local store first, and Redis only for requests that the local store allows (L4). The local count
// also includes requests that Redis then refuses. So a subject that keeps trying is soon refused locally, without a
// call of Redis.
func (l *Limiter) decide(policy string, ask func(Store, *Policy) (Result, error)) Result {
	p := mustPolicy(policy)
	if l == nil {
		return Result{Policy: p, OK: true, Remaining: p.Burst}
	}
	v, _ := ask(l.Local, p) // Memory never fails
	if v.OK && !p.Local && l.Shared != nil {
		if shared, err := ask(l.Shared, p); err == nil { // L2; the Redis client counts its failures
			v = shared
		}
	}
	if !v.OK && l.Rejected != nil {
		l.Rejected(policy)
	}
	return v
}

// Err returns the error of a refused request, or nil. RetryAfter becomes the Retry-After header, so that a well-behaved
// client waits exactly as long as needed.
func (v Result) Err() error {
	if v.OK {
		return nil
	}
	return &fault.Error{
		Kind: fault.TooMany, Code: "rate_limited", Detail: "Too many requests. Please wait a moment.", RetryAfter: v.Retry,
	}
}

// Policy is a named rate limit. Metrics contain the Name and Redis keys the Action: a renamed Action starts with empty
// counts. A changed Interval or Burst applies to stored times at once.
type Policy struct {
	Name     string
	Interval time.Duration // time per replenished request; whole milliseconds
	Burst    int           // requests that may come at once
	Local    bool          // each process counts by itself (L3)
	Action   string        // short name in Redis keys
}

// Window returns the time in which an exhausted policy is full again.
func (p *Policy) Window() time.Duration { return time.Duration(p.Burst) * p.Interval }

// policies is the closed list, with the reason for each number.
var policies = []Policy{
	// From one client, five guesses at once and then one per minute; from anywhere, twenty at once, so that a stranger
	// cannot easily lock an owner out. The limit of a hundred consecutive failures is in SQL.
	{Name: "login_account_ip", Interval: time.Minute, Burst: 5, Action: "login_acct_ip"},
	{Name: "login_account", Interval: time.Minute, Burst: 20, Action: "login_account"},
	// PINs are short: five wrong ones at once and then one in three minutes. The limit of ten in a row is in SQL.
	{Name: "pin_account", Interval: 3 * time.Minute, Burst: 5, Action: "pin_account"},
	// A dining room shares one address, so sixty logins at once are allowed.
	{Name: "login_ip", Interval: time.Second, Burst: 60, Action: "login_ip"},
	// A hash keeps a core busy for milliseconds: more logins than these would only queue.
	{Name: "login_instance", Interval: time.Second / 20, Burst: 40, Local: true},
	// Codes have six digits: thirty guesses an hour from one client find one in four years.
	{Name: "otp_verify_ip", Interval: 2 * time.Minute, Burst: 30, Action: "otp_verify_ip"},
	// Guests who register share the restaurant's address; a script must not fill the database.
	{Name: "register_ip", Interval: 2 * time.Minute, Burst: 30, Action: "register_ip"},
	// A member mistypes a phone number once or twice; ten refusals at once and then one per minute find few other members.
	{Name: "profile_account", Interval: time.Minute, Burst: 10, Action: "profile_acct"},
	// Each sign-in with Google waits for Google; a dining room shares one address.
	{Name: "google_ip", Interval: 2 * time.Second, Burst: 60, Action: "google_ip"},
	// When a coach arrives, sixty scans may come at once from the restaurant's address. A wrong QR code is a misprint
	// or a guess; twenty guesses do not find one of 2^128 codes.
	{Name: "qr_ip", Interval: time.Second / 2, Burst: 60, Action: "qr_ip"},
	{Name: "qr_fail_ip", Interval: 10 * time.Second, Burst: 20, Action: "qr_fail_ip"},
	// A guest orders, forgets the drinks and orders again; a table orders at most thirty times in ten minutes.
	{Name: "order_guest", Interval: 3 * time.Second, Burst: 3, Action: "order_guest"},
	{Name: "order_visit", Interval: 20 * time.Second, Burst: 30, Action: "order_visit"},
	// A cart with a voucher asks for its price after each change. Codes have at least four characters, and valuable ones
	// more: thirty guesses a minute find none of them.
	{Name: "voucher", Interval: 2 * time.Second, Burst: 15, Action: "voucher"},
	// The guests of a table may change quantities at once; each tap is a change of the table's cart.
	{Name: "cart_visit", Interval: time.Second / 4, Burst: 80, Action: "cart_visit"},
	// A table calls for water, for service and to pay. Calling more often does not help.
	{Name: "call_visit", Interval: 20 * time.Second, Burst: 6, Action: "call_visit"},
	// A phone reports at most every few seconds what was looked at; more often only adds false views.
	{Name: "views_device", Interval: 2 * time.Second, Burst: 15, Local: true},
	// A browser subscribes once, and again when its subscription or its language changes.
	{Name: "push_reader", Interval: 10 * time.Second, Burst: 10, Local: true},
	// Staff correct a setting and test again. Each test waits seconds for another company's server, or sends a
	// message.
	{Name: "settings_test", Interval: 10 * time.Second, Burst: 6, Action: "settings_test"},
	// An owner looks at a mailing in all languages, corrects it and looks again. A mailing itself has a limit of its own.
	{Name: "mailing", Interval: time.Minute, Burst: 10, Action: "mailing"},
	// Unsigned payment notifications are stored for inspection, but not a flood of them.
	{Name: "odd_notice_ip", Interval: 10 * time.Second, Burst: 30, Local: true},
	// A page of the app sends a handful of requests at once; a full dining room shares one address.
	{Name: "api_token", Interval: time.Second / 10, Burst: 40, Local: true},
	{Name: "api_ip", Interval: time.Second / 100, Burst: 400, Local: true},
}

// Policies returns all policies.
func Policies() []Policy { return append([]Policy(nil), policies...) }

// byName finds a policy by its name. Memory uses these pointers in its keys as the identities of policies.
var byName = func() map[string]*Policy {
	m := map[string]*Policy{}
	for i := range policies {
		m[policies[i].Name] = &policies[i]
	}
	return m
}()

// mustPolicy returns a policy by name. It panics on an unknown one, which is a programming error.
func mustPolicy(name string) *Policy {
	p, ok := byName[name]
	if !ok {
		panic("limit: unknown policy " + name)
	}
	return p
}
