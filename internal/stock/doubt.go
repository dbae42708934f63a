package stock

import (
	"context"
	"sync"
	"time"
)

// believedFor is how long the ledger's counters are taken as they were read. Refusals of one scope that come within that
// time share a reading.
const believedFor = shortFor

// doubts checks the gate's refusals against the ledger's counters. The gate may hold units for an order that nobody will
// ever commit: its process was killed between TRY and commit, and until the lease is found out the gate refuses what
// nobody has. What fits by the ledger's counters is left to the ledger to decide. That is at most more work for it:
// orders that are being committed this very moment are in the gate and not yet in the counters.
type doubts struct {
	read func(ctx context.Context, s Scope) ([]Count, error)
	now  func() time.Time

	mu    sync.Mutex
	known map[Scope]*reading
}

// reading is a scope's counters as they were read last. Whoever finds them too old reads them anew, others wait for it.
type reading struct {
	mu   sync.Mutex
	at   time.Time
	left map[int64]int64
}

// confirmed gives the lines of a hold that do not fit by the ledger's counters, after the gate has refused it; none of
// them refutes the gate. What cannot be read refutes nothing: then the gate's word stands.
func (d *doubts) confirmed(ctx context.Context, h Hold, said []Shortage) []Shortage {
	left, err := d.counters(ctx, h.Scope)
	if err != nil {
		return said
	}
	var short []Shortage
	for _, l := range h.Lines { // a part has lines of one scope
		if n, counted := left[l.Item]; counted && n != Unlimited && n < l.Qty {
			short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: n, Stock: h.Scope.Stock()})
		}
	}
	return short
}

func (d *doubts) counters(ctx context.Context, s Scope) (map[int64]int64, error) {
	r := d.reading(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := d.now(); r.left != nil && now.Sub(r.at) < believedFor {
		return r.left, nil
	}
	at := d.now()
	counts, err := d.read(ctx, s)
	if err != nil {
		return nil, err
	}
	r.at, r.left = at, make(map[int64]int64, len(counts))
	for _, c := range counts {
		r.left[c.Item] = c.Left()
	}
	return r.left, nil
}

func (d *doubts) reading(s Scope) *reading {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) > maxDoubted {
		d.known = map[Scope]*reading{}
	}
	r := d.known[s]
	if r == nil {
		r = &reading{}
		d.known[s] = r
	}
	return r
}

// forget drops the reading of every scope in which operations may have made something available: what this process has
// just committed is not refused for what was read before.
func (d *doubts) forget(ops []Op) {
	for _, op := range ops {
		if !op.frees() {
			continue
		}
		d.mu.Lock()
		delete(d.known, op.Hold.Scope)
		d.mu.Unlock()
	}
}

// maxDoubted bounds the memory: more scopes than that do not sell out at once.
const maxDoubted = 1000
