// Package cache keeps values in memory for a limited time. It is used instead of a library because time is an
// argument: expiry is decided by the database's clock, and tests set the time.
package cache

import (
	"sync"
	"time"
)

// defaultMax is the capacity of a Cache if Max is 0: all guests or members of a busy evening, which take some ten
// megabytes. A cache of larger values sets Max.
const defaultMax = 100_000

// Cache holds values by key until they expire. It is bounded by two generations: values are added to the young one.
// When the young generation is full it becomes the old one, and values of the previous old generation that were not
// read since are dropped. Unlike a list of recent uses, this costs reads nothing. Unlike emptying a full cache, it
// never makes every key load at once. The zero value is ready to use. It is safe for concurrent use. Nothing runs in
// the background: an expired value stays in memory until its generation is dropped or DeleteExpired is called.
//
// Locks are taken in one order: the lock of the cache, then the lock of an entry. A load holds only the lock of its
// entry, so other keys can be read meanwhile.
type Cache[K comparable, V any] struct {
	Max int // capacity; set it before the first use; 0 means defaultMax

	mu         sync.RWMutex
	young, old map[K]*entry[V]
}

// entry is a value. Its lock is held during a load, so that callers of the same key share the load and others do not
// wait. In a new entry until is zero, so the first caller that gets its lock loads the value.
type entry[V any] struct {
	mu    sync.Mutex
	value V
	from  time.Time // when it was stored
	until time.Time // zero if never loaded
}

// fresh reports whether the value has not expired. A value from the future was stored before the clock was set back. Its
// age is unknown, so it counts as expired.
func (e *entry[V]) fresh(now time.Time) bool {
	return !now.Before(e.from) && now.Before(e.until)
}

// forever is an expiry that is never reached.
var forever = time.Unix(1<<40, 0)

// Get returns the value of a key, unless it has expired. While a Load of the key is running, Get waits for its result.
func (c *Cache[K, V]) Get(key K, now time.Time) (V, bool) {
	e := c.find(key)
	if e == nil {
		return *new(V), false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.fresh(now) {
		return *new(V), false
	}
	return e.value, true
}

// Put stores a value that never changes under its key, such as a published menu or an item number. It replaces the entry
// instead of changing it, so a load that is running at the same time cannot overwrite the new value: that load writes to
// the old entry, which is no longer in the cache.
func (c *Cache[K, V]) Put(key K, value V) {
	c.put(key, &entry[V]{value: value, until: forever})
}

// PutFor stores the value of a key like Put, but it expires after the TTL.
func (c *Cache[K, V]) PutFor(key K, value V, now time.Time, ttl time.Duration) {
	c.put(key, &entry[V]{value: value, from: now, until: now.Add(ttl)})
}

func (c *Cache[K, V]) put(key K, e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, e)
}

// Load returns the value of a key, or reads it if there is none or it has expired. One goroutine reads a key at a time;
// the others wait for its result, and read again if it fails. A value that Delete removes while it is read is returned
// and not kept, because the read may be older than the change. The age of a value counts from before its read.
//
// now is a function because a caller may wait for the read of another one: the time is taken after that wait. read must
// not use the cache, because DeleteFunc keeps its lock while it waits for a running load. A failed read changes
// nothing, and its error is not cached: the next caller reads again.
func (c *Cache[K, V]) Load(key K, now func() time.Time, ttl time.Duration, read func() (V, error)) (V, error) {
	e := c.find(key)
	if e == nil {
		e = c.reserve(key)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at := now()
	if e.fresh(at) {
		return e.value, nil
	}
	value, err := read()
	if err == nil {
		e.value, e.from, e.until = value, at, at.Add(ttl)
	}
	return value, err
}

// reserve returns the entry of a key, and adds an empty one if there is none. It searches only the young generation,
// because find has already moved an entry of the old one. Two callers that miss at the same time get the same entry,
// so only one of them reads.
func (c *Cache[K, V]) reserve(key K) *entry[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.young[key]
	if !ok {
		e = &entry[V]{}
		c.keep(key, e)
	}
	return e
}

// find returns the entry of a key; nil if there is none. It moves an entry of the old generation to the young one.
// Keys in use are therefore young, and reading a young key takes only the shared lock.
func (c *Cache[K, V]) find(key K) *entry[V] {
	c.mu.RLock()
	e, young := c.young[key]
	if !young {
		e = c.old[key]
	}
	c.mu.RUnlock()
	if young || e == nil {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.old[key] == e && c.young[key] == nil { // neither deleted nor replaced meanwhile
		c.keep(key, e)
	}
	return e
}

// keep adds an entry to the young generation. The caller holds the lock. Each generation has half of the capacity, so
// both together stay within it. The old generation is dropped as a whole: its entries are not visited, and the garbage
// collector frees them later.
func (c *Cache[K, V]) keep(key K, e *entry[V]) {
	size := c.Max
	if size == 0 {
		size = defaultMax
	}
	if c.young == nil || len(c.young) >= max(1, size/2) {
		c.young, c.old = map[K]*entry[V]{}, c.young
	}
	delete(c.old, key) // otherwise DeleteFunc of the new value would leave the old one
	c.young[key] = e
}

// Delete removes keys. It does not wait for a running load of the key. That load's callers still get its value, but the
// cache does not keep it.
func (c *Cache[K, V]) Delete(keys ...K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.young, key)
		delete(c.old, key)
	}
}

// DeleteFunc removes the values for which del returns true. del must not use the cache. It waits for loads.
func (c *Cache[K, V]) DeleteFunc(del func(V) bool) {
	c.deleteEntries(func(e *entry[V]) bool { return del(e.value) })
}

// DeleteExpired frees the memory of expired values. Get ignores them in any case.
func (c *Cache[K, V]) DeleteExpired(now time.Time) {
	c.deleteEntries(func(e *entry[V]) bool { return !e.fresh(now) })
}

// deleteEntries removes the entries for which del returns true. It visits all entries under the exclusive lock, so
// other calls wait meanwhile.
func (c *Cache[K, V]) deleteEntries(del func(*entry[V]) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, generation := range []map[K]*entry[V]{c.young, c.old} {
		for key, e := range generation {
			e.mu.Lock()
			if del(e) {
				delete(generation, key)
			}
			e.mu.Unlock()
		}
	}
}

// Clear removes everything. Loads that are running finish for their callers and are not kept.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old = nil, nil
}

// Len returns the number of values, including expired ones.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := len(c.young)
	for key := range c.old {
		// A key that was read or put again is in both generations and counts once.
		if _, young := c.young[key]; !young {
			n++
		}
	}
	return n
}
