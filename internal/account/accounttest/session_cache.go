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
func (c *SessionCache) SetDown(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

// Flush deletes everything, like FLUSHALL.
func (c *SessionCache) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.sessions)
	clear(c.blocked)
}

// Len returns the number of cached sessions.
func (c *SessionCache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sessions)
}

func (c *SessionCache) with(f func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return fault.New(fault.Unavailable, "redis_down", "down")
	}
	f()
	return nil
}

// Put implements account.SessionCache.
func (c *SessionCache) Put(_ context.Context, s account.ActiveSession, _ string) error {
	return c.with(func() { c.sessions[s.Session] = s })
}

// Get implements account.SessionCache.
func (c *SessionCache) Get(
	_ context.Context, session, token string,
) (s account.ActiveSession, found, barred bool, err error) {
	err = c.with(func() {
		s, found = c.sessions[session]
		barred = c.blocked[token]
	})
	return s, found, barred, err
}

// Delete implements account.SessionCache.
func (c *SessionCache) Delete(_ context.Context, sessions []string) error {
	return c.with(func() {
		for _, id := range sessions {
			delete(c.sessions, id)
		}
	})
}

// BlockToken implements account.SessionCache.
func (c *SessionCache) BlockToken(_ context.Context, token string, rest time.Duration) error {
	return c.with(func() {
		if rest > 0 {
			c.blocked[token] = true
		}
	})
}

// PutCode implements account.SessionCache.
func (c *SessionCache) PutCode(context.Context, account.Purpose, int64, time.Time) error {
	return c.with(func() {})
}

// DeleteCode implements account.SessionCache.
func (c *SessionCache) DeleteCode(context.Context, account.Purpose, int64) error {
	return c.with(func() {})
}
