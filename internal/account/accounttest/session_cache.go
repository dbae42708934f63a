package accounttest

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/uid"
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

// SessionCacheSuite is the conformance suite of account.SessionCache. empty returns an empty cache.
func SessionCacheSuite(t *testing.T, empty func(t *testing.T) account.SessionCache) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	standing := func() account.ActiveSession {
		return account.ActiveSession{
			Session: uid.New(now), UserID: 7, RoleID: 3, Role: authz.RoleCashier, Branches: []int64{1, 2},
			StartedAt: now, ExpiresAt: now.Add(time.Hour), Address: "2001:db8::1",
		}
	}
	finds := func(t *testing.T, m account.SessionCache, want account.ActiveSession, token string, wantFound, wantBarred bool) {
		t.Helper()
		got, found, barred, err := m.Get(t.Context(), want.Session, token)
		if err != nil || found != wantFound || barred != wantBarred || found && !reflect.DeepEqual(got, want) {
			t.Errorf("found %+v, %t, barred %t, %v", got, found, barred, err)
		}
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	t.Run("a session is found until it is deleted", func(t *testing.T) {
		m, s, other := empty(t), standing(), standing()
		finds(t, m, s, "a", false, false)
		must(t, m.Put(t.Context(), s, account.TokenHash("x")))
		must(t, m.Put(t.Context(), other, ""))
		finds(t, m, s, "a", true, false)
		for range 2 { // again changes nothing
			must(t, m.Delete(t.Context(), []string{s.Session}))
			finds(t, m, s, "a", false, false)
		}
		finds(t, m, other, "a", true, false)
		must(t, m.Delete(t.Context(), nil))
	})
	t.Run("a blocked token is reported with and without its session", func(t *testing.T) {
		m, s, token := empty(t), standing(), uid.New(now)
		must(t, m.BlockToken(t.Context(), token, time.Minute))
		finds(t, m, s, token, false, true)
		must(t, m.Put(t.Context(), s, ""))
		finds(t, m, s, token, true, true)
		finds(t, m, s, token+"0", true, false)
	})
	t.Run("an expired token is not blocked", func(t *testing.T) {
		m, s, token := empty(t), standing(), uid.New(now)
		must(t, m.BlockToken(t.Context(), token, 0))
		must(t, m.BlockToken(t.Context(), token, -time.Minute))
		finds(t, m, s, token, false, false)
	})
	t.Run("a session without branches", func(t *testing.T) {
		m, s := empty(t), standing()
		s.Branches = nil
		must(t, m.Put(t.Context(), s, ""))
		finds(t, m, s, "a", true, false)
	})
	t.Run("codes are recorded and deleted", func(t *testing.T) {
		m := empty(t)
		must(t, m.PutCode(t.Context(), account.Verify, 7, now))
		must(t, m.PutCode(t.Context(), account.Reset, 7, now))
		must(t, m.DeleteCode(t.Context(), account.Verify, 7))
	})
}
