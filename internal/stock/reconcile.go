package stock

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/seq"
)

// Limits of the loops.
const (
	maxOpsPerApply         = 1024 // operations in one call of the cache
	expireProvisionalBatch = 500
	maxScopeAge            = 48 * time.Hour // older scopes are not maintained

	// Stock has no end of day, but its records in the cache have a TTL like those of a business day. The scope is rebuilt
	// long before, with everything that is still held.
	stockScopeTTL    = 24 * time.Hour
	stockRenewBefore = 18 * time.Hour
)

// Apply sends committed changes to the cache as they arrive, until ctx ends. It calls the cache from one goroutine per
// process, so entries of this process are applied in the order in which they were queued. Other processes' entries may
// come in between: the state table of a hold allows for any order.
func (sy *Syncer) Apply(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case entries := <-sy.committed:
			sy.applyEntries(ctx, sy.drainCommitted(entries))
		}
	}
}

// drainCommitted adds queued entries up to maxOpsPerApply operations, so that under load few calls are needed. It
// never waits for more: a single change is sent at once. An entry is never split, so a call may be somewhat larger.
func (sy *Syncer) drainCommitted(entries []OutboxEntry) []OutboxEntry {
	n := 0
	for _, e := range entries {
		n += len(e.Ops)
	}
	for n < maxOpsPerApply {
		select {
		case next := <-sy.committed:
			entries = append(entries, next...)
			for _, e := range next {
				n += len(e.Ops)
			}
		default:
			return entries
		}
	}
	return entries
}

