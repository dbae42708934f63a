package testenv

import (
	"slices"
	"sync"
	"time"
)

// Clock is a clock that a test advances. It is safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer // pending
}

type timer struct {
	at   time.Time
	ring chan time.Time
}

// NewClock returns a clock set to noon of a Thursday in Hà Nội.
func NewClock() *Clock { return NewClockAt(time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)) }

// NewClockAt returns a clock set to an instant.
func NewClockAt(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After is time.After on this clock.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{c.now.Add(d), make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	return t.ring
}

// Timers returns the number of pending timers, including those of zero duration until the clock is advanced.
func (c *Clock) Timers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// Advance moves the clock forward and fires the timers that are due.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
		due := !c.now.Before(t.at)
		if due {
			t.ring <- c.now
		}
		return due
	})
}
