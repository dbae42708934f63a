package clock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Step is by how much two clocks must part before one of them counts as set. Clocks that are kept by NTP are corrected
// by far less at a time.
const Step = time.Second

const (
	samples = 3                      // of one measurement; the one with the shortest round trip counts
	precise = 5 * time.Millisecond   // an uncertainty that another sample is not worth asking for
	vague   = 500 * time.Millisecond // an uncertainty with which a sample is of no use
)

// ErrVague is returned by Measure when every round trip took so long, or was so disturbed, that its time says too little.
var ErrVague = errors.New("clock: the answers took too long to measure the time by them")

// Authority asks the clock that decides for its time.
type Authority func(ctx context.Context) (time.Time, error)

// Move moves the deadlines of what is open by as much as a wall clock that decides was set. It calls set within the
// transaction that moves them, as the last thing before the commit: Now is the new time from then on. Where no other writer
// can run between the two, no deadline is ever compared with a time that it was not given by.
type Move func(ctx context.Context, by time.Duration, set func()) error

// Clock is the deciding clock as one process knows it. It is safe for concurrent use.
type Clock struct {
	authority Authority // nil: the wall clock decides
	machine   func() reading

	anchor atomic.Pointer[anchor]
	doubt  atomic.Pointer[doubt] // nil: there is none

	mu      sync.Mutex // one measurement at a time; guards what follows
	move    Move       // nil: nothing is moved
	log     *slog.Logger
	onDoubt func()
	steps   Steps
}

// anchor is an instant at which both times are known.
type anchor struct {
	at          time.Time // of the deciding clock
	machine     reading   // at the same moment
	uncertainty time.Duration
	measured    bool // false only before the first measurement of an authority
}

// doubt lasts from a step that was seen to the measurement after it.
type doubt struct{ over chan struct{} }

// Steps counts how often a clock was seen to be set, since the process began.
type Steps struct {
	Machine       int // wall and monotonic clock of this machine have parted: set, or suspended
	Forward, Back int // the deciding clock, by itself
}

// OfMachine returns a clock whose authority is the wall clock of the machine.
func OfMachine() *Clock { return start(nil, machine) }

// Of returns a clock that an authority decides. Until the first measurement it shows the time of the machine, and is in
// doubt.
func Of(a Authority) *Clock { return start(a, machine) }

func start(a Authority, machine func() reading) *Clock {
	c := &Clock{authority: a, machine: machine, log: slog.New(slog.DiscardHandler), onDoubt: func() {}}
	now := machine()
	c.anchor.Store(&anchor{at: now.wall, machine: now, measured: a == nil})
	if a != nil {
		c.doubt.Store(&doubt{make(chan struct{})})
	}
	return c
}

// Watch sets where steps are logged, and what is called when the time comes into doubt. onDoubt must not block; it should
// have Measure called.
func (c *Clock) Watch(log *slog.Logger, onDoubt func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log, c.onDoubt = log, onDoubt
}

// MoveWith sets what moves deadlines when a wall clock that decides was set (C5). It has no effect where an authority
// decides: several processes share its time, and a step of it is followed as it is.
func (c *Clock) MoveWith(m Move) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move = m
}

// Now returns the deciding time, in UTC and whole milliseconds.
func (c *Clock) Now() time.Time {
	a := c.anchor.Load()
	now := c.machine()
	c.compare(a, now)
	return a.derive(now).UTC().Truncate(time.Millisecond)
}

// Settled reports whether something may end by Now. It is false while the time is in doubt (C3).
func (c *Clock) Settled() bool {
	a := c.anchor.Load()
	c.compare(a, c.machine())
	return c.doubt.Load() == nil
}

// Await waits until the time is not in doubt. It returns the context's error when that ends first.
func (c *Clock) Await(ctx context.Context) error {
	a := c.anchor.Load()
	c.compare(a, c.machine())
	for d := c.doubt.Load(); d != nil; d = c.doubt.Load() {
		select {
		case <-d.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// compare is C2. The anchor was loaded before the machine was read. One that was replaced since is no reason for doubt.
func (c *Clock) compare(a *anchor, now reading) {
	parted := a.parted(now)
	if parted.Abs() < Step || c.doubt.Load() != nil || c.anchor.Load() != a {
		return
	}
	if !c.doubt.CompareAndSwap(nil, &doubt{make(chan struct{})}) {
		return
	}
	go c.tell(parted) // a measurement under way holds the lock, and Now does not wait for it
}

func (c *Clock) tell(parted time.Duration) {
	c.mu.Lock()
	log, onDoubt := c.log, c.onDoubt
	c.mu.Unlock()
	log.Warn("the clocks of this machine have parted; nothing ends until the time is measured", "wall_ahead", parted)
	onDoubt()
}

// parted returns how far the wall clock has run ahead of the monotonic clock since the anchor.
func (a *anchor) parted(now reading) time.Duration {
	return now.wall.Sub(a.machine.wall) - (now.mono - a.machine.mono)
}

// derive returns the deciding time without a new measurement (C1).
func (a *anchor) derive(now reading) time.Time { return a.at.Add(now.mono - a.machine.mono) }
