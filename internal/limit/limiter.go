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
