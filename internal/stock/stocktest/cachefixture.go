package stocktest

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// Items of a fixture's scope.
const (
	Noodles  = int64(1001)
	Soup     = int64(1002)
	Tea      = int64(1003) // without a quota
	Uncached = int64(1099) // not in the cache
)

// NewCache returns an empty cache for a test, and a function that returns the states of holds under an epoch.
type NewCache func(t *testing.T, now func() time.Time, reg prometheus.Registerer) (stock.AdmissionCache, StateReader)

// StateReader returns the states of the holds that the cache has.
type StateReader func(s stock.Scope, epoch string, ids []string) map[string]stock.State

// CacheFixture is a cache with one built scope: 10 noodles, 5 soups and unlimited tea.
type CacheFixture struct {
	*testing.T
	stock.AdmissionCache
	Scope stock.Scope
	Now   time.Time

	states  StateReader
	metrics *prometheus.Registry
}

// NewCacheFixture returns a fixture for a scope.
func NewCacheFixture(t *testing.T, create NewCache, s stock.Scope) *CacheFixture {
	t.Helper()
	f := &CacheFixture{T: t, Scope: s, Now: time.Now().UTC().Truncate(time.Second), metrics: prometheus.NewRegistry()}
	f.AdmissionCache, f.states = create(t, func() time.Time { return f.Now }, f.metrics)
	f.Rebuild()
	return f
}

// EachScope runs a test on the quotas of a business date and on a branch's stock.
func EachScope(t *testing.T, create NewCache, test func(f *CacheFixture)) {
	t.Helper()
	t.Run("quotas", func(t *testing.T) { test(NewCacheFixture(t, create, TodaysQuotas())) })
	t.Run("stock", func(t *testing.T) { test(NewCacheFixture(t, create, stock.StockScope(branches.Add(1)))) })
}

// branches numbers the branches of fixtures: several may use one Redis.
var branches atomic.Int64

// TodaysQuotas returns the scope of today's quotas of a new branch.
func TodaysQuotas() stock.Scope {
	return stock.Scope{Branch: branches.Add(1), Date: time.Now().UTC().Format(time.DateOnly)}
}

// Snapshot returns a snapshot with 10 noodles, 5 soups and unlimited tea, minus the units of the given holds.
func (f *CacheFixture) Snapshot(epoch string, holds ...stock.HoldState) stock.ScopeSnapshot {
	im := stock.ScopeSnapshot{Scope: f.Scope, Epoch: epoch, Ends: f.Now.Add(20 * time.Hour), Holds: holds, Counts: []stock.Count{
		{Item: Noodles, Cap: 10}, {Item: Soup, Cap: 5}, {Item: Tea, Cap: stock.Unlimited},
	}}
	for _, h := range holds {
		for _, l := range h.Hold.Lines {
			for i := range im.Counts {
				switch c := &im.Counts[i]; {
				case c.Item == l.Item && h.State == stock.Held:
					c.Held += l.Qty
				case c.Item == l.Item && h.State == stock.Confirmed:
					c.Used += l.Qty
				}
			}
		}
	}
	return im
}

// Begin begins a rebuild and returns its epoch.
func (f *CacheFixture) Begin() string {
	f.Helper()
	return testenv.Must(f.BeginRebuild(f.Context(), f.Scope))(f)
}

// Rebuild rebuilds the scope with some holds.
func (f *CacheFixture) Rebuild(holds ...stock.HoldState) {
	f.Helper()
	testenv.NoError(f, f.FinishRebuild(f.Context(), f.Snapshot(f.Begin(), holds...)))
}

// NewID returns a new hold id: for stock, the id of another system's reservation, which may have the maximum length.
func (f *CacheFixture) NewID() string {
	if f.Scope.IsStock() {
		return stock.HoldID("Order." + uid.New(f.Now) + "_" + strings.Repeat("z", stock.MaxExternalID-33))
	}
	return uid.New(f.Now)
}

// NewHold returns a hold of the scope with a new id.
func (f *CacheFixture) NewHold(lines ...stock.Line) stock.Hold {
	return stock.Hold{ID: f.NewID(), Scope: f.Scope, Lines: lines, Until: f.Now.Add(15 * time.Minute)}
}

// Try requests a provisional hold.
func (f *CacheFixture) Try(h stock.Hold) stock.AdmissionResult {
	f.Helper()
	return testenv.Must(f.Reserve(f.Context(), h))(f)
}

// WantTry requests a provisional hold and checks the answer.
func (f *CacheFixture) WantTry(h stock.Hold, want stock.AdmissionStatus) {
	f.Helper()
	if v := f.Try(h); v.Status != want {
		f.Errorf("TRY = %s, want %s", v.Status, want)
	}
}

// ApplyOne applies one operation and returns its effect; 0 for an unknown scope.
func (f *CacheFixture) ApplyOne(kind stock.OpKind, h stock.Hold) stock.Effect {
	f.Helper()
	before := f.effects()
	applied := testenv.Must(f.Apply(f.Context(), []stock.Op{{Kind: kind, Hold: h}}))(f)
	if !applied[0] {
		return 0
	}
	for e, n := range f.effects() {
		if n > before[e] {
			return e
		}
	}
	f.Fatalf("%s was applied and not counted", kind)
	return 0
}

// effects returns how many operations had each effect.
func (f *CacheFixture) effects() map[stock.Effect]float64 {
	f.Helper()
	counted := map[stock.Effect]float64{}
	for _, family := range testenv.Must(f.metrics.Gather())(f) {
		if family.GetName() != "comanda_gate_apply_total" && family.GetName() != "gate_apply_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				for e := stock.Changed; e <= stock.Opposite; e++ {
					if l.GetName() == "outcome" && l.GetValue() == e.String() {
						counted[e] += m.GetCounter().GetValue()
					}
				}
			}
		}
	}
	return counted
}

// WantApply applies one operation and checks its effect; 0 is an unknown scope.
func (f *CacheFixture) WantApply(kind stock.OpKind, h stock.Hold, want stock.Effect) {
	f.Helper()
	if got := f.ApplyOne(kind, h); got != want {
		f.Errorf("%s = %d, want %d", kind, got, want)
	}
}

// SetCap changes an item's cap.
func (f *CacheFixture) SetCap(item, limit int64) {
	f.Helper()
	f.WantApply(stock.OpCap, stock.Hold{Scope: f.Scope, Lines: []stock.Line{{Item: item, Qty: limit}}}, 1)
}

// Count returns an item's counter.
func (f *CacheFixture) Count(item int64) stock.Count {
	f.Helper()
	counts, ok, err := f.Counts(f.Context(), f.Scope, []int64{item})
	if err != nil || !ok || len(counts) != 1 {
		f.Fatalf("Counts = %v, %t, %v", counts, ok, err)
	}
	return counts[0]
}

// WantCount checks the units of an item.
func (f *CacheFixture) WantCount(item, held, used int64) {
	f.Helper()
	if c := f.Count(item); c.Held != held || c.Used != used {
		f.Errorf("item %d: held %d and used %d, want %d and %d", item, c.Held, c.Used, held, used)
	}
}

// StateOf returns the state of a hold, empty for none.
func (f *CacheFixture) StateOf(id string) stock.State {
	f.Helper()
	shown, ok, err := f.ReadScope(f.Context(), f.Scope)
	if err != nil || !ok {
		f.Fatalf("the scope is known: %t, %v", ok, err)
	}
	return f.states(f.Scope, shown.Epoch, []string{id})[id]
}
