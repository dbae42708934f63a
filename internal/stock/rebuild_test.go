package stock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// house is the claims of a ledger, for any number of gatekeepers.
type house struct {
	Journal

	mu     sync.Mutex
	free   time.Time // the end of the last claim
	claims int
	begun  []time.Time
	err    error // that every rebuild ends with
	down   bool  // the gate is out of reach
	stall  bool  // holds are read for ever
}

// lostGate is a gate that has lost everything.
type lostGate struct {
	Gate

	house *house
}

var errDown = errors.New("out of reach")

func (h lostGate) Try(context.Context, Hold) (Verdict, error) {
	return Verdict{Answer: Cold, Unknown: !h.house.down}, nil
}

func (h lostGate) Apply(_ context.Context, ops []Op) ([]bool, error) {
	if h.house.down {
		return make([]bool, len(ops)), errDown
	}
	return make([]bool, len(ops)), nil
}

func (h *house) ClaimRebuild(_ context.Context, _ Scope, now, until time.Time) (bool, time.Time, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims++
	if !h.free.Before(now) {
		return false, h.free.Add(time.Millisecond), nil
	}
	h.free = until
	return true, time.Time{}, nil
}

func (h *house) RenewRebuild(_ context.Context, _ Scope, was, until time.Time) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.free.Equal(was) {
		return false, nil
	}
	h.free = until
	return true, nil
}

func (h *house) EndRebuild(_ context.Context, _ Scope, was time.Time, _ string, next time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free.Equal(was) {
		h.free = next.Add(-time.Millisecond)
	}
	return nil
}

func (h lostGate) BeginRebuild(context.Context, Scope) (string, error) {
	h.house.mu.Lock()
	defer h.house.mu.Unlock()
	h.house.begun = append(h.house.begun, time.Now())
	return "epoch", nil
}

func (h *house) BeginImage(context.Context, Scope) error { return h.err }

func (h *house) ReadHolds(ctx context.Context, _ Scope, _ time.Time, each func([]HoldState) error) error {
	for h.stall {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		if err := each(nil); err != nil {
			return err
		}
	}
	return nil
}

func (h lostGate) Load(context.Context, Image) error { return nil }

func (h *house) Image(context.Context, Scope, int) (Image, []string, bool, error) {
	return Image{}, nil, false, nil
}

func (h lostGate) FinishRebuild(context.Context, Image) error { return nil }

func (h *house) keeper() *Gatekeeper {
	return NewGatekeeper(GatekeeperConfig{Gate: lostGate{house: h}, Journal: h, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// lost has orders ask for the scope ten times a second, of every process.
func lost(span time.Duration, keepers ...*Gatekeeper) {
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, k := range keepers {
			k.Try(context.Background(), Hold{ID: "a", Scope: StockOf(7), Lines: []Line{{Item: 1, Qty: 1}}})
			k.apply(context.Background(), []Entry{{Scope: StockOf(7), Ops: []Op{{Kind: OpHeld}}}})
		}
	}
	synctest.Wait()
}

func pauses(at []time.Time) []time.Duration {
	var between []time.Duration
	for i := 1; i < len(at); i++ {
		between = append(between, at[i].Sub(at[i-1]).Round(200*time.Millisecond))
	}
	return between
}

// A scope that is lost again and again is rebuilt at once, and then every ten seconds, however many processes miss it.
func TestGatekeeper_rebuildsEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{}
		a, b := h.keeper(), h.keeper()
		begun := time.Now()
		lost(time.Minute, a, b)
		if len(h.begun) != 6 || h.begun[0].Sub(begun) > time.Second || h.claims > 20 {
			t.Errorf("%d rebuilds, the first after %v, %d claims", len(h.begun), h.begun[0].Sub(begun), h.claims)
		}
		for _, p := range pauses(h.begun) {
			if p != 10*time.Second {
				t.Error("between two rebuilds passed", p)
			}
		}
		a.Close()
		b.Close()
	})
}

// What fails is tried less and less often.
func TestGatekeeper_backsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{err: errDown}
		k := h.keeper()
		lost(5*time.Minute, k)
		want := []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute, time.Minute}
		for i, p := range pauses(h.begun) {
			if i < len(want) && p != want[i] {
				t.Errorf("pause %d is %v, want %v", i, p, want[i])
			}
		}
		if len(h.begun) != 7 {
			t.Errorf("%d rebuilds have begun", len(h.begun))
		}
		k.Close()
	})
}

// While the gate is out of reach, a rebuild would help nothing: none is claimed. It begins as soon as the gate says that
// it knows nothing.
func TestGatekeeper_claimsNothingWhileDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{down: true}
		k := h.keeper()
		lost(time.Minute, k)
		if h.claims != 0 {
			t.Errorf("%d claims", h.claims)
		}
		h.down = false
		lost(time.Second, k)
		if len(h.begun) != 1 {
			t.Errorf("%d rebuilds have begun", len(h.begun))
		}
		k.Close()
	})
}

// A long rebuild keeps its claim, and no other process begins one. A rebuild that has lost its claim stops.
func TestGatekeeper_keepsItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{stall: true}
		a, b := h.keeper(), h.keeper()
		lost(30*time.Second, a, b)
		if len(h.begun) != 1 {
			t.Errorf("%d rebuilds have begun beside each other", len(h.begun))
		}
		synctest.Wait()
		h.mu.Lock()
		h.free = time.Now() // as if the claim had run out and another had been made
		h.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, k := range []*Gatekeeper{a, b} {
			k.mu.Lock()
			if k.rebuilds[StockOf(7)].running {
				t.Error("a rebuild goes on without its claim")
			}
			k.mu.Unlock()
		}
		a.Close()
		b.Close()
	})
}
