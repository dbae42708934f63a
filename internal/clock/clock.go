package clock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Step is the difference between two clocks from which a clock is considered to have been set. NTP corrects clocks by
// far less at a time.
const Step = time.Second

const (
	samples = 3                      // per measurement; the one with the shortest round trip counts
	precise = 5 * time.Millisecond   // at this uncertainty no further sample is taken
	vague   = 500 * time.Millisecond // from this uncertainty on a sample is discarded
)

// ErrVague is returned by Measure if every round trip took too long or was disturbed, so that no sample is precise
// enough.
var ErrVague = errors.New("clock: the answers took too long to measure the time by them")

// Authority returns the time of the deciding clock.
type Authority func(ctx context.Context) (time.Time, error)

// Move moves open deadlines by the amount that a deciding wall clock was set. It calls set as the last step before
// the commit of its transaction: from then on Now returns the new time. If no other writer can run in between, a
// deadline from before the step is never compared with a time from after it, nor the reverse.
type Move func(ctx context.Context, by time.Duration, set func()) error

// Clock is the deciding clock as one process derives it. It is safe for concurrent use.
type Clock struct {
	authority Authority // nil: the wall clock decides
	machine   func() reading

	anchor atomic.Pointer[anchor]
	doubt  atomic.Pointer[doubt] // nil: no doubt

	mu      sync.Mutex // serializes measurements; guards the fields below
	move    Move       // nil: deadlines do not move
	log     *slog.Logger
	onDoubt func()
	steps   Steps
}

// anchor is an instant at which both times were read.
type anchor struct {
	at          time.Time // time of the deciding clock
	machine     reading   // the machine's clocks at the same instant
	uncertainty time.Duration
	measured    bool // false only before the first measurement of an authority
}

// doubt lasts from a detected step until the next measurement.
type doubt struct{ over chan struct{} }

// Steps counts the detected steps since the process began.
type Steps struct {
	Machine       int // wall and monotonic clock differ: the clock was set, or the machine suspended
	Forward, Back int // the deciding clock itself was set
}

// OfMachine returns a clock whose authority is the wall clock of the machine.
func OfMachine() *Clock { return start(nil, machine) }

// Of returns a clock decided by an authority. Until the first measurement it is in doubt, and Now returns the
// machine's time.
func Of(a Authority) *Clock { return start(a, machine) }

// start returns a clock that initially assumes the machine's time to be the deciding one. With an authority it
// begins in doubt, because that time may be wrong by any amount.
func start(a Authority, machine func() reading) *Clock {
	c := &Clock{authority: a, machine: machine, log: slog.New(slog.DiscardHandler), onDoubt: func() {}}
	now := machine()
	c.anchor.Store(&anchor{at: now.wall, machine: now, measured: a == nil})
	if a != nil {
		c.doubt.Store(&doubt{make(chan struct{})})
	}
	return c
}

// Watch sets the log for steps, and a function to call when a doubt begins. onDoubt must not block; it should cause
// a call of Measure.
func (c *Clock) Watch(log *slog.Logger, onDoubt func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log, c.onDoubt = log, onDoubt
}

// MoveWith sets the function that moves deadlines after a step of a deciding wall clock (C5). It has no effect with an
// authority: several processes share its time, so its steps are followed without moving deadlines.
func (c *Clock) MoveWith(m Move) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move = m
}

// Now returns the deciding time, in UTC and whole milliseconds. It never blocks: every decision calls it. A measurement
// may set it back (C4), so callers must not rely on ascending times.
func (c *Clock) Now() time.Time {
	a := c.anchor.Load()
	now := c.machine()
	c.compare(a, now)
	return a.derive(now).UTC().Truncate(time.Millisecond)
}

// Reliable reports whether deadlines may be enforced by Now. It returns false while the time is in doubt (C3). Loops
// that end something by time skip their round then.
func (c *Clock) Reliable() bool {
	a := c.anchor.Load()
	c.compare(a, c.machine())
	return c.doubt.Load() == nil
}

// Await waits until the time is not in doubt. It returns ctx.Err() if ctx ends first.
func (c *Clock) Await(ctx context.Context) error {
	a := c.anchor.Load()
	c.compare(a, c.machine())
	// Await loops, because another step may follow before this goroutine runs again.
	for d := c.doubt.Load(); d != nil; d = c.doubt.Load() {
		select {
		case <-d.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// compare implements C2. The caller loads the anchor before it reads the machine. If the anchor was replaced since, no
// doubt begins.
func (c *Clock) compare(a *anchor, now reading) {
	ahead := a.wallAhead(now)
	if ahead.Abs() < Step || c.doubt.Load() != nil || c.anchor.Load() != a {
		return
	}
	if !c.doubt.CompareAndSwap(nil, &doubt{make(chan struct{})}) {
		return
	}
	go c.reportStep(ahead) // in a goroutine: a running measurement holds mu, and Now must not wait
}

// reportStep logs a detected step and requests a measurement. It runs once per doubt.
func (c *Clock) reportStep(ahead time.Duration) {
	c.mu.Lock()
	log, onDoubt := c.log, c.onDoubt
	c.mu.Unlock()
	log.Warn("the wall clock of this machine has jumped; nothing expires until the time is measured", "wall_ahead", ahead)
	onDoubt()
}

// wallAhead returns how far the wall clock has moved ahead of the monotonic clock since the anchor.
func (a *anchor) wallAhead(now reading) time.Duration {
	return now.wall.Sub(a.machine.wall) - (now.mono - a.machine.mono)
}

// derive returns the deciding time without a new measurement (C1).
func (a *anchor) derive(now reading) time.Time { return a.at.Add(now.mono - a.machine.mono) }

// reading is the time of both clocks of the machine at one instant.
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

// Wait pauses for d. It returns the error of ctx if ctx ends first.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// In returns the instant d from now, for deadlines of connections and timers of this process. It has a monotonic
// reading and must not be stored.
func In(d time.Duration) time.Time { return time.Now().Add(d) }
