// Package visittest has an in-memory visit.Bindings and the conformance suite of visit.Bindings.
package visittest

import (
	"context"
	"sync"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/testenv"
	"comanda/internal/uid"
	"comanda/internal/visit"
)

// MemoryBindings is an in-memory visit.Bindings. While down it fails like an unavailable Redis and keeps its contents.
type MemoryBindings struct {
	mu    sync.Mutex
	of    map[string]visit.Guest
	until map[string]time.Time
	down  bool
}

// NewMemoryBindings returns empty bindings.
func NewMemoryBindings() *MemoryBindings {
	return &MemoryBindings{of: map[string]visit.Guest{}, until: map[string]time.Time{}}
}

// SetDown makes all calls fail, or succeed again.
func (m *MemoryBindings) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Len returns the number of stored guests.
func (m *MemoryBindings) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.of)
}

func (m *MemoryBindings) enter() (leave func(), err error) {
	m.mu.Lock()
	if m.down {
		err = fault.New(fault.Unavailable, "redis_down", "down")
	}
	return m.mu.Unlock, err
}

// Bind stores a guest until an instant.
func (m *MemoryBindings) Bind(_ context.Context, token string, g visit.Guest, _ time.Duration, until time.Time) error {
	leave, err := m.enter()
	defer leave()
	if err == nil {
		m.of[token], m.until[token] = g, until
	}
	return err
}

// Find returns a guest.
func (m *MemoryBindings) Find(
	_ context.Context, token string, now time.Time, _ func(int64) time.Duration,
) (visit.Guest, bool, error) {
	leave, err := m.enter()
	defer leave()
	g, ok := m.of[token]
	left := m.until[token].Sub(now)
	return g, ok && left > 0 && left <= visit.BindingValid && err == nil, err
}

// Unbind removes the guests of visits.
func (m *MemoryBindings) Unbind(_ context.Context, visits []string) error {
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

// BindingsSuite is the conformance suite of visit.Bindings. empty returns empty bindings.
func BindingsSuite(t *testing.T, empty func(t *testing.T) visit.Bindings) {
	t.Helper()
	now := time.Now().Truncate(time.Millisecond)
	hour := func(int64) time.Duration { return time.Hour }
	guest := func() (string, visit.Guest) {
		return visit.NewCustomerToken(), visit.Guest{VisitID: uid.New(time.Now()), BranchID: 1, TableID: 3, VisitOpen: true}
	}
	bind := func(t *testing.T, b visit.Bindings, token string, g visit.Guest) {
		t.Helper()
		testenv.NoError(t, b.Bind(t.Context(), token, g, time.Hour, now.Add(time.Minute)))
	}
	finds := func(t *testing.T, b visit.Bindings, token string, want visit.Guest, wantFound bool) {
		t.Helper()
		got, found, err := b.Find(t.Context(), token, now, hour)
		got.TokenHash = want.TokenHash // set by the caller of Find
		if err != nil || found != wantFound || found && got != want {
			t.Errorf("found %+v, %t, %v", got, found, err)
		}
	}

	t.Run("an unknown token is not found", func(t *testing.T) {
		token, g := guest()
		finds(t, empty(t), token, g, false)
	})
	t.Run("a bound guest is found", func(t *testing.T) {
		b := empty(t)
		token, g := guest()
		bind(t, b, token, g)
		finds(t, b, token, g, true)
		finds(t, b, token, g, true)
	})
	t.Run("a bound guest is found until its end", func(t *testing.T) {
		b := empty(t)
		token, g := guest()
		bind(t, b, token, g)
		for after, want := range map[time.Duration]bool{
			time.Minute - time.Millisecond: true, time.Minute: false,
			time.Minute - visit.BindingValid: true, time.Minute - visit.BindingValid - time.Millisecond: false, // set back
		} {
			if _, found, err := b.Find(t.Context(), token, now.Add(after), hour); found != want || err != nil {
				t.Errorf("after %v: %t, %v", after, found, err)
			}
		}
	})
	t.Run("unbind removes all guests of a visit and no other", func(t *testing.T) {
		b := empty(t)
		token, g := guest()
		bind(t, b, token, g)
		second := visit.NewCustomerToken()
		bind(t, b, second, g)
		other, otherGuest := guest()
		bind(t, b, other, otherGuest)
		for range 2 { // the second call changes nothing
			testenv.NoError(t, b.Unbind(t.Context(), []string{g.VisitID}))
			finds(t, b, token, g, false)
			finds(t, b, second, g, false)
			finds(t, b, other, otherGuest, true)
		}
	})
	t.Run("unbind without visits succeeds", func(t *testing.T) {
		if err := empty(t).Unbind(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}
