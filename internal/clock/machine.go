package clock

import (
	"sync/atomic"
	"time"
)

// reading is both clocks of the machine at one moment.
type reading struct {
	wall time.Time     // without a monotonic part
	mono time.Duration // since the process began
}

var born = time.Now()

// shift moves the wall clock in builds that test what a step does; in any other it stays nil, as nothing calls Shift.
var shift atomic.Pointer[func() time.Duration]

// Shift has the wall clock read as much later as by returns. Only package faultclock calls it, which only builds with the
// tag faultclock have.
func Shift(by func() time.Duration) { shift.Store(&by) }

func machine() reading {
	now := time.Now()
	r := reading{wall: now.Round(0), mono: now.Sub(born)}
	if by := shift.Load(); by != nil {
		r.wall = r.wall.Add((*by)())
	}
	return r
}

// Stopwatch measures a span by the monotonic clock. One that was never started has run forever.
type Stopwatch struct{ begun time.Time }

// Start returns a running stopwatch.
func Start() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed returns the time since the start.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.begun) }

// Begun returns when the machine's wall clock says that it was started: for log records, which decide nothing.
func (s Stopwatch) Begun() time.Time { return s.begun }

// In returns the instant d from now, for deadlines of connections and timers of this process. It carries a monotonic
// reading, and must not be stored.
func In(d time.Duration) time.Time { return time.Now().Add(d) }
