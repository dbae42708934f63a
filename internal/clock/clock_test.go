package clock

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// fakeClocks is a machine and an authority with clocks that a test sets.
type fakeClocks struct {
	truth time.Time     // the authority's time
	wall  time.Duration // how far the wall clock is ahead of truth
	mono  time.Duration
	mu    sync.Mutex // guards truth and mono: a measurement advances them while other goroutines read the machine

	trip   time.Duration // duration of a reply
	during func()        // called between request and reply
	err    error
}

func newFakeClocks() *fakeClocks { return &fakeClocks{truth: noon, mono: 5 * time.Hour} }

func (w *fakeClocks) machine() reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	return reading{wall: w.truth.Add(w.wall), mono: w.mono}
}

func (w *fakeClocks) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.truth, w.mono = w.truth.Add(d), w.mono+d
}

func (w *fakeClocks) suspend(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.truth = w.truth.Add(d)
}

func (w *fakeClocks) answer(context.Context) (time.Time, error) {
	w.advance(w.trip / 2)
	at := w.truth
	if w.during != nil {
		w.during()
	}
	w.advance(w.trip / 2)
	return at, w.err
}

func (w *fakeClocks) clock(t testing.TB) *Clock {
	t.Helper()
	c := start(w.answer, w.machine)
	measure(t, c)
	return c
}

func measure(t testing.TB, c *Clock) {
	t.Helper()
	testenv.NoError(t, c.Measure(t.Context()))
}

func wantClock(t *testing.T, c *Clock, now time.Time, reliable bool, s Steps) {
	t.Helper()
	if got := c.Now(); !got.Equal(now) || got.Location() != time.UTC {
		t.Errorf("it is %v, want %v", got, now)
	}
	if st := c.State(); st.Reliable != reliable || c.Reliable() != reliable || st.Steps != s {
		t.Errorf("reliable %t after %+v, want %t after %+v", st.Reliable, st.Steps, reliable, s)
	}
}

func TestClock_begins(t *testing.T) {
	w := newFakeClocks()
	w.wall = time.Hour
	c := start(w.answer, w.machine)
	wantClock(t, c, noon.Add(time.Hour), false, Steps{}) // before the first measurement
	measure(t, c)
	wantClock(t, c, noon, true, Steps{})
	w.trip = 200 * time.Millisecond // the same in both directions
	measure(t, c)
	wantClock(t, c, w.truth, true, Steps{})
	testenv.Equal(t, -time.Hour, c.State().Offset)
	wantClock(t, start(nil, w.machine), w.truth.Add(time.Hour), true, Steps{})
}

func TestClock_wall_is_set(t *testing.T) { // C1, C2, C3
	for _, by := range []time.Duration{time.Hour, -time.Hour, Step, -Step} {
		w := newFakeClocks()
		c := w.clock(t)
		w.advance(time.Minute)
		w.wall += by
		wantClock(t, c, w.truth, false, Steps{})
		w.wall -= by // still in doubt: only a measurement ends it
		wantClock(t, c, w.truth, false, Steps{})
		w.wall += by
		measure(t, c)
		wantClock(t, c, w.truth, true, Steps{Machine: 1})
		w.wall -= by
		wantClock(t, c, w.truth, false, Steps{Machine: 1})
		measure(t, c)
		wantClock(t, c, w.truth, true, Steps{Machine: 2})
	}
	w := newFakeClocks()
	c := w.clock(t)
	w.wall += Step - time.Millisecond // as NTP may adjust it
	wantClock(t, c, w.truth, true, Steps{})
}

func TestClock_machine_is_suspended(t *testing.T) {
	w := newFakeClocks()
	c := w.clock(t)
	w.suspend(8 * time.Hour)
	wantClock(t, c, noon, false, Steps{})
	measure(t, c)
	wantClock(t, c, noon.Add(8*time.Hour), true, Steps{Machine: 1})
}

