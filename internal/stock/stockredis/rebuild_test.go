package stockredis

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/keyspace"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func TestCache_cold_during_rebuild(t *testing.T) { // G5
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 3})
		f.wantTry(h, stock.Admitted)
		epoch := f.begin()
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 1}), stock.Cold)
		applied, err := f.Apply(f.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: h}, {Kind: stock.OpConfirm, Hold: h}})
		if d := cmp.Diff([]bool{false, false}, applied); d != "" || err != nil {
			t.Error(d, err)
		}
		if _, ok, err := f.Counts(f.Context(), f.scope, []int64{noodles}); ok || err != nil {
			t.Errorf("counters of a scope being rebuilt: %t, %v", ok, err)
		}

		// SQL had the hold when the snapshot was read. The operation that Redis did not apply is sent again.
		testenv.NoError(t, f.FinishRebuild(f.Context(), f.image(epoch, stock.HoldState{Hold: h, State: stock.Held})))
		f.wantCount(noodles, 3, 0)
		f.wantApply(stock.OpHeld, h, alreadyApplied)
		f.wantApply(stock.OpConfirm, h, changed)
		f.wantCount(noodles, 0, 3)
	})
}

func TestCache_rebuild_states(t *testing.T) {
	each(t, func(f *fixture) {
		var holds []stock.HoldState
		for _, s := range []stock.State{stock.Held, stock.Confirmed, stock.Released, stock.Returned} {
			h := f.hold(stock.Line{Item: tea, Qty: 1})
			f.wantTry(h, stock.Admitted) // a rebuild forgets provisional holds of the old epoch
			holds = append(holds, stock.HoldState{Hold: h, State: s})
		}
		for range 3 * maxBatch { // more than fit into one call
			holds = append(holds, stock.HoldState{Hold: f.hold(stock.Line{Item: tea, Qty: 1}), State: stock.Held})
		}
		f.rebuild(holds...)
		for _, h := range holds {
			if got := f.state(h.Hold.ID); got != h.State {
				t.Fatalf("a hold in %s came back as %s", h.State, got)
			}
		}
		f.wantCount(tea, 3*maxBatch+1, 1)
		if due, err := f.ExpiredProvisional(f.Context(), f.scope, f.now.Add(time.Hour), 10); len(due) != 0 || err != nil {
			t.Errorf("provisional holds of holds that SQL has: %v, %v", due, err)
		}
		f.wantApply(stock.OpConfirm, holds[0].Hold, changed)
		f.wantApply(stock.OpReturn, holds[1].Hold, changed)
		f.wantTry(holds[2].Hold, stock.Ended)
		f.wantApply(stock.OpHeld, holds[3].Hold, conflict)
		f.wantCount(tea, 3*maxBatch, 1)
	})
}

// A provisional hold that is not in the snapshot was not committed. If its order commits later, it is counted then.
func TestCache_rebuild_drops_provisional_holds(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 3})
		f.wantTry(h, stock.Admitted)
		f.rebuild()
		f.wantCount(noodles, 0, 0)
		f.wantApply(stock.OpHeld, h, changed)
		f.wantCount(noodles, 3, 0)
		f.wantApply(stock.OpCancel, h, changed)
		f.wantCount(noodles, 0, 0)
	})
}

func TestCache_rebuilds_never_mix(t *testing.T) { // G5
	each(t, func(f *fixture) {
		a, b := f.hold(stock.Line{Item: noodles, Qty: 1}), f.hold(stock.Line{Item: noodles, Qty: 2})
		first := f.begin()
		image := f.image(first, stock.HoldState{Hold: a, State: stock.Held})
		mine := loader{g: f.Cache, im: image, end: f.now.Add(time.Hour)}
		testenv.NoError(t, errors.Join(mine.hold(f.Context(), mine.im.Holds[0]), mine.flush(f.Context())))
		second := f.begin()
		if err := f.FinishRebuild(f.Context(), mine.im); !errors.Is(err, ErrSuperseded) {
			t.Errorf("the first rebuild finished: %v", err)
		}
		args := []string{first, millis(f.now.Add(time.Hour)), ttlMillis(time.Hour), ttlMillis(time.Hour)}
		if n, err := f.db.Run(f.Context(), finishScript, counterKeys(f.scope, 0), args).Int(); n != 0 || err != nil {
			t.Errorf("the first rebuild's last step was accepted: %d, %v", n, err)
		}
		f.wantTry(f.hold(stock.Line{Item: noodles, Qty: 1}), stock.Cold)
		testenv.NoError(t, f.FinishRebuild(f.Context(), f.image(second, stock.HoldState{Hold: b, State: stock.Held})))
		if err := f.FinishRebuild(f.Context(), mine.im); !errors.Is(err, ErrSuperseded) {
			t.Errorf("the first rebuild overwrote a finished one: %v", err)
		}
		f.wantCount(noodles, 2, 0)
		if s := f.state(a.ID); s != "" {
			t.Errorf("a hold of the first image is in %s", s)
		}
	})
}

func TestCache_rebuild_fails_after_flush(t *testing.T) {
	each(t, func(f *fixture) {
		epoch := f.begin()
		testenv.NoError(t, f.db.Do(f.Context(), "DEL", counterKeys(f.scope, 0)[0]).Err())
		if err := f.FinishRebuild(f.Context(), f.image(epoch)); !errors.Is(err, ErrSuperseded) {
			t.Errorf("a rebuild finished over an emptied Redis: %v", err)
		}
	})
}

// A scope of the previous day that is rebuilt for a refund lives for an hour instead of expiring at once.
func TestCache_rebuild_after_end_of_day(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 1})
		im := f.image(f.begin(), stock.HoldState{Hold: h, State: stock.Confirmed})
		im.Ends = f.now.Add(-40 * time.Hour)
		testenv.NoError(t, f.FinishRebuild(f.Context(), im))
		f.wantApply(stock.OpReturn, h, changed)
		for _, key := range counterKeys(f.scope, 0) {
			ms, err := f.db.Do(f.Context(), "PTTL", key).Int()
			if d := time.Duration(ms) * time.Millisecond; err != nil || d <= minTTL/2 || d > minTTL {
				t.Errorf("%s lives %s, %v", key, d, err)
			}
		}
	})
}

// The TTLs of qr-ordering.md, counted from the end of the business day.
func TestCache_key_ttls(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.hold(stock.Line{Item: noodles, Qty: 1})
		f.wantTry(h, stock.Admitted)
		ends := f.now.Add(20 * time.Hour)
		counters := counterKeys(f.scope, 0)
		for key, want := range map[keyspace.Key]time.Time{
			counters[0]:              ends.Add(36 * time.Hour),
			counters[1]:              ends.Add(12 * time.Hour),
			counters[2]:              ends.Add(36 * time.Hour),
			recordKey(f.scope, h.ID): ends.Add(12 * time.Hour),
		} {
			ms, err := f.db.Do(f.Context(), "PTTL", key).Int()
			if got := time.Now().Add(time.Duration(ms) * time.Millisecond); err != nil || got.Sub(want).Abs() > time.Minute {
				t.Errorf("%s ends at %s, want %s, %v", key, got, want, err)
			}
			if ttl := key.Decl().TTL; time.Duration(ms)*time.Millisecond > ttl.Max {
				t.Errorf("%s lives longer than declared", key)
			}
		}
	})
}
