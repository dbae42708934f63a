package tagcache

import (
	"context"
	"maps"
	"sync"
	"time"

	"comanda/internal/keyspace"
)

// maxMemory is the size in bytes of all values of a Memory. One process serves a small restaurant; a hundred reports take
// a few megabytes.
const maxMemory = 32 << 20

// Memory is the store of one process.
type Memory struct {
	now func() time.Time

	mu     sync.Mutex
	scopes map[scope]map[Entry]*slot
	bytes  int
}

// scope identifies the values that are invalidated together.
type scope struct {
	family *keyspace.CacheFamily
	id     int64
}

// slot is a value, or the lease of a process that computes it.
type slot struct {
	value []byte
	until time.Time // of the value
	ttl   time.Duration
	token string    // of the lease
	lease time.Time // its end
}

// filled reports whether the slot has a value. One with more than its TTL left is from before the clock was set back.
func (s *slot) filled(now time.Time) bool { return now.Before(s.until) && s.until.Sub(now) <= s.ttl }

// leased reports whether a process computes the value.
func (s *slot) leased(now time.Time) bool {
	return now.Before(s.lease) && s.lease.Sub(now) <= keyspace.CacheLeaseLife
}

// live reports whether the slot has a value or a lease.
func (s *slot) live(now time.Time) bool { return s.filled(now) || s.leased(now) }

// NewMemory returns an empty Memory.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, scopes: map[scope]map[Entry]*slot{}}
}

// Lookup implements Store.
func (m *Memory) Lookup(_ context.Context, e Entry, token string) ([]byte, Outcome, error) {
	if err := e.check(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	of := scope{e.Family, e.Scope}
	s := m.scopes[of][e]
	switch {
	case s == nil:
	case s.filled(now):
		return s.value, Found, nil
	case s.leased(now):
		return nil, Busy, nil
	}
	if s == nil {
		if len(m.scopes[of]) >= MaxEntries {
			m.purge(now, of)
		}
		if len(m.scopes[of]) >= MaxEntries {
			return nil, Full, nil
		}
		if m.scopes[of] == nil {
			m.scopes[of] = map[Entry]*slot{}
		}
		s = &slot{}
		m.scopes[of][e] = s
	}
	m.bytes -= len(s.value)
	*s = slot{token: token, lease: now.Add(keyspace.CacheLeaseLife)}
	return nil, Leased, nil
}

// Fill implements Store. Values beyond maxMemory are not stored.
func (m *Memory) Fill(_ context.Context, e Entry, token string, value []byte, ttl time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	s := m.held(e, token, now)
	if s == nil {
		return false, nil
	}
	if m.bytes+len(value) > maxMemory {
		for of := range m.scopes {
			m.purge(now, of)
		}
	}
	if m.bytes+len(value) > maxMemory {
		delete(m.scopes[scope{e.Family, e.Scope}], e)
		return false, nil
	}
	m.bytes += len(value)
	*s = slot{value: value, until: now.Add(ttl), ttl: ttl}
	return true, nil
}

// Release implements Store.
func (m *Memory) Release(_ context.Context, e Entry, token string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held(e, token, m.now()) != nil {
		delete(m.scopes[scope{e.Family, e.Scope}], e)
	}
	return nil
}

// held returns the slot whose lease a token holds; nil if it does not. The caller holds the lock.
func (m *Memory) held(e Entry, token string, now time.Time) *slot {
	s := m.scopes[scope{e.Family, e.Scope}][e]
	if s == nil || s.token != token || !s.leased(now) {
		return nil
	}
	return s
}

// Invalidate implements Store.
func (m *Memory) Invalidate(_ context.Context, f *keyspace.CacheFamily, id int64, dates DateRange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.scopes[scope{f, id}], func(e Entry, s *slot) bool {
		if !e.Dates.Overlap(dates) {
			return false
		}
		m.bytes -= len(s.value)
		return true
	})
	return nil
}

// Holds reports whether the store has values of a family, or processes compute some.
func (m *Memory) Holds(f *keyspace.CacheFamily) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for of, slots := range m.scopes {
		if of.family != f {
			continue
		}
		for _, s := range slots {
			if s.live(now) {
				return true
			}
		}
	}
	return false
}

// purge removes what has expired. The caller holds the lock.
func (m *Memory) purge(now time.Time, of scope) {
	maps.DeleteFunc(m.scopes[of], func(_ Entry, s *slot) bool {
		if s.live(now) {
			return false
		}
		m.bytes -= len(s.value)
		return true
	})
}