func TestClock_deciding_clock_is_set(t *testing.T) { // C4
	w := newFakeClocks()
	c := w.clock(t)
	for _, by := range []time.Duration{time.Hour, -2 * time.Hour} {
		w.advance(time.Minute)
		before := w.truth
		w.truth, w.wall = w.truth.Add(by), w.wall-by // the machine's clock stays
		wantClock(t, c, before, true, c.State().Steps)
		measure(t, c)
		wantClock(t, c, w.truth, true, c.State().Steps)
	}
	wantClock(t, c, w.truth, true, Steps{Forward: 1, Back: 1})
	w.truth = w.truth.Add(-time.Hour) // the machine of both processes
	measure(t, c)
	wantClock(t, c, w.truth, true, Steps{Machine: 1, Forward: 1, Back: 2})
}

func TestClock_samples(t *testing.T) {
	w := newFakeClocks()
	c := w.clock(t)
	trips := []time.Duration{400 * time.Millisecond, 20 * time.Millisecond, 80 * time.Millisecond}
	measurements := 0
	w.during = func() { w.trip = trips[measurements%3]; measurements++ } // takes the durations of replies from the list
	measure(t, c)
	if s := c.State(); measurements != 3 || s.Uncertainty > 110*time.Millisecond {
		t.Errorf("%d samples, uncertainty %v, want 3 and at most 110 ms", measurements, s.Uncertainty)
	}
	kept := c.State()
	w.during, w.trip = nil, 3*time.Second
	testenv.ErrorIs(t, ErrVague, c.Measure(t.Context()), "a clock was measured by answers that took seconds")
	w.trip, w.err = 0, errors.New("out of reach")
	w.wall += time.Hour
	if err := c.Measure(t.Context()); !errors.Is(err, w.err) || c.Reliable() {
		t.Errorf("Reliable = %t after %v, want false after the error of the source", c.Reliable(), err)
	}
	if s := c.State(); s.Uncertainty != kept.Uncertainty || s.Age < 9*time.Second {
		t.Errorf("state after a failure = %+v, want the one from before", s)
	}
}

// A round trip does not include the time for which the machine is suspended.
func TestClock_suspended_during_a_measurement(t *testing.T) {
	w := newFakeClocks()
	c := w.clock(t)
	times := 0
	w.during = func() {
		if times++; times == 1 {
			w.suspend(time.Hour)
		}
	}
	measure(t, c)
	wantClock(t, c, w.truth, true, Steps{Machine: 1})
	testenv.Equal(t, 2, times)
}

func TestClock_set_behind_the_sample(t *testing.T) {
	w := newFakeClocks()
	c := w.clock(t)
	readings := 0
	c.machine = func() reading {
		if readings++; readings == 3 { // one reading before the reply, one after it, and then the final comparison
			w.wall += time.Hour
		}
		return w.machine()
	}
	measure(t, c)
	if c.doubt.Load() == nil {
		t.Error("the doubt was ended by a measurement from before the step")
	}
}

func TestClock_wall_decides(t *testing.T) { // C5
	w := newFakeClocks()
	c := start(nil, w.machine)
	now := func() time.Time { return w.truth.Add(w.wall) }
	var moved []time.Duration
	var failure error
	c.MoveWith(func(_ context.Context, by time.Duration, set func()) error {
		if before := c.Now(); !before.Equal(now().Add(-by)) {
			t.Errorf("Now before the move = %v with a step of %v, want the old time", before, by)
		}
		set()
		if !c.Now().Equal(now()) {
			t.Errorf("Now at the end of the transaction = %v, want the new time", c.Now())
		}
		if failure == nil {
			moved = append(moved, by)
		}
		return failure
	})
	w.advance(time.Minute)
	w.wall = time.Hour
	wantClock(t, c, w.truth, false, Steps{})
	failure = errors.New("the disk is full")
	for range 2 {
		testenv.ErrorIs(t, failure, c.Measure(t.Context()))
		w.advance(time.Minute)
		wantClock(t, c, w.truth, false, Steps{}) // the clock continues from before the step
	}
	failure = nil
	measure(t, c)
	wantClock(t, c, now(), true, Steps{Machine: 1, Forward: 1})
	w.advance(time.Minute)
	measure(t, c) // reported only once
	w.wall = -time.Hour
	measure(t, c)
	wantClock(t, c, now(), true, Steps{Machine: 2, Forward: 1, Back: 1})
	w.wall += Step - time.Millisecond // as NTP may adjust it
	measure(t, c)
	if want := []time.Duration{time.Hour, -2 * time.Hour}; !slices.Equal(moved, want) {
		t.Errorf("deadlines were moved by %v, want %v", moved, want)
	}
}

