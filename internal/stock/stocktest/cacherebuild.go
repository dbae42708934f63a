package stocktest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func coldDuringRebuild(f *CacheFixture) { // G5
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 3})
	f.WantTry(h, stock.Admitted)
	epoch := f.Begin()
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 1}), stock.Cold)
	applied, err := f.Apply(f.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: h}, {Kind: stock.OpConfirm, Hold: h}})
	if d := cmp.Diff([]bool{false, false}, applied); d != "" || err != nil {
		f.Error(d, err)
	}
	if _, ok, err := f.Counts(f.Context(), f.Scope, []int64{Noodles}); ok || err != nil {
		f.Errorf("counters of a scope being rebuilt: %t, %v", ok, err)
	}

	// SQL had the hold when the snapshot was read. The operation that Redis did not apply is sent again.
	testenv.NoError(f, f.FinishRebuild(f.Context(), f.Snapshot(epoch, stock.HoldState{Hold: h, State: stock.Held})))
	f.WantCount(Noodles, 3, 0)
	f.WantApply(stock.OpHeld, h, stock.Same)
	f.WantApply(stock.OpConfirm, h, stock.Changed)
	f.WantCount(Noodles, 0, 3)
}

func rebuildStates(f *CacheFixture) {
	var holds []stock.HoldState
	for _, s := range []stock.State{stock.Held, stock.Confirmed, stock.Released, stock.Returned} {
		h := f.NewHold(stock.Line{Item: Tea, Qty: 1})
		f.WantTry(h, stock.Admitted) // a rebuild forgets provisional holds of the old epoch
		holds = append(holds, stock.HoldState{Hold: h, State: s})
	}
	for range manyHolds { // more than fit into one call
		holds = append(holds, stock.HoldState{Hold: f.NewHold(stock.Line{Item: Tea, Qty: 1}), State: stock.Held})
	}
	f.Rebuild(holds...)
	for _, h := range holds {
		if got := f.StateOf(h.Hold.ID); got != h.State {
			f.Fatalf("a hold in %s came back as %s", h.State, got)
		}
	}
	f.WantCount(Tea, manyHolds+1, 1)
	if due, err := f.ExpiredProvisional(f.Context(), f.Scope, f.Now.Add(time.Hour), 10); len(due) != 0 || err != nil {
		f.Errorf("provisional holds of holds that SQL has: %v, %v", due, err)
	}
	f.WantApply(stock.OpConfirm, holds[0].Hold, stock.Changed)
	f.WantApply(stock.OpReturn, holds[1].Hold, stock.Changed)
	f.WantTry(holds[2].Hold, stock.Ended)
	f.WantApply(stock.OpHeld, holds[3].Hold, stock.Opposite)
	f.WantCount(Tea, manyHolds, 1)
}

// A provisional hold that is not in the snapshot was not committed. If its order commits later, it is counted then.
func rebuildDropsProvisionalHolds(f *CacheFixture) {
	h := f.NewHold(stock.Line{Item: Noodles, Qty: 3})
	f.WantTry(h, stock.Admitted)
	f.Rebuild()
	f.WantCount(Noodles, 0, 0)
	f.WantApply(stock.OpHeld, h, stock.Changed)
	f.WantCount(Noodles, 3, 0)
	f.WantApply(stock.OpCancel, h, stock.Changed)
	f.WantCount(Noodles, 0, 0)
}

func rebuildsNeverMix(f *CacheFixture) { // G5
	a, b := f.NewHold(stock.Line{Item: Noodles, Qty: 1}), f.NewHold(stock.Line{Item: Noodles, Qty: 2})
	first := f.Begin()
	image := f.Snapshot(first, stock.HoldState{Hold: a, State: stock.Held})
	testenv.NoError(f, f.Load(f.Context(), image))
	second := f.Begin()
	if err := f.Load(f.Context(), image); !errors.Is(err, stock.ErrSuperseded) {
		f.Errorf("the first rebuild goes on: error %v, want ErrSuperseded", err)
	}
	if err := f.FinishRebuild(f.Context(), image); !errors.Is(err, stock.ErrSuperseded) {
		f.Errorf("the first rebuild finished: error %v, want ErrSuperseded", err)
	}
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 1}), stock.Cold)
	testenv.NoError(f, f.FinishRebuild(f.Context(), f.Snapshot(second, stock.HoldState{Hold: b, State: stock.Held})))
	if err := f.FinishRebuild(f.Context(), image); !errors.Is(err, stock.ErrSuperseded) {
		f.Errorf("the first rebuild overwrote a finished one: error %v, want ErrSuperseded", err)
	}
	f.WantCount(Noodles, 2, 0)
	if s := f.StateOf(a.ID); s != "" {
		f.Errorf("a hold of the first image is in %s", s)
	}
}

func exactlyNWinners(f *CacheFixture) { // I2
	const n, callers = 37, 300
	f.SetCap(Noodles, n)
	var won, lost atomic.Int64
	var all sync.WaitGroup
	for range callers {
		h := f.NewHold(stock.Line{Item: Noodles, Qty: 1}, stock.Line{Item: Tea, Qty: 2})
		var one atomic.Int64
		for range 2 { // every request is sent twice concurrently and has one effect
			all.Go(func() {
				v, err := f.Reserve(context.Background(), h)
				switch {
				case err != nil:
					f.Error(err)
				case v.Status == stock.Admitted:
					won.Add(1)
					one.Add(1)
				case v.Status == stock.Refused:
					lost.Add(1)
				}
				if one.Load() > 1 {
					f.Errorf("%s was admitted twice", h.ID)
				}
			})
		}
	}
	all.Wait()
	if won.Load() != n || lost.Load() == 0 {
		f.Errorf("%d winners and %d losers, want %d winners", won.Load(), lost.Load(), n)
	}
	f.WantCount(Noodles, n, 0)
	f.WantCount(Tea, 2*n, 0)
}

func stormReleasesEverything(f *CacheFixture) { // I1, I3: in any order of events, all held units are released
	var all sync.WaitGroup
	for i := range 200 {
		h := f.NewHold(stock.Line{Item: Noodles, Qty: 1 + int64(i%3)}, stock.Line{Item: Soup, Qty: 1})
		end := []stock.OpKind{stock.OpCancel, stock.OpConfirm}[i%2]
		all.Go(func() {
			v, err := f.Reserve(context.Background(), h)
			if err != nil {
				f.Error(err)
			}
			if v.Status != stock.Admitted {
				return
			}
			ops := []stock.Op{{Kind: stock.OpHeld, Hold: h}, {Kind: end, Hold: h}, {Kind: stock.OpReturn, Hold: h}}
			for range 2 { // sent twice, as by a worker that takes over from another
				if applied, err := f.Apply(context.Background(), ops); err != nil || slices.Contains(applied, false) {
					f.Errorf("Apply = %v, %v, want all applied", applied, err)
				}
			}
		})
	}
	all.Wait()
	f.WantCount(Noodles, 0, 0)
	f.WantCount(Soup, 0, 0)
	f.WantTry(f.NewHold(stock.Line{Item: Noodles, Qty: 10}, stock.Line{Item: Soup, Qty: 5}), stock.Admitted)
}
