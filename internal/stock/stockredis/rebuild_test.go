package stockredis

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

func TestCache_rebuild_fails_after_flush(t *testing.T) {
	each(t, func(f *fixture) {
		epoch := f.Begin()
		testenv.NoError(t, f.db.Do(f.Context(), "DEL", counterKeys(f.Scope, 0)[0]).Err())
		if err := f.FinishRebuild(f.Context(), f.Snapshot(epoch)); !errors.Is(err, stock.ErrSuperseded) {
			t.Errorf("a rebuild finished over an emptied Redis: error %v, want ErrSuperseded", err)
		}
	})
}

// A scope of the previous day that is rebuilt for a refund lives for an hour instead of expiring at once.
func TestCache_rebuild_after_end_of_day(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
		im := f.Snapshot(f.Begin(), stock.HoldState{Hold: h, State: stock.Confirmed})
		im.Ends = f.Now.Add(-40 * time.Hour)
		testenv.NoError(t, f.FinishRebuild(f.Context(), im))
		f.WantApply(stock.OpReturn, h, stock.Changed)
		for _, key := range counterKeys(f.Scope, 0) {
			ms, err := f.db.Do(f.Context(), "PTTL", key).Int()
			if d := time.Duration(ms) * time.Millisecond; err != nil || d <= stock.MinCacheTTL/2 || d > stock.MinCacheTTL {
				t.Errorf("%s lives %s, %v", key, d, err)
			}
		}
	})
}

// The TTLs of qr-ordering.md, counted from the end of the business day.
func TestCache_key_ttls(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
		f.WantTry(h, stock.Admitted)
		ends := f.Now.Add(20 * time.Hour)
		counters := counterKeys(f.Scope, 0)
		for key, want := range map[keyspace.Key]time.Time{
			counters[0]:              ends.Add(36 * time.Hour),
			counters[1]:              ends.Add(12 * time.Hour),
			counters[2]:              ends.Add(36 * time.Hour),
			recordKey(f.Scope, h.ID): ends.Add(12 * time.Hour),
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
