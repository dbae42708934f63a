package stock

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"comanda/internal/queue"
)

// AdmissionCache is the cache of counters and holds ahead of SQL; stockredis.Cache implements it. Its answers are
// advice: errors mean that the cache is slow, out of reach or refuses a call, and no caller may fail an order because
// of them. It is safe for concurrent use.
type AdmissionCache interface {
	// Reserve requests a provisional hold.
	Reserve(ctx context.Context, h Hold) (AdmissionResult, error)
	// Apply applies committed operations and reports for each whether it was applied; the others must be sent again. A
	// RejectedError contains the operations that are themselves invalid.
	Apply(ctx context.Context, ops []Op) (applied []bool, err error)
	// Counts returns the counters of items, all of one instant. ok is false when the cache does not have the scope; items
	// that it lacks are left out.
	Counts(ctx context.Context, s Scope, items []int64) (counts []Count, ok bool, err error)
	// ReadScope returns every counter of a scope; ok is false when the cache does not have the scope.
	ReadScope(ctx context.Context, s Scope) (shown CachedScope, ok bool, err error)
	// BeginRebuild makes a scope unknown and returns the epoch under which it is to be rebuilt.
	BeginRebuild(ctx context.Context, s Scope) (epoch string, err error)
	// Load writes the holds of a snapshot, each in the state of the last call that contains it.
	Load(ctx context.Context, im ScopeSnapshot) error
	// FinishRebuild writes the rest of the snapshot and makes the scope known.
	FinishRebuild(ctx context.Context, im ScopeSnapshot) error
	// ExpiredProvisional returns provisional holds past their time-out: of a branch's stock, or of the quotas on all
	// of its dates.
	ExpiredProvisional(ctx context.Context, s Scope, now time.Time, limit int) ([]Hold, error)
}

// SyncStore is the state in SQL that the admission cache is synchronized with; stocksql.Store implements it. It is safe
// for concurrent use by any number of processes.
type SyncStore interface {
	RebuildStore
	// Counts returns all counters of a scope, without locks: a commit at the same moment may or may not be contained.
	Counts(ctx context.Context, s Scope) ([]Count, error)
	// Scopes returns the scopes from a business date on, and every scope of stock, with the epoch that the cache must
	// show.
	Scopes(ctx context.Context, from string) (map[Scope]string, error)
	// Unapplied returns outbox entries behind the id after, in the order of ids, that were written and are due at or
	// before an instant.
	Unapplied(ctx context.Context, before time.Time, after string, limit int) ([]OutboxEntry, error)
	// RecordFailures stores failed attempts of outbox entries. An attempt that another process has recorded counts once.
	RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error
	// DeleteQueued deletes outbox entries that are applied.
	DeleteQueued(ctx context.Context, ids []string) error
	// TombstoneProvisional writes RELEASED holds for provisional holds without an order and returns the state of each.
	TombstoneProvisional(ctx context.Context, provisional []Hold, now time.Time) ([]HoldState, error)
	// Holds returns the holds that exist.
	Holds(ctx context.Context, ids []string) ([]HoldState, error)
}

// RebuildStore is the content from which a scope is rebuilt, and the claim on a rebuild. A claim is identified by its
// end, so every call passes the end that the caller knows. Claims are rows with a time, not locks: a claim that a
// killed process has left ends by itself, and no transaction stays open during a rebuild.
type RebuildStore interface {
	// ClaimRebuild makes the caller the only process that may rebuild a scope until an instant. On refusal, claimed is
	// false and free is the instant of the next possible claim.
	ClaimRebuild(ctx context.Context, s Scope, now, until time.Time) (claimed bool, free time.Time, err error)
	// RenewRebuild extends a claim and reports whether the caller still had it.
	RenewRebuild(ctx context.Context, s Scope, heldUntil, until time.Time) (bool, error)
	// EndRebuild stores the epoch that the cache has now, empty after a failure, and blocks the next claim until an
	// instant. It leaves a claim that the caller has lost as it is.
	EndRebuild(ctx context.Context, s Scope, heldUntil time.Time, epoch string, next time.Time) error
	// PrepareRebuild creates missing counters of the scope and deletes its outbox entries: their changes are contained
	// in everything that is read afterwards.
	PrepareRebuild(ctx context.Context, s Scope) error
	// ReadHolds passes page by page the holds of a scope that are held or that have ended since an instant.
	ReadHolds(ctx context.Context, s Scope, since time.Time, each func([]HoldState) error) error
	// Snapshot returns, all of one instant, the counters of a scope, the ids of its first outbox entries, and the
	// holds of those entries. more reports whether there are further entries.
	Snapshot(ctx context.Context, s Scope, limit int) (im ScopeSnapshot, entries []string, more bool, err error)
}

