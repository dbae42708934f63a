package clock

import (
	"sync/atomic"
	"time"
)

// reading is both clocks of the machine at one instant.
type reading struct {
	wall time.Time     // without a monotonic part
	mono time.Duration // since the process began
}

// born is the origin of monotonic readings: only differences between them have a meaning.
var born = time.Now()

// shift moves the wall clock in builds that test steps. In all others it stays nil, because nothing calls Shift.
var shift atomic.Pointer[func() time.Duration]

// Shift adds what by returns to every reading of the wall clock. Only package faultclock calls it, which needs the
// build tag faultclock.
func Shift(by func() time.Duration) { shift.Store(&by) }

// machine reads both clocks with one call, so that they belong to one instant. Round(0) strips the monotonic part,
// without which Sub would compare that instead of the wall clock.
func machine() reading {
	now := time.Now()
	r := reading{wall: now.Round(0), mono: now.Sub(born)}
	if by := shift.Load(); by != nil {
		r.wall = r.wall.Add((*by)())
	}
	return r
}

// Stopwatch measures a duration by the monotonic clock. The zero value has been running since the zero time. Its
// elapsed time is longer than every pause, so a pause that was never begun counts as over.
type Stopwatch struct{ begun time.Time }

// Start returns a running stopwatch.
func Start() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed returns the time since the start.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.begun) }

// Begun returns the start by the machine's wall clock. It is for log records only.
func (s Stopwatch) Begun() time.Time { return s.begun }

// In returns the instant d from now, for deadlines of connections and timers of this process. It has a monotonic
// reading and must not be stored.
func In(d time.Duration) time.Time { return time.Now().Add(d) }
