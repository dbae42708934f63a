// Package visittest helps to test what needs visits: a clock to turn, the memory of tokens as a map, and the suite that
// every such memory passes.
package visittest

import (
	"context"
	"sync"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/uid"
	"comanda/internal/visit"
)

// Clock is a clock that a test turns. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that stands on a Thursday at noon in Hà Nội.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)} }

// Now reads the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance turns it forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Memory is visit.Bindings in this process. While Down is set it fails like Redis out of reach, and keeps what it had.
type Memory struct {
	mu    sync.Mutex
	of    map[string]visit.Guest
	until map[string]time.Time
	down  bool
}

// NewMemory makes an empty memory.
func NewMemory() *Memory { return &Memory{of: map[string]visit.Guest{}, until: map[string]time.Time{}} }

// SetDown makes it fail, or work again.
func (m *Memory) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Len is the number of guests that are remembered.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.of)
}

func (m *Memory) enter() (leave func(), err error) {
	m.mu.Lock()
	if m.down {
		err = fault.New(fault.Unavailable, "redis_down", "down")
	}
	return m.mu.Unlock, err
}

// Bind remembers a guest until it is no longer to be believed.
func (m *Memory) Bind(_ context.Context, token string, g visit.Guest, _ time.Duration, until time.Time) error {
	leave, err := m.enter()
	defer leave()
	if err == nil {
		m.of[token], m.until[token] = g, until
	}
	return err
}

// Find gives a guest.
func (m *Memory) Find(
	_ context.Context, token string, now time.Time, _ func(int64) time.Duration,
) (visit.Guest, bool, error) {
	leave, err := m.enter()
	defer leave()
	g, ok := m.of[token]
	return g, ok && now.Before(m.until[token]) && err == nil, err
}

// Unbind forgets the guests of visits.
func (m *Memory) Unbind(_ context.Context, visits []string) error {
	leave, err := m.enter()
	defer leave()
	if err != nil {
		return err
	}
	for _, id := range visits {
		for token, g := range m.of {
			if g.VisitID == id {
				delete(m.of, token)
			}
		}
	}
	return nil
}

// Bindings is the suite that every visit.Bindings passes. empty gives an empty one.
func Bindings(t *testing.T, empty func(t *testing.T) visit.Bindings) {
	t.Helper()
	now := time.Now().Truncate(time.Millisecond)
	hour := func(int64) time.Duration { return time.Hour }
	guest := func() (string, visit.Guest) {
		return visit.NewCustomerToken(), visit.Guest{VisitID: uid.New(time.Now()), BranchID: 1, TableID: 3, VisitOpen: true}
	}
	bind := func(t *testing.T, b visit.Bindings, token string, g visit.Guest) {
		t.Helper()
		if err := b.Bind(t.Context(), token, g, time.Hour, now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(t *testing.T, b visit.Bindings, token string, want visit.Guest, wantFound bool) {
		t.Helper()
		got, found, err := b.Find(t.Context(), token, now, hour)
		got.TokenHash = want.TokenHash // the finder's own knowledge
		if err != nil || found != wantFound || found && got != want {
			t.Errorf("found %+v, %t, %v", got, found, err)
		}
	}

	t.Run("an unknown token is not found", func(t *testing.T) {
		token, g := guest()
		finds(t, empty(t), token, g, false)
	})
	t.Run("what was bound is found", func(t *testing.T) {
		b := empty(t)
		token, g := guest()
		bind(t, b, token, g)
		finds(t, b, token, g, true)
		finds(t, b, token, g, true)
	})
	t.Run("what was bound is believed until its end", func(t *testing.T) {
		b := empty(t)
		token, g := guest()
		bind(t, b, token, g)
		for after, want := range map[time.Duration]bool{time.Minute - time.Millisecond: true, time.Minute: false} {
			if _, found, err := b.Find(t.Context(), token, now.Add(after), hour); found != want || err != nil {
				t.Errorf("after %v: %t, %v", after, found, err)
			}
		}
	})
	t.Run("a closed visit takes all its guests along and no other", func(t *testing.T) {
		b := empty(t)
		token, g := guest()
		bind(t, b, token, g)
		second := visit.NewCustomerToken()
		bind(t, b, second, g)
		other, elsewhere := guest()
		bind(t, b, other, elsewhere)
		for range 2 { // again changes nothing
			if err := b.Unbind(t.Context(), []string{g.VisitID}); err != nil {
				t.Fatal(err)
			}
			finds(t, b, token, g, false)
			finds(t, b, second, g, false)
			finds(t, b, other, elsewhere, true)
		}
	})
	t.Run("to unbind nothing is no error", func(t *testing.T) {
		if err := empty(t).Unbind(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}
