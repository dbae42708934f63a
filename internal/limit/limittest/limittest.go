// Package limittest has the conformance suite of limit.Store and a token bucket as its model.
package limittest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/limit"
	"comanda/internal/testenv"
)

// Bucket is a token bucket: the textbook form of the algorithm, as a model for tests. It counts in milliseconds; a
// token is worth Policy.Interval.
type Bucket struct {
	Policy limit.Policy
	level  int64
	last   int64
	begun  bool
}

// Take takes one token at an instant, in Unix milliseconds.
func (b *Bucket) Take(now int64) (ok bool) {
	if !b.CanTake(now) {
		return false
	}
	b.level -= b.Policy.Interval.Milliseconds()
	return true
}

// CanTake reports whether a token is available.
func (b *Bucket) CanTake(now int64) bool {
	full := b.Policy.Window().Milliseconds()
	if !b.begun {
		b.level, b.last, b.begun = full, now, true
	}
	if now > b.last {
		b.level = min(full, b.level+now-b.last)
		b.last = now
	}
	return b.level >= b.Policy.Interval.Milliseconds()
}

// Store runs the suite. The store must be empty for the subjects of the suite.
func Store(t *testing.T, s limit.Store) {
	t.Helper()
	t.Run("model", func(t *testing.T) { model(t, s) })
	t.Run("exactly n at once", func(t *testing.T) { concurrentReserves(t, s) })
	t.Run("clock goes back", func(t *testing.T) { backwards(t, s) })
}

var subjects atomic.Int64

// Subject returns a unique subject.
func Subject() string { return fmt.Sprintf("subject %d of %d", subjects.Add(1), time.Now().UnixNano()) }

// shared returns the policies that every store supports, none with an interval below a minute. A store may forget a debt
// in real time, while the tests stand still in theirs: a machine that pauses for half a second must not look like one.
func shared() []limit.Policy {
	all := slices.DeleteFunc(limit.Policies(), func(p limit.Policy) bool { return p.Local })
	for i := range all {
		all[i].Interval = max(all[i].Interval, time.Minute)
	}
	return all
}

func model(t *testing.T, s limit.Store) {
	policies := shared()
	rapid.Check(t, func(r *rapid.T) {
		p := rapid.SampledFrom(policies).Draw(r, "policy")
		subject, bucket := Subject(), &Bucket{Policy: p}
		now := time.Now().Truncate(time.Millisecond)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			// Often no time passes, so that bursts are used up; sometimes about one interval, sometimes up to a window.
			pass := rapid.OneOf(rapid.Just(time.Duration(0)),
				rapid.Map(rapid.Int64Range(-1, 1), func(d int64) time.Duration { return max(0, p.Interval+time.Duration(d)*time.Millisecond) }),
				rapid.Map(rapid.Int64Range(0, p.Window().Milliseconds()), func(d int64) time.Duration { return time.Duration(d) * time.Millisecond }),
			).Draw(r, "pass")
			now = now.Add(pass)
			burst := rapid.IntRange(1, min(p.Burst+2, 45)).Draw(r, "burst")
			for range burst {
				compare(r, s, &p, subject, bucket, now)
			}
		}
	})
}

func compare(r *rapid.T, s limit.Store, p *limit.Policy, subject string, bucket *Bucket, now time.Time) {
	ms := now.UnixMilli()
	look, err := s.Peek(r.Context(), p, subject, now)
	if err != nil || look.OK != bucket.CanTake(ms) {
		r.Fatalf("Peek: %t, %v", look.OK, err)
	}
	want := bucket.Take(ms)
	v, err := s.Reserve(r.Context(), p, subject, now)
	if err != nil || v.OK != want {
		r.Fatalf("allowed %t, want %t, %v", v.OK, want, err)
	}
	if v.Remaining != int(bucket.level/p.Interval.Milliseconds()) {
		r.Fatalf("%d remaining at a level of %d ms", v.Remaining, bucket.level)
	}
	if wait := time.Duration(p.Interval.Milliseconds()-bucket.level) * time.Millisecond; !v.OK && v.Retry != wait {
		r.Fatalf("retry in %v, want %v", v.Retry, wait)
	}
	if full := p.Window() - time.Duration(bucket.level)*time.Millisecond; v.Reset != full {
		r.Fatalf("reset in %v, want %v", v.Reset, full)
	}
}

func concurrentReserves(t *testing.T, s limit.Store) {
	for _, p := range shared() {
		subject, now := Subject(), time.Now()
		var granted atomic.Int64
		var all sync.WaitGroup
		for range p.Burst + 25 {
			all.Go(func() {
				v, err := s.Reserve(t.Context(), &p, subject, now)
				if err != nil {
					t.Error(err)
				}
				if v.OK {
					granted.Add(1)
				}
			})
		}
		all.Wait()
		if int(granted.Load()) != p.Burst {
			t.Errorf("%s: %d were granted at once, want %d", p.Name, granted.Load(), p.Burst)
		}
	}
}

// backwards checks that a clock that goes back by hours costs a subject one window, not hours.
func backwards(t *testing.T, s limit.Store) {
	p := shared()[0]
	subject, now := Subject(), time.Now()
	take := func(at time.Time) limit.Result {
		return testenv.Must(s.Reserve(t.Context(), &p, subject, at))(t)
	}
	for range p.Burst {
		take(now)
	}
	early := now.Add(-10 * p.Window())
	if v := take(early); v.OK || v.Retry > p.Interval {
		t.Errorf("after the clock went back: %+v", v)
	}
}
