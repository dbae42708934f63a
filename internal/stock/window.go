package stock

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Glance is what a shop window shows of a stock item: what was available at an instant.
type Glance struct {
	Branch    int64
	SKU       string
	Available int64
	At        time.Time
}

// Copies keeps glances for a while, normally stockredis.Hot. To lose them costs nothing.
type Copies interface {
	// Read gives those that are there, in one exchange.
	Read(ctx context.Context, branch int64, skus []string) ([]Glance, error)
	Write(ctx context.Context, glances []Glance) error
}

// Ranks is the ledger behind the copies, normally stocksql.Reservations.
type Ranks interface {
	// Levels gives those of a branch's items that are there.
	Levels(ctx context.Context, branch int64, skus []string) ([]Level, error)
	// Top gives the items that were read most, in all branches.
	Top(ctx context.Context, limit int) ([]Level, error)
	// Rank counts reads, and lets older ones fade.
	Rank(ctx context.Context, reads []Reads) error
}

// Reads is how often an item was looked at.
type Reads struct {
	Branch int64
	SKU    string
	N      int64
}

// Bounds of shop windows.
const (
	MaxGlances   = 100                    // items of one look
	GlanceAge    = 60 * time.Second       // a glance is never older
	warmItems    = 200                    // copied ahead, those that are read most
	copyPatience = 100 * time.Millisecond // with the copies; then the ledger is asked
	maxCounted   = 10_000                 // items whose reads are counted between two rounds
)

// Window answers those who show many items to many people and for whom what was true a minute ago is good enough. What
// is read most is copied before anybody asks. Whoever sells asks for the level, or reserves.
type Window struct {
	Copies Copies
	Ranks  Ranks
	Now    func() time.Time

	mu    sync.Mutex
	reads map[thingKey]int64
}

var errGlances = fault.Newf(fault.Invalid, "invalid", "1 to %d items can be looked at together.", MaxGlances).
	With("field", "itemId")

// Look gives glances of some items of a branch, in the order in which they are asked for. Those that are not there are
// left out, as is everything of a branch that the actor does not see.
func (w *Window) Look(ctx context.Context, who identity.Actor, branch int64, skus []string) ([]Glance, error) {
	if len(skus) == 0 || len(skus) > MaxGlances {
		return nil, errGlances
	}
	for _, sku := range skus {
		if err := CheckName("itemId", sku); err != nil {
			return nil, err
		}
	}
	if !who.Sees(branch) {
		return []Glance{}, nil
	}
	w.count(branch, skus)
	found := w.copied(ctx, branch, skus)
	missing := slices.DeleteFunc(slices.Clone(skus), func(sku string) bool { return found[sku].SKU != "" })
	if len(missing) > 0 {
		fresh, err := w.read(ctx, branch, missing)
		if err != nil {
			return nil, err
		}
		for _, g := range fresh {
			found[g.SKU] = g
		}
	}
	all := make([]Glance, 0, len(found))
	for _, sku := range skus {
		if g, ok := found[sku]; ok {
			all = append(all, g)
			delete(found, sku) // an item that is asked for twice is told of once
		}
	}
	return all, nil
}

// copied gives those glances that were kept and are young enough, whatever their keeper thinks of time.
func (w *Window) copied(ctx context.Context, branch int64, skus []string) map[string]Glance {
	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	kept, err := w.Copies.Read(ctx, branch, skus)
	if err != nil { // as good as none; the ledger knows
		kept = nil
	}
	found := make(map[string]Glance, len(skus))
	now := w.Now()
	for _, g := range kept {
		if now.Sub(g.At) < GlanceAge {
			found[g.SKU] = g
		}
	}
	return found
}

// read asks the ledger, and keeps what it says.
func (w *Window) read(ctx context.Context, branch int64, skus []string) ([]Glance, error) {
	now := w.Now() // before it is read, so that a glance is never older than it says
	levels, err := w.Ranks.Levels(ctx, branch, skus)
	if err != nil {
		return nil, err
	}
	fresh := glances(levels, now)
	w.keep(ctx, fresh)
	return fresh, nil
}

func glances(levels []Level, at time.Time) []Glance {
	all := make([]Glance, len(levels))
	for i, l := range levels {
		all[i] = Glance{l.Branch, l.SKU, l.Available, at}
	}
	return all
}

// keep hands glances to the copies. What these do not take is read from the ledger once more.
func (w *Window) keep(ctx context.Context, fresh []Glance) {
	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	_ = w.Copies.Write(ctx, fresh)
}

// count remembers what was asked for. Beyond its bound new items are not counted until the next round.
func (w *Window) count(branch int64, skus []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reads == nil {
		w.reads = map[thingKey]int64{}
	}
	for _, sku := range skus {
		key := thingKey{branch, sku}
		if _, known := w.reads[key]; known || len(w.reads) < maxCounted {
			w.reads[key]++
		}
	}
}

// Rank writes down how often items were looked at since the last time.
func (w *Window) Rank(ctx context.Context) error {
	w.mu.Lock()
	counted := w.reads
	w.reads = nil
	w.mu.Unlock()
	reads := make([]Reads, 0, len(counted))
	for _, key := range slices.SortedFunc(maps.Keys(counted), thingKey.compare) {
		reads = append(reads, Reads{key.branch, key.sku, counted[key]})
	}
	return w.Ranks.Rank(ctx, reads)
}

func (k thingKey) compare(other thingKey) int {
	return cmp.Or(cmp.Compare(k.branch, other.branch), cmp.Compare(k.sku, other.sku))
}

// Warm copies the items that are read most anew, before their copies run out.
func (w *Window) Warm(ctx context.Context) error {
	now := w.Now()
	top, err := w.Ranks.Top(ctx, warmItems)
	if err != nil || len(top) == 0 {
		return err
	}
	return w.Copies.Write(ctx, glances(top, now))
}
