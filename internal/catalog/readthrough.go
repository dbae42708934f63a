package catalog

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"comanda/internal/fault"
)

// cacheAges limits how old a cached value may be. A value up to the age fresh is returned without a load. Up to linger
// it is returned while one goroutine reloads it. Up to stale it is returned only if the source is unavailable or takes
// longer than maxLoadWait.
type cacheAges struct{ fresh, linger, stale time.Duration }

const (
	// A slow source delays a request by at most maxLoadWait if there is an older value. readTimeout bounds requests
	// without one, and the time that a load may block its successors.
	maxLoadWait = 300 * time.Millisecond
	readTimeout = 3 * time.Second // time limit of one read from the source
)

// readThrough caches values by id and loads them from a source, one load at a time per id. Ids that the source does not
// know are not cached, so that requests for invented ids cannot fill the memory.
type readThrough[V any] struct {
	cacheAges
	now     func() time.Time
	read    func(ctx context.Context, id int64, old *V) (V, error)
	changed func(id int64) // called after a load has stored another value; nil unless values are comparable
	entries sync.Map       // id -> *cacheEntry[V]; a sync.Map because every request reads it
	loads   singleflight.Group
}

type cacheEntry[V any] struct {
	value atomic.Pointer[cachedValue[V]]

	mu      sync.Mutex
	changes int       // counts calls of invalidate
	retryAt time.Time // after a failed load; no new load before it while the old value is not stale
}

type cachedValue[V any] struct {
	v           V
	at          time.Time
	invalidated bool // usable only if the source is unavailable
}

// within reports whether a value may be used up to an age. A value that was read after now is not newer for that: a
// concurrent load may have stored it, or the clock was set back.
func (c *cachedValue[V]) within(age time.Duration, now time.Time) bool {
	return c != nil && !c.invalidated && now.Sub(c.at).Abs() <= age
}

func newReadThrough[V any](
	a cacheAges, now func() time.Time, read func(context.Context, int64, *V) (V, error),
) *readThrough[V] {
	return &readThrough[V]{cacheAges: a, now: now, read: read}
}

// get returns the value of an id. A load continues when the caller that started it goes away, because others may wait
// for it.
func (rt *readThrough[V]) get(ctx context.Context, id int64) (V, error) {
	s := rt.entry(id)
	now := rt.now()
	old := s.value.Load()
	if old.within(rt.fresh, now) {
		return old.v, nil
	}
	usable := old != nil && now.Sub(old.at) <= rt.stale
	changes, retryAt := s.state()
	// The last load has just failed, so waiting for another one would not help.
	if usable && rt.resting(retryAt, now) {
		return old.v, nil
	}
	loaded := rt.start(ctx, id, s, old, changes)
	// The load continues without this caller. The next caller gets its result.
	if old.within(rt.linger, now) {
		return old.v, nil
	}
	// The channel stays nil if there is no older value. A nil channel never receives, so the caller waits for the
	// load.
	var limit <-chan time.Time
	if usable {
		t := time.NewTimer(maxLoadWait)
		defer t.Stop()
		limit = t.C
	}
	select {
	case r := <-loaded:
		// Any other error is an answer of the source, for example that the branch no longer exists.
		if usable && fault.KindOf(r.Err) == fault.Unavailable {
			return old.v, nil
		}
		v, _ := r.Val.(V)
		return v, r.Err
	case <-limit:
		return old.v, nil
	case <-ctx.Done():
		return *new(V), ctx.Err()
	}
}

// start starts a load unless one is running. Its result is sent to the channel.
func (rt *readThrough[V]) start(
	ctx context.Context, id int64, s *cacheEntry[V], old *cachedValue[V], changes int,
) <-chan singleflight.Result {
	return rt.loads.DoChan(loadKey(id), func() (any, error) {
		// The load keeps the values of ctx, such as the request id for the log, but not its end and deadline.
		return rt.load(context.WithoutCancel(ctx), id, s, old, changes)
	})
}

// refresh starts a load of a value that is not fresh, unless one is running or has just failed. It does not wait for it.
func (rt *readThrough[V]) refresh(id int64) {
	s, now := rt.entry(id), rt.now()
	old := s.value.Load()
	changes, retryAt := s.state()
	if !old.within(rt.fresh, now) && !rt.resting(retryAt, now) {
		rt.start(context.Background(), id, s, old, changes)
	}
}

// resting reports whether a load has failed so recently that another one must wait. It is false for an instant that is
// further away than the pause after a failure, because the clock was set back.
func (rt *readThrough[V]) resting(retryAt, now time.Time) bool {
	return now.Before(retryAt) && retryAt.Sub(now) <= rt.fresh
}

func loadKey(id int64) string { return strconv.FormatInt(id, 10) }

// state returns both under one lock, so that they belong to the same invalidation.
func (s *cacheEntry[V]) state() (changes int, retryAt time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes, s.retryAt
}

// load reads the value and stores it. It does not store the result if the entry was invalidated since changes was read,
// because that read may be older than the change.
func (rt *readThrough[V]) load(
	ctx context.Context, id int64, s *cacheEntry[V], old *cachedValue[V], changes int,
) (V, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	// The age is counted from the start of the read: a change that commits during the read may be missing from the
	// result.
	at := rt.now()
	var last *V
	if old != nil {
		last = &old.v
	}
	v, err := rt.read(ctx, id, last)

	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.changes != changes:
	case err == nil:
		before := s.value.Swap(&cachedValue[V]{v: v, at: at})
		if rt.changed != nil && (before == nil || any(before.v) != any(v)) {
			rt.changed(id)
		}
	// The entry is deleted only if it is still this one: another caller may have stored a new entry under the id.
	case old == nil, fault.KindOf(err) == fault.NotFound:
		rt.entries.CompareAndDelete(id, s)
	default:
		s.retryAt = rt.now().Add(rt.fresh) // do not load more often from a failing source than from a working one
	}
	return v, err
}

// invalidate makes the next caller wait for a load that starts after now.
func (rt *readThrough[V]) invalidate(id int64) {
	s := rt.entry(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	s.retryAt = time.Time{}
	rt.loads.Forget(loadKey(id)) // a running load may have read the old state
	if old := s.value.Load(); old != nil {
		s.value.Store(&cachedValue[V]{v: old.v, at: old.at, invalidated: true})
	}
}

// entry returns the entry of an id. Concurrent callers must get the same entry, or there could be two loads of one id.
func (rt *readThrough[V]) entry(id int64) *cacheEntry[V] {
	s, ok := rt.entries.Load(id)
	if !ok {
		s, _ = rt.entries.LoadOrStore(id, &cacheEntry[V]{})
	}
	return s.(*cacheEntry[V])
}
