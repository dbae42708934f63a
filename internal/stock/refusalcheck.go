package stock

import (
	"context"
	"sync"
	"time"
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

	mu     sync.Mutex
	cached map[Scope]*cachedCounts
}

// cachedCounts is the last reading of a scope's counters. Its lock is held while the counters are read, so that
// concurrent callers share the query.
type cachedCounts struct {
	mu     sync.Mutex
	readAt time.Time
	left   map[int64]int64
}

// shortages returns the lines of a refused hold that do not fit by the counters in SQL; nil overrules the cache. When
// SQL cannot be read, the refusal stands.
func (d *refusalCheck) shortages(ctx context.Context, h Hold, said []Shortage) []Shortage {
	left, err := d.counters(ctx, h.Scope)
	if err != nil {
		return said
	}
	var short []Shortage
	for _, l := range h.Lines { // parts have lines of one scope only
		if n, counted := left[l.Item]; counted && n != Unlimited && n < l.Qty {
			short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: n, Stock: h.Scope.IsStock()})
		}
	}
	return short
}

func (d *refusalCheck) counters(ctx context.Context, s Scope) (map[int64]int64, error) {
	r := d.entry(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := d.now(); r.left != nil && now.Sub(r.readAt) < countsTTL {
		return r.left, nil
	}
	at := d.now()
	counts, err := d.read(ctx, s)
	if err != nil {
		return nil, err
	}
	r.readAt, r.left = at, make(map[int64]int64, len(counts))
	for _, c := range counts {
		r.left[c.Item] = c.Left()
	}
	return r.left, nil
}

func (d *refusalCheck) entry(s Scope) *cachedCounts {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cached == nil || len(d.cached) > maxCachedScopes {
		d.cached = map[Scope]*cachedCounts{}
	}
	r := d.cached[s]
	if r == nil {
		r = &cachedCounts{}
		d.cached[s] = r
	}
	return r
}

// invalidate drops the counters of scopes in which operations may have freed units, so that units which this process
// has just freed are not refused for an older reading.
func (d *refusalCheck) invalidate(ops []Op) {
	for _, op := range ops {
		if !op.frees() {
			continue
		}
		d.mu.Lock()
		delete(d.cached, op.Hold.Scope)
		d.mu.Unlock()
	}
}

// maxCachedScopes bounds the memory. More scopes are not sold out at the same time.
const maxCachedScopes = 1000
