package limit

import (
	"context"
	"time"

	"comanda/internal/fault"
)

// Store remembers what subjects have taken: Memory, or Redis for what processes share.
type Store interface {
	Take(ctx context.Context, p *Policy, subject string, now time.Time) (Verdict, error)
	Look(ctx context.Context, p *Policy, subject string, now time.Time) (Verdict, error)
}

// Limiter applies the policies. A nil Limiter grants everything.
type Limiter struct {
	Local    *Memory
	Shared   Store // normally limitredis; nil leaves each process to itself
	Now      func() time.Time
	Rejected func(policy string) // counts refusals; may be nil
}

// Take takes one of what a policy grants a subject; when there is none, retry tells when there will be. The subject is
// an address, a hash of a token, an id: it is never written anywhere as it is.
func (l *Limiter) Take(ctx context.Context, policy, subject string) (retry time.Duration, ok bool) {
	v := l.Ask(ctx, policy, subject)
	return v.Retry, v.OK
}

// Ask is Take that tells more.
func (l *Limiter) Ask(ctx context.Context, policy, subject string) Verdict {
	return l.judge(policy, func(s Store, p *Policy) (Verdict, error) { return s.Take(ctx, p, subject, l.Now()) })
}

// Look tells whether Take would grant, and takes nothing: for what is counted only when it fails.
func (l *Limiter) Look(ctx context.Context, policy, subject string) Verdict {
	return l.judge(policy, func(s Store, p *Policy) (Verdict, error) { return s.Look(ctx, p, subject, l.Now()) })
}

// judge asks this process first and Redis only about what it would grant (L4).
func (l *Limiter) judge(policy string, ask func(Store, *Policy) (Verdict, error)) Verdict {
	p := named(policy)
	if l == nil {
		return Verdict{Policy: p, OK: true, Remaining: p.Burst}
	}
	v, _ := ask(l.Local, p) // it never fails
	if v.OK && !p.Local && l.Shared != nil {
		if shared, err := ask(l.Shared, p); err == nil { // L2; the store counts its failures itself
			v = shared
		}
	}
	if !v.OK && l.Rejected != nil {
		l.Rejected(policy)
	}
	return v
}

// Err is the fault that a refusal is answered with; nil when it was granted.
func (v Verdict) Err() error {
	if v.OK {
		return nil
	}
	return &fault.Error{
		Kind: fault.TooMany, Code: "rate_limited", Detail: "That was too often; wait a little.", RetryAfter: v.Retry,
	}
}
