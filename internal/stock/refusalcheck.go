package stock

import (
	"context"
	"sync"
	"time"
)

// believedFor is how long the ledger's counters are taken as they were read. Refusals of one scope that come within that
// time share a reading.
const countsTTL = refusalTTL

// doubts checks the gate's refusals against the ledger's counters. The gate may hold units for an order that nobody will
// ever commit: its process was killed between TRY and commit, and until the lease is found out the gate refuses what
// nobody has. What fits by the ledger's counters is left to the ledger to decide. That is at most more work for it:
// orders that are being committed this very moment are in the gate and not yet in the counters.
type refusalCheck struct {
	read func(ctx context.Context, s Scope) ([]Count, error)
	now  func() time.Time

	mu     sync.Mutex
	cached map[Scope]*cachedCounts
}

// reading is a scope's counters as they were read last. Whoever finds them too old reads them anew, others wait for it.
type cachedCounts struct {
	mu     sync.Mutex
	readAt time.Time
	left   map[int64]int64
}

// confirmed gives the lines of a hold that do not fit by the ledger's counters, after the gate has refused it; none of
// them refutes the gate. What cannot be read refutes nothing: then the gate's word stands.
func (d *refusalCheck) shortages(ctx context.Context, h Hold, said []Shortage) []Shortage {
	left, err := d.counters(ctx, h.Scope)
	if err != nil {
		return said
	}
	var short []Shortage
	for _, l := range h.Lines { // a part has lines of one scope
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

// forget drops the reading of every scope in which operations may have made something available: what this process has
// just committed is not refused for what was read before.
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

// maxDoubted bounds the memory: more scopes than that do not sell out at once.
const maxCachedScopes = 1000