// A step during a move is a separate step.
func TestClock_wall_is_set_during_a_move(t *testing.T) { // C5
	w := newFakeClocks()
	c := start(nil, w.machine)
	var moved time.Duration
	c.MoveWith(func(_ context.Context, by time.Duration, set func()) error {
		if moved == 0 {
			w.wall -= 30 * time.Minute
		}
		moved += by
		set()
		return nil
	})
	w.wall = time.Hour
	measure(t, c)
	wantClock(t, c, w.truth.Add(time.Hour), false, Steps{Machine: 1, Forward: 1})
	measure(t, c)
	wantClock(t, c, w.truth.Add(30*time.Minute), true, Steps{Machine: 2, Forward: 1, Back: 1})
	testenv.Equal(t, 30*time.Minute, moved)
}

// With an authority no deadline moves, because other processes share its time.
func TestClock_authority_is_not_adjusted(t *testing.T) {
	w := newFakeClocks()
	c := w.clock(t)
	c.MoveWith(func(context.Context, time.Duration, func()) error { panic("moved") })
	w.truth = w.truth.Add(-time.Hour)
	measure(t, c)
	wantClock(t, c, w.truth, true, Steps{Machine: 1, Back: 1})
}

// Whatever happens to a deciding wall clock, everything open keeps its remaining time: by the monotonic clock, it ends
// neither before its window is over nor later than one sweep afterwards.
func TestClock_wall_model(t *testing.T) { // C5
	const window = 10 * time.Minute
	rapid.Check(t, func(rt *rapid.T) {
		w := newFakeClocks()
		c := start(nil, w.machine)
		type order struct {
			placed time.Duration
			due    time.Time
		}
		var orders []order
		fails := false
		c.MoveWith(func(_ context.Context, by time.Duration, set func()) error {
			set()
			if fails {
				return errors.New("the disk is full")
			}
			for i := range orders {
				orders[i].due = orders[i].due.Add(by)
			}
			return nil
		})
		var slewed time.Duration // by less than a step at a time
		span := func(rt *rapid.T, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(rt, "span"))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"pass": func(rt *rapid.T) { w.advance(span(rt, window)); c.Reliable() },
			"set":  func(rt *rapid.T) { w.wall += span(rt, 4*time.Hour) - 2*time.Hour; c.Reliable() },
			"measure": func(rt *rapid.T) {
				fails = rapid.Bool().Draw(rt, "fails")
				before := c.anchor.Load()
				if by := before.wallAhead(w.machine()); by.Abs() < Step {
					slewed += by.Abs()
				}
				_ = c.Measure(t.Context())
			},
			"place": func(*rapid.T) { orders = append(orders, order{w.mono, c.Now().Add(window)}) },
			"sweep": func(rt *rapid.T) {
				if !c.Reliable() {
					return
				}
				left := orders[:0]
				for _, o := range orders {
					lived, due := w.mono-o.placed, !c.Now().Before(o.due)
					if early := due && lived < window-slewed-time.Millisecond; early || !due && lived > window+slewed+time.Millisecond {
						rt.Fatalf("an order has lived for %v and is due: %t", lived, due)
					}
					if !due {
						left = append(left, o)
					}
				}
				orders = left
			},
		})
	})
}

func TestClock_Watch_and_Await(t *testing.T) {
	w := newFakeClocks()
	c := w.clock(t)
	doubted := make(chan struct{}, 8)
	c.Watch(slog.New(slog.DiscardHandler), func() { doubted <- struct{}{} })
	testenv.NoError(t, c.Await(t.Context()))
	w.wall = time.Hour
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.ErrorIs(t, context.Canceled, c.Await(impatient), "a clock in doubt is not waited for")
	<-doubted
	waited := make(chan error)
	go func() { waited <- c.Await(t.Context()) }()
	measure(t, c)
	testenv.NoError(t, <-waited)
	c.Now()
	if len(doubted) > 0 {
		t.Error("one step is doubted twice")
	}
}

