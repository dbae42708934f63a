package stock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/testenv"
)

// fakeStore keeps rebuild claims for any number of syncers.
type fakeStore struct {
	SyncStore

	mu     sync.Mutex
	free   time.Time // the end of the last claim
	claims int
	begun  []time.Time
	err    error // error of every rebuild
	down   bool  // the cache is out of reach
	stall  bool  // reading of holds never ends
}

// emptyCache is an admission cache that has lost everything.
type emptyCache struct {
	AdmissionCache

	store *fakeStore
}

var errDown = errors.New("out of reach")

func (h emptyCache) Reserve(context.Context, Hold) (AdmissionResult, error) {
	return AdmissionResult{Status: Cold, Missing: !h.store.down}, nil
}

func (h emptyCache) Apply(_ context.Context, ops []Op) ([]bool, error) {
	if h.store.down {
		return make([]bool, len(ops)), errDown
	}
	return make([]bool, len(ops)), nil
}

func (h *fakeStore) ClaimRebuild(_ context.Context, _ Scope, now, until time.Time) (bool, time.Time, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims++
	if !h.free.Before(now) {
		return false, h.free.Add(time.Millisecond), nil
	}
	h.free = until
	return true, time.Time{}, nil
}

func (h *fakeStore) RenewRebuild(_ context.Context, _ Scope, heldUntil, until time.Time) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.free.Equal(heldUntil) {
		return false, nil
	}
	h.free = until
	return true, nil
}

func (h *fakeStore) EndRebuild(_ context.Context, _ Scope, heldUntil time.Time, _ string, next time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free.Equal(heldUntil) {
		h.free = next.Add(-time.Millisecond)
	}
	return nil
}

func (h emptyCache) BeginRebuild(context.Context, Scope) (string, error) {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	h.store.begun = append(h.store.begun, time.Now())
	return "epoch", nil
}

func (h *fakeStore) PrepareRebuild(context.Context, Scope) error { return h.err }

func (h *fakeStore) ReadHolds(ctx context.Context, _ Scope, _ time.Time, each func([]HoldState) error) error {
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

func (h emptyCache) Load(context.Context, ScopeSnapshot) error { return nil }

func (h *fakeStore) Snapshot(context.Context, Scope, int) (ScopeSnapshot, []string, bool, error) {
	return ScopeSnapshot{}, nil, false, nil
}

func (h emptyCache) FinishRebuild(context.Context, ScopeSnapshot) error { return nil }

func (h *fakeStore) syncer() *Syncer {
	return NewSyncer(SyncerConfig{Cache: emptyCache{store: h}, Store: h, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// requestRebuilds requests the scope ten times a second from every process, as orders do.
func requestRebuilds(span time.Duration, syncers ...*Syncer) {
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, k := range syncers {
			k.Reserve(context.Background(), Hold{ID: "a", Scope: StockScope(7), Lines: []Line{{Item: 1, Qty: 1}}})
			k.applyEntries(context.Background(), []OutboxEntry{{Scope: StockScope(7), Ops: []Op{{Kind: OpHeld}}}})
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

// A scope that keeps being lost is rebuilt at once, and then every ten seconds, however many processes request it.
func TestSyncer_rebuilds_every_ten_seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeStore{}
		a, b := h.syncer(), h.syncer()
		begun := time.Now()
		requestRebuilds(time.Minute, a, b)
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

// A rebuild that keeps failing is retried at growing intervals.
func TestSyncer_rebuild_backs_off(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeStore{err: errDown}
		k := h.syncer()
		requestRebuilds(5*time.Minute, k)
		want := []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute, time.Minute}
		for i, p := range pauses(h.begun) {
			if i < len(want) && p != want[i] {
				t.Errorf("pause %d is %v, want %v", i, p, want[i])
			}
		}
		testenv.Equal(t, 7, len(h.begun))
		k.Close()
	})
}

// While the cache is unreachable a rebuild would be useless, so none is claimed. It begins as soon as the cache
// reports an unknown scope.
func TestSyncer_no_rebuild_while_cache_is_down(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeStore{down: true}
		k := h.syncer()
		requestRebuilds(time.Minute, k)
		testenv.Equal(t, 0, h.claims)
		h.down = false
		requestRebuilds(time.Second, k)
		testenv.Equal(t, 1, len(h.begun))
		k.Close()
	})
}

// A long rebuild keeps its claim, and no other process begins one. A rebuild that has lost its claim stops.
func TestSyncer_renews_rebuild_claim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeStore{stall: true}
		a, b := h.syncer(), h.syncer()
		requestRebuilds(30*time.Second, a, b)
		if len(h.begun) != 1 {
			t.Errorf("%d rebuilds have begun beside each other", len(h.begun))
		}
		synctest.Wait()
		h.mu.Lock()
		h.free = time.Now() // as if the claim had run out and another had been made
		h.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, k := range []*Syncer{a, b} {
			k.mu.Lock()
			if k.rebuilds[StockScope(7)].running {
				t.Error("a rebuild goes on without its claim")
			}
			k.mu.Unlock()
		}
		a.Close()
		b.Close()
	})
}
