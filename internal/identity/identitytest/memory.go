package identitytest

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/uid"
)

// Memory is identity.Memory in this process. While down it fails like Redis out of reach, and keeps what it had.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]identity.Standing
	barred   map[string]bool
	down     bool
}

// NewMemory makes an empty memory.
func NewMemory() *Memory {
	return &Memory{sessions: map[string]identity.Standing{}, barred: map[string]bool{}}
}

// SetDown makes it fail, or work again.
func (m *Memory) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Flush forgets everything, like FLUSHALL.
func (m *Memory) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.sessions)
	clear(m.barred)
}

// Len is the number of sessions that are remembered.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions)
}

func (m *Memory) with(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return fault.New(fault.Unavailable, "redis_down", "down")
	}
	f()
	return nil
}

// Keep implements identity.Memory.
func (m *Memory) Keep(_ context.Context, s identity.Standing, _ string) error {
	return m.with(func() { m.sessions[s.Session] = s })
}

// Find implements identity.Memory.
func (m *Memory) Find(
	_ context.Context, session, token string,
) (s identity.Standing, found, barred bool, err error) {
	err = m.with(func() {
		s, found = m.sessions[session]
		barred = m.barred[token]
	})
	return s, found, barred, err
}

// Drop implements identity.Memory.
func (m *Memory) Drop(_ context.Context, sessions []string) error {
	return m.with(func() {
		for _, id := range sessions {
			delete(m.sessions, id)
		}
	})
}

// Bar implements identity.Memory.
func (m *Memory) Bar(_ context.Context, token string, rest time.Duration) error {
	return m.with(func() {
		if rest > 0 {
			m.barred[token] = true
		}
	})
}

// KeepCode implements identity.Memory.
func (m *Memory) KeepCode(context.Context, identity.Purpose, int64, time.Time) error {
	return m.with(func() {})
}

// DropCode implements identity.Memory.
func (m *Memory) DropCode(context.Context, identity.Purpose, int64) error { return m.with(func() {}) }

// Memories is the suite that every identity.Memory passes. empty gives an empty one.
func Memories(t *testing.T, empty func(t *testing.T) identity.Memory) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	standing := func() identity.Standing {
		return identity.Standing{
			Session: uid.New(now), UserID: 7, RoleID: 3, Role: identity.RoleCashier, Branches: []int64{1, 2},
			BegunAt: now, ExpiresAt: now.Add(time.Hour), Address: "2001:db8::1",
		}
	}
	finds := func(t *testing.T, m identity.Memory, want identity.Standing, token string, wantFound, wantBarred bool) {
		t.Helper()
		got, found, barred, err := m.Find(t.Context(), want.Session, token)
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

	t.Run("what was kept is found until it is dropped", func(t *testing.T) {
		m, s, other := empty(t), standing(), standing()
		finds(t, m, s, "a", false, false)
		must(t, m.Keep(t.Context(), s, identity.TokenHash("x")))
		must(t, m.Keep(t.Context(), other, ""))
		finds(t, m, s, "a", true, false)
		for range 2 { // again changes nothing
			must(t, m.Drop(t.Context(), []string{s.Session}))
			finds(t, m, s, "a", false, false)
		}
		finds(t, m, other, "a", true, false)
		must(t, m.Drop(t.Context(), nil))
	})
	t.Run("a barred token is told with and without its session", func(t *testing.T) {
		m, s, token := empty(t), standing(), uid.New(now)
		must(t, m.Bar(t.Context(), token, time.Minute))
		finds(t, m, s, token, false, true)
		must(t, m.Keep(t.Context(), s, ""))
		finds(t, m, s, token, true, true)
		finds(t, m, s, token+"0", true, false)
	})
	t.Run("a token at the end of its life needs no bar", func(t *testing.T) {
		m, s, token := empty(t), standing(), uid.New(now)
		must(t, m.Bar(t.Context(), token, 0))
		must(t, m.Bar(t.Context(), token, -time.Minute))
		finds(t, m, s, token, false, false)
	})
	t.Run("members work in no branch", func(t *testing.T) {
		m, s := empty(t), standing()
		s.Branches = nil
		must(t, m.Keep(t.Context(), s, ""))
		finds(t, m, s, "a", true, false)
	})
	t.Run("codes are noted and forgotten", func(t *testing.T) {
		m := empty(t)
		must(t, m.KeepCode(t.Context(), identity.Verify, 7, now))
		must(t, m.KeepCode(t.Context(), identity.Reset, 7, now))
		must(t, m.DropCode(t.Context(), identity.Verify, 7))
	})
}
