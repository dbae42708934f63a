package stock

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/seq"
)

// LevelSnapshot is the number of available units of a stock item at an instant, for displays.
type LevelSnapshot struct {
	Branch    int64
	SKU       string
	Available int64
	At        time.Time
}

// SnapshotCache stores snapshots for a while; stockredis.SnapshotCache implements it. It may lose or delay entries: At
// states the age of a snapshot, and SQL has the levels.
type SnapshotCache interface {
	// Read returns the snapshots that exist, in one round trip.
	Read(ctx context.Context, branch int64, skus []string) ([]LevelSnapshot, error)
	Write(ctx context.Context, snapshots []LevelSnapshot) error
}

// RankingStore is the store behind the cache; stocksql.Reservations implements it.
type RankingStore interface {
	// Levels returns the levels of the branch's items that exist.
	Levels(ctx context.Context, branch int64, skus []string) ([]Level, error)
	// Top returns the most frequently read items of all branches.
	Top(ctx context.Context, limit int) ([]Level, error)
	// Rank adds read counts and decays older ones.
	Rank(ctx context.Context, reads []ReadCount) error
}

// ReadCount counts how often an item was read.
type ReadCount struct {
	Branch int64
	SKU    string
	N      int64
}

// Limits of snapshots.
const (
	MaxSnapshots         = 100                    // items of one request
	MaxSnapshotAge       = 60 * time.Second       // a snapshot is never older
	warmedItems          = 200                    // most read items, refreshed ahead of requests
	snapshotCacheTimeout = 100 * time.Millisecond // for the cache; then SQL is read
	maxCountedItems      = 10_000                 // items whose reads are counted between two flushes
)

// SnapshotService serves levels up to a minute old to displays that show many items to many people. The most read
// items are cached ahead of requests. Callers that sell use the exact level, or reserve. It is safe for concurrent
// use.
type SnapshotService struct {
	Cache SnapshotCache
	Store RankingStore
	Now   func() time.Time

	mu    sync.Mutex
	reads map[itemKey]int64
}

var errTooManySnapshots = fault.Newf(fault.Invalid, "invalid", "Request 1 to %d items at a time.", MaxSnapshots).
	With("field", "itemId")

// Snapshots returns snapshots of items of a branch in the order requested. Missing items are left out, and so is
// everything of a branch that the actor may not see.
func (s *SnapshotService) Snapshots(
	ctx context.Context, actor authz.Actor, branch int64, skus []string,
) ([]LevelSnapshot, error) {
	if len(skus) == 0 || len(skus) > MaxSnapshots {
		return nil, errTooManySnapshots
	}
	for _, sku := range skus {
		if err := ValidateExternalID("itemId", sku); err != nil {
			return nil, err
		}
	}
	if !actor.Sees(branch) {
		return []LevelSnapshot{}, nil
	}
	// All requests are counted, also those answered from the cache: a popular item must keep its rank.
	s.countReads(branch, skus)
	found := s.cached(ctx, branch, skus)
	missing := slices.DeleteFunc(slices.Clone(skus), func(sku string) bool { return found[sku].SKU != "" })
	if len(missing) > 0 {
		fresh, err := s.read(ctx, branch, missing)
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
			delete(found, sku) // an item that is requested twice is returned once
		}
	}
	return all, nil
}

// cached returns the cached snapshots that are young enough by our clock, whatever the TTLs in Redis say. A cache that
// is slower than snapshotCacheTimeout counts as empty.
func (s *SnapshotService) cached(ctx context.Context, branch int64, skus []string) map[string]LevelSnapshot {
	ctx, cancel := context.WithTimeout(ctx, snapshotCacheTimeout)
	defer cancel()
	kept, err := s.Cache.Read(ctx, branch, skus)
	if err != nil { // like a miss: SQL has the levels
		kept = nil
	}
	found := make(map[string]LevelSnapshot, len(skus))
	now := s.Now()
	for _, g := range kept {
		if now.Sub(g.At) < MaxSnapshotAge {
			found[g.SKU] = g
		}
	}
	return found
}

// read reads levels from SQL and caches them.
func (s *SnapshotService) read(ctx context.Context, branch int64, skus []string) ([]LevelSnapshot, error) {
	now := s.Now() // taken before the query, so that a snapshot is never older than it states
	levels, err := s.Store.Levels(ctx, branch, skus)
	if err != nil {
		return nil, err
	}
	fresh := snapshotsOf(levels, now)
	s.writeCache(ctx, fresh)
	return fresh, nil
}

func snapshotsOf(levels []Level, at time.Time) []LevelSnapshot {
	return seq.Map(levels, func(l Level) LevelSnapshot { return LevelSnapshot{l.Branch, l.SKU, l.Available, at} })
}

// writeCache caches snapshots. Failures are ignored: the next request reads SQL again.
func (s *SnapshotService) writeCache(ctx context.Context, fresh []LevelSnapshot) {
	ctx, cancel := context.WithTimeout(ctx, snapshotCacheTimeout)
	defer cancel()
	_ = s.Cache.Write(ctx, fresh)
}

// countReads counts requested items. At its limit new items are not counted until the next flush. The limit bounds the
// memory against requests for items that do not exist.
func (s *SnapshotService) countReads(branch int64, skus []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads == nil {
		s.reads = map[itemKey]int64{}
	}
	for _, sku := range skus {
		key := itemKey{branch, sku}
		if _, known := s.reads[key]; known || len(s.reads) < maxCountedItems {
			s.reads[key]++
		}
	}
}

// FlushReads stores the read counts since the last call. Counts are lost if the store fails. They only decide which
// items are warmed. The store is called without counts too, because it decays the older ones.
func (s *SnapshotService) FlushReads(ctx context.Context) error {
	s.mu.Lock()
	counted := s.reads
	s.reads = nil
	s.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(counted), itemKey.compare)
	return s.Store.Rank(ctx, seq.Map(keys, func(key itemKey) ReadCount {
		return ReadCount{key.branch, key.sku, counted[key]}
	}))
}

func (k itemKey) compare(other itemKey) int {
	return cmp.Or(cmp.Compare(k.branch, other.branch), cmp.Compare(k.sku, other.sku))
}

// Warm refreshes the snapshots of the most read items before they expire. Call it every half of MaxSnapshotAge, so
// that a late call still comes in time.
func (s *SnapshotService) Warm(ctx context.Context) error {
	now := s.Now()
	top, err := s.Store.Top(ctx, warmedItems)
	if err != nil || len(top) == 0 {
		return err
	}
	return s.Cache.Write(ctx, snapshotsOf(top, now))
}