// ExpireProvisional ends provisional holds that have timed out without a commit. The tombstone is written to SQL first,
// so that an order still on its way fails there; only then are the units released in the cache (I12). It must not run
// while the clock is in doubt: it would end provisional holds of orders that are being placed.
func (sy *Syncer) ExpireProvisional(ctx context.Context) error {
	scopes, err := sy.scopes(ctx)
	if err != nil {
		return err
	}
	// The quotas of all dates of a branch share one sorted set in Redis, and its stock has another one.
	type provisionalSet struct {
		branch int64
		stock  bool
	}
	seen := map[provisionalSet]bool{}
	for s := range scopes {
		if l := (provisionalSet{s.Branch, s.IsStock()}); !seen[l] {
			seen[l] = true
			if err := sy.expireScope(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// expireScope ends the timed-out provisional holds of a scope, a batch at a time, until none is left.
func (sy *Syncer) expireScope(ctx context.Context, s Scope) error {
	for {
		now := sy.cfg.Now()
		due, err := sy.cfg.Cache.ExpiredProvisional(ctx, s, now, expireProvisionalBatch)
		if err != nil || len(due) == 0 {
			return nil //nolint:nilerr // Redis is out of reach: Reconcile reports it, and its provisional holds are lost with it
		}
		entries, err := sy.resolveProvisional(ctx, s, due, now)
		if err != nil {
			return err
		}
		if sy.cfg.Observer.Expired != nil {
			sy.cfg.Observer.Expired(len(due))
		}
		sy.applyEntries(ctx, entries)
		if len(due) < expireProvisionalBatch {
			return nil
		}
	}
}

// resolveProvisional returns an operation for each timed-out provisional hold. For an order's it writes a tombstone to
// SQL, so that the order can no longer commit. A reservation's is only removed, because its owner may send the same
// id again. If the hold exists in SQL, it has committed and the cache was not notified in time: the operation is that
// of its state.
func (sy *Syncer) resolveProvisional(ctx context.Context, s Scope, due []Hold, now time.Time) ([]OutboxEntry, error) {
	look := func(ctx context.Context) ([]HoldState, error) {
		return sy.cfg.Store.TombstoneProvisional(ctx, due, now)
	}
	if s.IsStock() {
		look = func(ctx context.Context) ([]HoldState, error) {
			return sy.cfg.Store.Holds(ctx, seq.Map(due, func(h Hold) string { return h.ID }))
		}
	}
	states, err := look(ctx)
	if err != nil {
		return nil, err
	}
	is := seq.Index(states, func(h HoldState) string { return h.Hold.ID })
	// The empty state means that SQL has no such hold. Only reservations can have it, because the orders have a
	// tombstone by now.
	kinds := map[State]OpKind{"": OpForget, Held: OpHeld, Confirmed: OpConfirm, Released: OpCancel, Returned: OpCancel}
	return seq.Map(due, func(h Hold) OutboxEntry {
		return OutboxEntry{Scope: h.Scope, Ops: []Op{{Kind: kinds[is[h.ID].State], Hold: h}}}
	}), nil
}

// scopes returns the scopes to be maintained, with the epochs that the cache must have. Older business dates are left
// out, because nothing is sold for them now.
func (sy *Syncer) scopes(ctx context.Context) (map[Scope]string, error) {
	return sy.cfg.Store.Scopes(ctx, sy.cfg.Now().Add(-maxScopeAge).Format(time.DateOnly))
}

// Reconcile compares the cache with SQL and rebuilds scopes that are missing, belong to another epoch, or differ (I9).
// A difference is normal between a commit and its application, so it counts only if two consecutive runs find the same
// one.
func (sy *Syncer) Reconcile(ctx context.Context) error {
	scopes, err := sy.scopes(ctx)
	if err != nil {
		return err
	}
	var drift int64
	for s, epoch := range scopes {
		units, err := sy.reconcileScope(ctx, s, epoch)
		if err != nil {
			return err
		}
		drift += units
	}
	if sy.cfg.Observer.Drift != nil {
		sy.cfg.Observer.Drift(drift)
	}
	return nil
}

// reconcileScope compares the cache with SQL and returns how many units differ. It rebuilds a scope only when two runs in a
// row find the same difference: a single one may be a change between the two reads.
func (sy *Syncer) reconcileScope(ctx context.Context, s Scope, epoch string) (int64, error) {
	shown, ok, err := sy.cfg.Cache.ReadScope(ctx, s)
	if err != nil {
		return 0, nil //nolint:nilerr // out of reach; the connection's own metrics show it
	}
	// A stock scope is renewed long before its TTL ends, because unlike a business date it is never replaced by the next
	// one.
	if !ok || shown.Epoch != epoch || s.IsStock() && shown.ExpiresAt.Sub(sy.cfg.Now()) < stockRenewBefore {
		sy.rebuildSoon(s)
		return 0, nil
	}
	// SQL is read after the cache: a change that commits in between appears as a difference in this run only.
	truth, err := sy.cfg.Store.Counts(ctx, s)
	if err != nil {
		return 0, err
	}
	units, text := Difference(truth, shown.Counts)
	sy.mu.Lock()
	same := text != "" && sy.suspects[s] == text
	sy.suspects[s] = text
	if text == "" {
		delete(sy.suspects, s)
	}
	sy.mu.Unlock()
	if same {
		sy.cfg.Log.WarnContext(ctx, "the admission cache differs from SQL and is rebuilt", "branch", s.Branch, "date", s.Date,
			"difference", text)
		sy.rebuildSoon(s)
	}
	return units, nil
}

// Difference compares the counters in SQL with those of the cache: the number of differing units, and a description,
// empty when they agree. A different cap is in the description but counts no units, because no hold explains it.
func Difference(ledger, cache []Count) (units int64, text string) {
	known := seq.Index(cache, func(c Count) int64 { return c.Item })
	var b strings.Builder
	for _, want := range ledger {
		got, ok := known[want.Item]
		delete(known, want.Item)
		if ok && got == want {
			continue
		}
		units += abs(want.Held-got.Held) + abs(want.Used-got.Used)
		fmt.Fprintf(&b, "item %d: SQL %v, cache %v; ", want.Item, want, got)
	}
	for _, item := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "item %d: not in SQL, cache %v; ", item, known[item])
	}
	return units, strings.TrimSuffix(b.String(), "; ")
}

// String returns the counter as text for logs.
func (c Count) String() string {
	limit := strconv.FormatInt(c.Cap, 10)
	if c.Cap == Unlimited {
		limit = "*"
	}
	return fmt.Sprintf("cap %s held %d used %d", limit, c.Held, c.Used)
}

func abs(n int64) int64 { return max(n, -n) }
