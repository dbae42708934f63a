package accounttest

import (
	"context"
	"sync"
	"time"

	"comanda/internal/account"
	"comanda/internal/fault"
)

// SessionCache is account.SessionCache in memory. While down it fails like an unreachable Redis and keeps its data.
type SessionCache struct {
	mu       sync.Mutex
	sessions map[string]account.ActiveSession
	blocked  map[string]bool
	down     bool
}

// NewSessionCache returns an empty cache.
func NewSessionCache() *SessionCache {
	return &SessionCache{sessions: map[string]account.ActiveSession{}, blocked: map[string]bool{}}
}

// SetDown makes every call fail, or work again.
func (m *SessionCache) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Flush deletes everything, like FLUSHALL.
func (m *SessionCache) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.sessions)
	clear(m.blocked)
}

// Len returns the number of cached sessions.
func (m *SessionCache) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions)
}

func (m *SessionCache) with(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return fault.New(fault.Unavailable, "redis_down", "down")
	}
	f()
	return nil
}

// Put implements account.SessionCache.
func (m *SessionCache) Put(_ context.Context, s account.ActiveSession, _ string) error {
	return m.with(func() { m.sessions[s.Session] = s })
}

// Get implements account.SessionCache.
func (m *SessionCache) Get(
	_ context.Context, session, token string,
) (s account.ActiveSession, found, barred bool, err error) {
	err = m.with(func() {
		s, found = m.sessions[session]
		barred = m.blocked[token]
	})
	return s, found, barred, err
}

// Delete implements account.SessionCache.
func (m *SessionCache) Delete(_ context.Context, sessions []string) error {
	return m.with(func() {
		for _, id := range sessions {
			delete(m.sessions, id)
		}
	})
}

// BlockToken implements account.SessionCache.
func (m *SessionCache) BlockToken(_ context.Context, token string, rest time.Duration) error {
	return m.with(func() {
		if rest > 0 {
			m.blocked[token] = true
		}
	})
}

// PutCode implements account.SessionCache.
func (m *SessionCache) PutCode(context.Context, account.Purpose, int64, time.Time) error {
	return m.with(func() {})
}

// DeleteCode implements account.SessionCache.
func (m *SessionCache) DeleteCode(context.Context, account.Purpose, int64) error {
	return m.with(func() {})
}
