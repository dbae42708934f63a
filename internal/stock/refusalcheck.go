package stock

import (
	"context"
	"sync/atomic"
	"time"

	"comanda/internal/cache"
)

// countsTTL is how long counters read from SQL are reused. Refusals of one scope within that time share one query.
const countsTTL = refusalTTL

// refusalCheck compares refusals of the admission cache with the counters in SQL. The cache may count a provisional
// hold whose process was killed before the commit; until it expires, the cache refuses units that are free. A hold
// that fits by the counters is passed on to the SQL transaction. The check can only be too lenient, never oversell:
// orders that are committing at this moment are counted in the cache and not yet in SQL.
type refusalCheck struct {
	read func(ctx context.Context, s Scope) ([]Count, error)
	now  func() time.Time

	// A scope is removed and not marked as stale, so that a query that began before this process freed units cannot
	// store its result.
	cached cache.Cache[Scope, map[int64]int64]
}

// shortages returns the lines of a refused hold that do not fit by the counters in SQL; nil overrules the cache. When
// SQL cannot be read, the refusal stands. An item that SQL does not count is not a reason to refuse: the transaction
// decides about it.
func (d *refusalCheck) shortages(ctx context.Context, h Hold, reported []Shortage) []Shortage {
	left, err := d.counters(ctx, h.Scope)
	if err != nil {
		return reported
	}
	var short []Shortage
	for _, l := range h.Lines { // parts have lines of one scope only
		if n, counted := left[l.Item]; counted && n != Unlimited && n < l.Qty {
			short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: n, Stock: h.Scope.IsStock()})
		}
	}
	return short
}

// counters returns the available units of each item of a scope, at most countsTTL old. Callers of one scope wait for
// one query, so a storm of refusals reads the counters a hundred times a second at most.
func (d *refusalCheck) counters(ctx context.Context, s Scope) (map[int64]int64, error) {
	return d.cached.Load(s, d.now, countsTTL, func() (map[int64]int64, error) {
		counts, err := d.read(ctx, s)
		left := make(map[int64]int64, len(counts))
		for _, c := range counts {
			left[c.Item] = c.Left()
		}
		return left, err
	})
}

// invalidate drops the counters of scopes in which operations may have freed units.
func (d *refusalCheck) invalidate(ops []Op) {
	for _, op := range ops {
		if op.frees() {
			d.cached.Delete(op.Hold.Scope)
		}
	}
}

// refusalTTL is how long a refusal is repeated without a call of the cache. A release takes about as long to reach
// the cache anyway, and no guest notices the delay.
const refusalTTL = 10 * time.Millisecond

// recentRefusals repeats refusals of the cache for refusalTTL. Then one hold goes to the cache. The others are refused for
// another refusalTTL, because otherwise all guests of a storm would call the cache before its first answer. So a storm on
// a sold-out dish costs one call in ten milliseconds instead of one per guest. It only repeats refusals and drops them as
// soon as this process frees units, so it may refuse up to twice refusalTTL too long, and never admits anything.
type recentRefusals struct {
	left cache.Cache[Key, *refusedItem]
}

// refusedItem is an item of which the cache has refused a quantity.
type refusedItem struct {
	left    int64       // units still available
	due     time.Time   // when a hold goes to the cache again
	checked atomic.Bool // that hold is on its way
}

// lookup returns the shortages of a hold if all its lines were refused lately. If any line was not, or is due, the hold
// goes to the cache, which returns all short lines together. Holds of different sizes share entries: one unit may fit
// where three do not.
func (s *recentRefusals) lookup(h Hold, now time.Time) ([]Shortage, bool) {
	var short []Shortage
	for _, l := range h.Lines {
		r, ok := s.left.Get(Key{h.Scope, l.Item}, now)
		if !ok || r.left >= l.Qty || !now.Before(r.due) && r.checked.CompareAndSwap(false, true) {
			return nil, false
		}
		short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: r.left, Stock: h.Scope.IsStock()})
	}
	return short, len(short) > 0
}

// add records a refusal of the cache.
func (s *recentRefusals) add(scope Scope, short []Shortage, now time.Time) {
	for _, l := range short {
		s.left.PutFor(Key{scope, l.Item}, &refusedItem{left: l.Available, due: now.Add(refusalTTL)}, now, 2*refusalTTL)
	}
}

// invalidate drops refusals of items of which operations may have freed units.
func (s *recentRefusals) invalidate(ops []Op) {
	for _, op := range ops {
		if !op.frees() {
			continue
		}
		for _, l := range op.Hold.Lines {
			s.left.Delete(Key{op.Hold.Scope, l.Item})
		}
	}
}

// clear drops all refusals, after a rebuild. A rebuild may make any item of the scope available again.
func (s *recentRefusals) clear() { s.left.Clear() }
