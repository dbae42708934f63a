package catalog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/fault"
)

// cacheAges limits how old a cached value may be. Up to fresh it is returned as it is. Up to linger it is returned
// while one goroutine reloads it. Up to stale it is returned only if the source is unavailable or takes longer than
// maxLoadWait.
type cacheAges struct{ fresh, linger, stale time.Duration }

const (
	maxLoadWait = 300 * time.Millisecond
	readTimeout = 3 * time.Second // of one reading of the source
)

// readThrough caches values by id and loads them from a source, one load at a time per id. Ids that the source does not
// know are not cached, so that requests for invented ids cannot fill the memory.
type readThrough[V any] struct {
	cacheAges
	now     func() time.Time
	read    func(ctx context.Context, id int64, old *V) (V, error)
	entries sync.Map // id -> *slot[V]; a sync.Map because every request reads it
}

type cacheEntry[V any] struct {
	value atomic.Pointer[cachedValue[V]]

	mu      sync.Mutex
	loading *pendingLoad[V] // nil while no load is running
	retryAt time.Time       // after a failed load; no new one before it while the old value is not stale
}

type cachedValue[V any] struct {
	v           V
	at          time.Time
	invalidated bool // usable only if the source is unavailable
}

// pendingLoad is one load that any number of callers wait for.
type pendingLoad[V any] struct {
	done chan struct{}
	v    V
	err  error
}

// wait returns when the load has finished. With bounded set it returns after maxLoadWait at the latest. It returns an
// error only if the caller's context ends.
func (f *pendingLoad[V]) wait(ctx context.Context, bounded bool) error {
	var limit <-chan time.Time
	if bounded {
		t := time.NewTimer(maxLoadWait)
		defer t.Stop()
		limit = t.C
	}
	select {
	case <-f.done:
	case <-limit:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// finished reports whether the load has finished. The result must not be read before.
func (f *pendingLoad[V]) finished() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

func newReadThrough[V any](
	a cacheAges, now func() time.Time, read func(context.Context, int64, *V) (V, error),
) *readThrough[V] {
	return &readThrough[V]{cacheAges: a, now: now, read: read}
}

// get returns the value of an id. A load continues when the caller that started it goes away, because others may wait
// for it.
func (k *readThrough[V]) get(ctx context.Context, id int64) (V, error) {
	s := k.entry(id)
	now := k.now()
	old := s.value.Load()
	if old != nil && !old.invalidated && now.Sub(old.at) <= k.fresh {
		return old.v, nil
	}
	f := s.join(now, old, k.stale, func(f *pendingLoad[V]) { k.load(ctx, id, s, f, old) })
	if f == nil || old != nil && !old.invalidated && now.Sub(old.at) <= k.linger {
		return old.v, nil
	}
	usable := old != nil && now.Sub(old.at) <= k.stale
	if err := f.wait(ctx, usable); err != nil {
		return *new(V), err
	}
	if usable && (!f.finished() || fault.KindOf(f.err) == fault.Unavailable) {
		return old.v, nil
	}
	return f.v, f.err
}

// join returns the running load, or starts one. It returns nil after a failed load as long as the old value must be
// used.
func (s *cacheEntry[V]) join(
	now time.Time, old *cachedValue[V], stale time.Duration, start func(*pendingLoad[V]),
) *pendingLoad[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loading != nil {
		return s.loading
	}
	if old != nil && now.Before(s.retryAt) && now.Sub(old.at) <= stale {
		return nil
	}
	s.loading = &pendingLoad[V]{done: make(chan struct{})}
	go start(s.loading)
	return s.loading
}

// load reads the value and stores it. It discards the result if the entry was invalidated meanwhile, because that read
// may be older than the change.
func (k *readThrough[V]) load(ctx context.Context, id int64, s *cacheEntry[V], f *pendingLoad[V], old *cachedValue[V]) {
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
	if s.loading != f {
		return
	}
	s.loading = nil
	switch {
	case f.err == nil:
		s.value.Store(&cachedValue[V]{v: f.v, at: at})
	case old == nil, fault.KindOf(f.err) == fault.NotFound:
		k.entries.CompareAndDelete(id, s)
	default:
		s.retryAt = k.now().Add(k.fresh) // do not load more often from a failing source than from a working one
	}
}

// invalidate makes the next caller wait for a load that starts after now.
func (k *readThrough[V]) invalidate(id int64) {
	s := k.entry(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading, s.retryAt = nil, time.Time{}
	if old := s.value.Load(); old != nil {
		s.value.Store(&cachedValue[V]{v: old.v, at: old.at, invalidated: true})
	}
}

func (k *readThrough[V]) entry(id int64) *cacheEntry[V] {
	s, ok := k.entries.Load(id)
	if !ok {
		s, _ = k.entries.LoadOrStore(id, &cacheEntry[V]{})
	}
	return s.(*cacheEntry[V])
}