// Two processes on separate machines create and expire orders by one authority. Whatever happens to the clocks of one
// machine, no order expires before its window is over, and none survives the next sweep.
func TestClock_model(t *testing.T) {
	const (
		window = 10 * time.Minute
		worst  = Step + 2*vague // a suspension too short to detect, plus the error of both measurements
	)
	rapid.Check(t, func(rt *rapid.T) {
		type process struct {
			*fakeClocks
			*Clock
		}
		processes := make([]process, 2)
		for i := range processes {
			w := newFakeClocks()
			processes[i] = process{w, w.clock(t)}
		}
		type order struct{ placed, expires time.Time }
		var orders []order
		pick := func(rt *rapid.T) process { return processes[rapid.IntRange(0, 1).Draw(rt, "process")] }
		span := func(rt *rapid.T, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(rt, "span"))
		}
		// Time passes for both at once. Servers read the clock all the time, so every change is read.
		pass := func(d time.Duration) {
			for _, p := range processes {
				p.advance(d)
				p.Reliable()
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"pass": func(rt *rapid.T) { pass(span(rt, window)) },
			"set": func(rt *rapid.T) {
				p := pick(rt)
				p.wall += span(rt, 4*time.Hour) - 2*time.Hour
				p.Reliable()
			},
			"suspend": func(rt *rapid.T) {
				p, d := pick(rt), span(rt, time.Hour)
				for _, other := range processes {
					if other.fakeClocks == p.fakeClocks {
						other.suspend(d)
					} else {
						other.advance(d)
					}
					other.Reliable()
				}
			},
			"measure": func(rt *rapid.T) {
				p := pick(rt)
				before := p.truth
				p.trip = span(rt, 2*vague)
				p.err = rapid.SampledFrom([]error{nil, nil, errors.New("out of reach")}).Draw(rt, "err")
				_ = p.Measure(t.Context())
				passed := p.truth.Sub(before)
				for _, other := range processes { // the same time passes for the other process
					if other.fakeClocks != p.fakeClocks {
						other.advance(passed)
					}
				}
			},
			"place": func(rt *rapid.T) {
				p := pick(rt)
				for p.doubt.Load() != nil { // as a request does
					p.trip, p.err = 0, nil
					measure(t, p.Clock)
				}
				orders = append(orders, order{p.truth, p.Now().Add(window)})
			},
			"sweep": func(rt *rapid.T) {
				p := pick(rt)
				if !p.Reliable() {
					return
				}
				now, left := p.Now(), orders[:0]
				for _, o := range orders {
					lived := p.truth.Sub(o.placed)
					switch due := !now.Before(o.expires); {
					case due && lived < window-worst:
						rt.Fatalf("an order has ended after %v", lived)
					case !due && lived > window+worst:
						rt.Fatalf("an order is left after %v", lived)
					case !due:
						left = append(left, o)
					}
				}
				orders = left
			},
		})
	})
}

func TestStopwatch(t *testing.T) {
	var never Stopwatch
	if never.Elapsed() < 100*365*24*time.Hour {
		t.Errorf("Elapsed of a stopwatch that was not started = %v, want at least 100 years", never.Elapsed())
	}
	s := Start()
	if d := s.Elapsed(); d < 0 || d > time.Minute {
		t.Errorf("Elapsed = %v, want at most a minute", d)
	}
	if d := In(time.Hour).Sub(s.Begun()); d < time.Hour || d > time.Hour+time.Minute {
		t.Errorf("In(1h) is %v after the start, want one hour", d)
	}
}

// A build without the tag faultclock reads the wall clock of the machine.
func TestMachine(t *testing.T) {
	if shift.Load() != nil {
		t.Fatal("the wall clock is shifted")
	}
	if d := time.Since(OfMachine().Now()).Abs(); d > 5*time.Second {
		t.Errorf("machine's clock is %v away from itself, want at most 5s", d)
	}
}