// Observer receives events of a Syncer for metrics and notifications. Its functions must not block; nil ones are not
// called. They run in the goroutine of the call that they report, some of them in that of a guest's request.
type Observer struct {
	Cold         func()                              // an order was placed without the cache
	Overruled    func()                              // a refusal was overruled by the counters in SQL
	Rebuilt      func(took time.Duration, err error) // a rebuild ended
	Drift        func(units int64)                   // difference between cache and SQL at the last reconciliation
	Expired      func(holds int)                     // provisional holds that ended without an order
	DeadLettered func(entries int)                   // entries that the cache rejected for the last time
	Synced       func(branch int64)                  // committed changes of a branch were sent to the cache
}

// Syncer keeps the admission cache equal to SQL: it applies committed changes, replays those that were missed,
// rebuilds scopes that are missing or wrong, and expires provisional holds whose order never came. SQL stays correct
// without it.
//
// Its loops (Apply, Replay, ExpireProvisional, Reconcile) may run in any number of processes.
//
// mu guards applied, rebuilds and suspects. It is held for a few instructions only, never during a call of the cache or
// of SQL.
type Syncer struct {
	cfg       SyncerConfig
	committed chan []OutboxEntry
	refusals  recentRefusals
	check     refusalCheck
	mu        sync.Mutex
	applied   []string           // applied entries that can be deleted in SQL
	rebuilds  map[Scope]*rebuild // rebuilds that this process has tried
	suspects  map[Scope]string   // differences at the last reconciliation
	tasks     sync.WaitGroup
	ctx       context.Context //nolint:containedctx // context of rebuilds; ends with Close
	cancel    context.CancelFunc
}

// SyncerConfig is the configuration of a Syncer. Observer, RebuildInterval and their fields are optional; everything
// else is required.
type SyncerConfig struct {
	Cache    AdmissionCache
	Store    SyncStore
	EndOfDay func(ctx context.Context, s Scope) (time.Time, error)
	Now      func() time.Time
	Log      *slog.Logger
	Observer Observer

	// RebuildInterval is the minimum time between the starts of two rebuilds of one scope: 10 s by default, negative
	// for none.
	RebuildInterval time.Duration
}

// committedQueue is the number of transactions that may wait for Apply. Replay picks up what does not fit. It bounds
// the memory while the cache is slow: with a cache that does not answer, Apply waits and the queue fills.
const committedQueue = 4096

// NewSyncer returns a syncer. The caller runs its loops; Close stops rebuilds in progress. It makes no call and starts
// no goroutine.
func NewSyncer(c SyncerConfig) *Syncer {
	c.RebuildInterval = cmp.Or(c.RebuildInterval, 10*time.Second)
	life, end := context.WithCancel(context.Background())
	return &Syncer{
		cfg: c, check: refusalCheck{read: c.Store.Counts, now: c.Now}, committed: make(chan []OutboxEntry, committedQueue),
		rebuilds: map[Scope]*rebuild{}, suspects: map[Scope]string{}, ctx: life, cancel: end,
	}
}

// Close stops rebuilds in progress and waits for them. The loops must have been stopped.
func (sy *Syncer) Close() {
	sy.cancel()
	sy.tasks.Wait()
}

// Reserve requests a provisional hold for every part of a hold, and drops the parts already taken when one is refused.
// It returns Cold where the cache cannot answer. A missing scope is rebuilt in the background, but not while the cache
// is slow or out of reach. A refusal counts only if the counters in SQL confirm it; otherwise Reserve returns Cold and
// SQL decides.
//
// The parts are requested one after the other, in the order in which SQL locks their counters. It never returns an
// error: without an answer of the cache it returns Cold.
func (sy *Syncer) Reserve(ctx context.Context, h Hold) AdmissionResult {
	all := AdmissionResult{Status: Admitted}
	var provisional []Hold
	for _, part := range h.Parts() {
		switch v := sy.reservePart(ctx, part); v.Status {
		case Admitted:
			provisional = append(provisional, part)
		case Refused:
			for _, l := range provisional {
				sy.dropPart(l)
			}
			return v
		default:
			all = v
		}
	}
	return all
}

