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
type LevelSnapshot struct {
	Branch    int64
	SKU       string
	Available int64
	At        time.Time
}

// Copies keeps glances for a while, normally stockredis.Hot. To lose them costs nothing.
type SnapshotCache interface {
	// Read gives those that are there, in one exchange.
	Read(ctx context.Context, branch int64, skus []string) ([]LevelSnapshot, error)
	Write(ctx context.Context, snapshots []LevelSnapshot) error
}

// Ranks is the ledger behind the copies, normally stocksql.Reservations.
type RankingStore interface {
	// Levels gives those of a branch's items that are there.
	Levels(ctx context.Context, branch int64, skus []string) ([]Level, error)
	// Top gives the items that were read most, in all branches.
	Top(ctx context.Context, limit int) ([]Level, error)
	// Rank counts reads, and lets older ones fade.
	Rank(ctx context.Context, reads []ReadCount) error
}

// Reads is how often an item was looked at.
type ReadCount struct {
	Branch int64
	SKU    string
	N      int64
}

// Bounds of shop windows.
const (
	MaxSnapshots         = 100                    // items of one look
	MaxSnapshotAge       = 60 * time.Second       // a glance is never older
	warmedItems          = 200                    // copied ahead, those that are read most
	snapshotCacheTimeout = 100 * time.Millisecond // with the copies; then the ledger is asked
	maxCountedItems      = 10_000                 // items whose reads are counted between two rounds
)

// Window answers those who show many items to many people and for whom what was true a minute ago is good enough. What
// is read most is copied before anybody asks. Whoever sells asks for the level, or reserves.
type SnapshotService struct {
	Cache SnapshotCache
	Store RankingStore
	Now   func() time.Time

	mu    sync.Mutex
	reads map[itemKey]int64
}

var errTooManySnapshots = fault.Newf(fault.Invalid, "invalid", "1 to %d items can be looked at together.", MaxSnapshots).
	With("field", "itemId")

// Look gives glances of some items of a branch, in the order in which they are asked for. Those that are not there are
// left out, as is everything of a branch that the actor does not see.
func (w *SnapshotService) Snapshots(ctx context.Context, who identity.Actor, branch int64, skus []string) ([]LevelSnapshot, error) {
	if len(skus) == 0 || len(skus) > MaxSnapshots {
		return nil, errTooManySnapshots
	}
	for _, sku := range skus {
		if err := ValidateExternalID("itemId", sku); err != nil {
			return nil, err
		}
	}
	if !who.Sees(branch) {
		return []LevelSnapshot{}, nil
	}
	w.countReads(branch, skus)
	found := w.cached(ctx, branch, skus)
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
	all := make([]LevelSnapshot, 0, len(found))
	for _, sku := range skus {
		if g, ok := found[sku]; ok {
			all = append(all, g)
			delete(found, sku) // an item that is asked for twice is told of once
		}
	}
	return all, nil
}

// copied gives those glances that were kept and are young enough, whatever their keeper thinks of time.
func (w *SnapshotService) cached(ctx context.Context, branch int64, skus []string) map[string]LevelSnapshot {
	ctx, cancel := context.WithTimeout(ctx, snapshotCacheTimeout)
	defer cancel()
	kept, err := w.Cache.Read(ctx, branch, skus)
	if err != nil { // as good as none; the ledger knows
		kept = nil
	}
	found := make(map[string]LevelSnapshot, len(skus))
	now := w.Now()
	for _, g := range kept {
		if now.Sub(g.At) < MaxSnapshotAge {
			found[g.SKU] = g
		}
	}
	return found
}

// read asks the ledger, and keeps what it says.
func (w *SnapshotService) read(ctx context.Context, branch int64, skus []string) ([]LevelSnapshot, error) {
	now := w.Now() // before it is read, so that a glance is never older than it says
	levels, err := w.Store.Levels(ctx, branch, skus)
	if err != nil {
		return nil, err
	}
	fresh := snapshotsOf(levels, now)
	w.writeCache(ctx, fresh)
	return fresh, nil
}

func snapshotsOf(levels []Level, at time.Time) []LevelSnapshot {
	all := make([]LevelSnapshot, len(levels))
	for i, l := range levels {
		all[i] = LevelSnapshot{l.Branch, l.SKU, l.Available, at}
	}
	return all
}

// keep hands glances to the copies. What these do not take is read from the ledger once more.
func (w *SnapshotService) writeCache(ctx context.Context, fresh []LevelSnapshot) {
	ctx, cancel := context.WithTimeout(ctx, snapshotCacheTimeout)
	defer cancel()
	_ = w.Cache.Write(ctx, fresh)
}

// count remembers what was asked for. Beyond its bound new items are not counted until the next round.
func (w *SnapshotService) countReads(branch int64, skus []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reads == nil {
		w.reads = map[itemKey]int64{}
	}
	for _, sku := range skus {
		key := itemKey{branch, sku}
		if _, known := w.reads[key]; known || len(w.reads) < maxCountedItems {
			w.reads[key]++
		}
	}
}

// Rank writes down how often items were looked at since the last time.
func (w *SnapshotService) FlushReads(ctx context.Context) error {
	w.mu.Lock()
	counted := w.reads
	w.reads = nil
	w.mu.Unlock()
	reads := make([]ReadCount, 0, len(counted))
	for _, key := range slices.SortedFunc(maps.Keys(counted), itemKey.compare) {
		reads = append(reads, ReadCount{key.branch, key.sku, counted[key]})
	}
	return w.Store.Rank(ctx, reads)
}

func (k itemKey) compare(other itemKey) int {
	return cmp.Or(cmp.Compare(k.branch, other.branch), cmp.Compare(k.sku, other.sku))
}

// Warm copies the items that are read most anew, before their copies run out.
func (w *SnapshotService) Warm(ctx context.Context) error {
	now := w.Now()
	top, err := w.Store.Top(ctx, warmedItems)
	if err != nil || len(top) == 0 {
		return err
	}
	return w.Cache.Write(ctx, snapshotsOf(top, now))
}
