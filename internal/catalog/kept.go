package catalog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/fault"
)

// ages say how a kept value is used. Up to fresh it is simply given. Up to linger it is given while one goroutine reads
// a newer one. Beyond that callers wait for the newer one, and only when the source is out of reach, or slower than
// patience, do they get the old one after all, up to stale.
type ages struct{ fresh, linger, stale time.Duration }

const (
	patience    = 300 * time.Millisecond
	readTimeout = 3 * time.Second // of one reading of the source
)

// kept holds values read through a source, each under its id, one reading at a time per id. An id that
// the source does not know is not remembered, so strangers cannot fill the memory.
type kept[V any] struct {
	ages
	now   func() time.Time
	read  func(ctx context.Context, id int64, old *V) (V, error)
	slots sync.Map // id -> *slot[V]; read by every request, so without a lock
}

type slot[V any] struct {
	value atomic.Pointer[dated[V]]

	mu      sync.Mutex
	flight  *flight[V] // nil when nobody reads
	retryAt time.Time  // no reading before it while an old value will do
}

type dated[V any] struct {
	v     V
	at    time.Time
	doubt bool // invalidated: only for when the source is out of reach
}

// flight is one reading that any number of callers wait for.
type flight[V any] struct {
	done chan struct{}
	v    V
	err  error
}

// wait returns when the reading has ended, when the caller goes away (with its error), or, for a caller that has
// something else to give, when patience is at its end.
func (f *flight[V]) wait(ctx context.Context, hurry bool) error {
	var enough <-chan time.Time
	if hurry {
		t := time.NewTimer(patience)
		defer t.Stop()
		enough = t.C
	}
	select {
	case <-f.done:
	case <-enough:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// landed tells whether the reading has ended; only then may its result be looked at.
func (f *flight[V]) landed() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

func newKept[V any](a ages, now func() time.Time, read func(context.Context, int64, *V) (V, error)) *kept[V] {
	return &kept[V]{ages: a, now: now, read: read}
}

// get gives the value of an id. A caller that goes away does not disturb the reading that others wait for.
func (k *kept[V]) get(ctx context.Context, id int64) (V, error) {
	s := k.slot(id)
	now := k.now()
	old := s.value.Load()
	if old != nil && !old.doubt && now.Sub(old.at) <= k.fresh {
		return old.v, nil
	}
	f := s.join(now, old, k.stale, func(f *flight[V]) { k.fly(ctx, id, s, f, old) })
	if f == nil || old != nil && !old.doubt && now.Sub(old.at) <= k.linger {
		return old.v, nil
	}
	usable := old != nil && now.Sub(old.at) <= k.stale
	if err := f.wait(ctx, usable); err != nil {
		return *new(V), err
	}
	if usable && (!f.landed() || fault.KindOf(f.err) == fault.Unavailable) {
		return old.v, nil
	}
	return f.v, f.err
}

// join gives the reading under way or starts one; nil means that the old value has to do for now.
func (s *slot[V]) join(now time.Time, old *dated[V], stale time.Duration, start func(*flight[V])) *flight[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flight != nil {
		return s.flight
	}
	if old != nil && now.Before(s.retryAt) && now.Sub(old.at) <= stale {
		return nil
	}
	s.flight = &flight[V]{done: make(chan struct{})}
	go start(s.flight)
	return s.flight
}

// fly reads and stores, unless the value was invalidated meanwhile: what is read then may be older than the change.
func (k *kept[V]) fly(ctx context.Context, id int64, s *slot[V], f *flight[V], old *dated[V]) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	defer close(f.done)
	at := k.now()
	var last *V
	if old != nil {
		last = &old.v
	}
	f.v, f.err = k.read(ctx, id, last)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flight != f {
		return
	}
	s.flight = nil
	switch {
	case f.err == nil:
		s.value.Store(&dated[V]{v: f.v, at: at})
	case old == nil, fault.KindOf(f.err) == fault.NotFound:
		k.slots.CompareAndDelete(id, s)
	default:
		s.retryAt = k.now().Add(k.fresh) // a source that fails is asked no more often than one that works
	}
}

// invalidate makes the next caller wait for a reading that begins after now.
func (k *kept[V]) invalidate(id int64) {
	s := k.slot(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight, s.retryAt = nil, time.Time{}
	if old := s.value.Load(); old != nil {
		s.value.Store(&dated[V]{v: old.v, at: old.at, doubt: true})
	}
}

func (k *kept[V]) slot(id int64) *slot[V] {
	s, ok := k.slots.Load(id)
	if !ok {
		s, _ = k.slots.LoadOrStore(id, &slot[V]{})
	}
	return s.(*slot[V])
}