// reservePart requests a provisional hold in one scope. The order of its checks is that of their cost: memory of this
// process, one call of Redis, and only for a refusal the counters in SQL, which concurrent refusals share (decision
// 12).
func (sy *Syncer) reservePart(ctx context.Context, h Hold) AdmissionResult {
	if short, ok := sy.refusals.lookup(h, sy.cfg.Now()); ok {
		return AdmissionResult{Status: Refused, Short: short}
	}
	v, err := sy.cfg.Cache.Reserve(ctx, h)
	if err != nil {
		sy.cfg.Log.WarnContext(ctx, "the admission cache was called with an invalid hold", "err", err)
		return AdmissionResult{Status: Cold}
	}
	if v.Status == Cold {
		if sy.cfg.Observer.Cold != nil {
			sy.cfg.Observer.Cold()
		}
	}
	// Cold without Missing means that Redis is slow or down. A rebuild would only make it slower.
	if v.Missing {
		sy.rebuildSoon(h.Scope)
	}
	if v.Status != Refused {
		return v
	}
	if v.Short = sy.check.shortages(ctx, h, v.Short); v.Short == nil {
		if sy.cfg.Observer.Overruled != nil {
			sy.cfg.Observer.Overruled()
		}
		return AdmissionResult{Status: Cold}
	}
	// Only a refusal that SQL has confirmed is repeated, so a provisional hold of a dead process does not refuse guests.
	sy.refusals.add(h.Scope, v.Short, sy.cfg.Now())
	return v
}

// DropProvisional releases a provisional hold after SQL has decided against its order. Call it only if the outcome is
// certain: releasing the units of an order that did commit would make the cache differ from SQL until the next rebuild.
// It returns at once and never fails.
func (sy *Syncer) DropProvisional(h Hold) {
	for _, p := range h.Parts() {
		sy.dropPart(p)
	}
}

// dropPart ends the provisional hold of one part. The id of an order is never reused, so it leaves a tombstone; the
// id of a reservation belongs to another system, which may send it again.
func (sy *Syncer) dropPart(part Hold) {
	kind := OpCancel
	if part.Scope.IsStock() {
		kind = OpForget
	}
	sy.enqueue([]OutboxEntry{{Scope: part.Scope, Ops: []Op{{Kind: kind, Hold: part}}}})
}

// EnqueueCommitted queues the committed changes of a transaction for the cache. It never blocks: Replay picks up
// entries that do not fit. It is called after the commit, mostly in the goroutine of the group commit, where waiting
// would delay all orders.
func (sy *Syncer) EnqueueCommitted(entries []OutboxEntry) {
	if len(entries) > 0 {
		sy.enqueue(entries)
	}
}

func (sy *Syncer) enqueue(entries []OutboxEntry) {
	// Refusals are invalidated before the send, because they must end even if the queue is full and Replay applies the
	// entries.
	for _, e := range entries {
		sy.refusals.invalidate(e.Ops)
		sy.check.invalidate(e.Ops)
	}
	select {
	case sy.committed <- entries:
	default:
	}
}

// DrainApplied returns the ids of applied entries, to be deleted in SQL, and clears the list. Losing ids is harmless:
// Replay applies their entries again, without effect, and deletes them then.
func (sy *Syncer) DrainApplied() []string {
	sy.mu.Lock()
	defer sy.mu.Unlock()
	ids := sy.applied
	sy.applied = nil
	return ids
}

// Counts returns the counters of items, from the cache if it has them, else from SQL. cached reports which.
//
// The cache returns the requested items that it has. SQL returns every counter of the scope, whatever was requested.
// Both are for display: no order may be decided by them.
func (sy *Syncer) Counts(ctx context.Context, s Scope, items []int64) (counts []Count, cached bool, err error) {
	counts, ok, err := sy.cfg.Cache.Counts(ctx, s, items)
	if err == nil && ok {
		return counts, true, nil
	}
	if err == nil {
		sy.rebuildSoon(s)
	}
	counts, err = sy.cfg.Store.Counts(ctx, s)
	return counts, false, err
}

// Pending returns the number of transactions that wait to be applied. A number that stays high means that the cache
// does not keep up.
func (sy *Syncer) Pending() int { return len(sy.committed) }
