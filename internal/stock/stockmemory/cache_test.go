package stockmemory

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(400, 4000))
	m.Run()
}

func TestCache(t *testing.T) { stocktest.AdmissionCache(t, create) }

func create(_ *testing.T, now func() time.Time, reg prometheus.Registerer) (stock.AdmissionCache, stocktest.StateReader) {
	c := New(Config{Now: now, Metrics: reg})
	return c, func(s stock.Scope, epoch string, ids []string) map[string]stock.State {
		b := c.lock(s)
		defer b.mu.Unlock()
		states := map[string]stock.State{}
		for _, id := range ids {
			if state, _ := b.stateOf(id, epoch, now()); state != "" {
				states[id] = state
			}
		}
		return states
	}
}

// A counter below zero makes the scope unknown instead, and nothing of the call is applied (I1).
func TestCache_counter_below_zero(t *testing.T) {
	stocktest.EachScope(t, create, func(f *stocktest.CacheFixture) {
		sold := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 3})
		good := f.NewHold(stock.Line{Item: stocktest.Soup, Qty: 1})
		applied := testenv.Must(f.Apply(f.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: good}, {Kind: stock.OpReturn, Hold: sold}}))(f)
		testenv.Equal(f, []bool{false, false}, applied)
		f.WantTry(f.NewHold(stock.Line{Item: stocktest.Tea, Qty: 1}), stock.Cold)
		f.Rebuild(stock.HoldState{Hold: sold, State: stock.Confirmed})
		f.WantApply(stock.OpReturn, sold, stock.Changed)
		f.WantApply(stock.OpHeld, good, stock.Changed)
		f.WantCount(stocktest.Soup, 1, 0)
	})
}

// A scope and its holds expire half a day after the business day, and the next rebuild of the branch removes them.
func TestCache_expires(t *testing.T) {
	stocktest.EachScope(t, create, func(f *stocktest.CacheFixture) {
		records := func() (n int) {
			for _, b := range f.AdmissionCache.(*Cache).branches {
				n += len(b.records)
			}
			return n
		}
		h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
		f.WantTry(h, stock.Admitted)
		f.Now = f.Now.Add(20*time.Hour + 12*time.Hour - time.Second)
		f.WantTry(h, stock.Duplicate)
		f.Now = f.Now.Add(time.Second)
		f.WantTry(h, stock.Cold)
		testenv.Equal(t, 1, records())
		f.Rebuild()
		testenv.Equal(t, 0, records())
		if due := testenv.Must(f.ExpiredProvisional(t.Context(), f.Scope, f.Now.Add(time.Hour), 10))(t); due != nil {
			t.Errorf("provisional holds of an expired scope: %v", due)
		}
		f.WantTry(h, stock.Admitted)
	})
}

func BenchmarkCache_Reserve(b *testing.B) {
	c, now := New(Config{Now: time.Now}), time.Now()
	s := stock.Scope{Branch: 1, Date: now.UTC().Format(time.DateOnly)}
	epoch := testenv.Must(c.BeginRebuild(b.Context(), s))(b)
	counts := []stock.Count{{Item: 1, Cap: 1 << 50}, {Item: 2, Cap: 1 << 50}, {Item: 3, Cap: stock.Unlimited}}
	testenv.NoError(b, c.FinishRebuild(b.Context(), stock.ScopeSnapshot{Scope: s, Epoch: epoch, Ends: now.Add(time.Hour), Counts: counts}))
	lines := []stock.Line{{Item: 1, Qty: 1}, {Item: 2, Qty: 2}, {Item: 3, Qty: 1}}
	b.ReportAllocs()
	for b.Loop() {
		h := stock.Hold{ID: uid.New(now), Scope: s, Lines: lines}
		if v, err := c.Reserve(b.Context(), h); v.Status != stock.Admitted || err != nil {
			b.Fatal(v, err)
		}
	}
}
