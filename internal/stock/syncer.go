package stock

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Gate is Redis ahead of the ledger. Its answers are advice.
type AdmissionCache interface {
	Reserve(ctx context.Context, h Hold) (AdmissionResult, error)
	// Apply tells which operations the gate has dealt with; the others must be told again. A RejectedError names those
	// which are themselves at fault.
	Apply(ctx context.Context, ops []Op) (applied []bool, err error)
	Counts(ctx context.Context, s Scope, items []int64) (counts []Count, ok bool, err error)
	// All gives every counter of a scope; not ok when the scope is unknown.
	ReadScope(ctx context.Context, s Scope) (shown CachedScope, ok bool, err error)
	// BeginRebuild makes a scope unknown and returns the epoch under which it is built.
	BeginRebuild(ctx context.Context, s Scope) (epoch string, err error)
	// Load enters holds of an image, each in the state that the last call for it names.
	Load(ctx context.Context, im ScopeSnapshot) error
	// FinishRebuild enters what an image holds and makes the scope known.
	FinishRebuild(ctx context.Context, im ScopeSnapshot) error
	// Due gives leases that ran out: of a branch's stock, or of the quotas of all of a branch's dates.
	ExpiredProvisional(ctx context.Context, s Scope, now time.Time, limit int) ([]Hold, error)
}

// Journal is what SQL knows for the gate.
type SyncStore interface {
	RebuildStore
	Counts(ctx context.Context, s Scope) ([]Count, error)
	Scopes(ctx context.Context, from string) (map[Scope]string, error)
	// Unapplied gives entries that were written and are due at or before an instant, behind an id, in the order of ids.
	Unapplied(ctx context.Context, before time.Time, after string, limit int) ([]OutboxEntry, error)
	// Postpone notes one more attempt of each entry, unless another process has noted the same one.
	Postpone(ctx context.Context, late []FailedEntry, now time.Time) error
	DeleteEntries(ctx context.Context, ids []string) error
	TombstoneProvisional(ctx context.Context, leases []Hold, now time.Time) ([]HoldState, error)
	// Holds gives those of some holds that exist.
	Holds(ctx context.Context, ids []string) ([]HoldState, error)
}

// Images are what the gate is rebuilt from, and the right to do so.
type RebuildStore interface {
	// ClaimRebuild makes the caller the only one who may rebuild a scope until an instant. When it may not, mine is
	// false and free is the instant from which it may ask again.
	ClaimRebuild(ctx context.Context, s Scope, now, until time.Time) (mine bool, free time.Time, err error)
	// RenewRebuild moves the end of a claim and reports whether the claim was still the caller's.
	RenewRebuild(ctx context.Context, s Scope, was, until time.Time) (bool, error)
	// EndRebuild records the epoch that the gate shows now, empty after a failure, and bars the next claim until an
	// instant. A claim that is not the caller's any more is left as it is.
	EndRebuild(ctx context.Context, s Scope, was time.Time, epoch string, next time.Time) error
	// BeginImage makes the scope's counters exist and forgets its entries: what they say is in what is read from here on.
	PrepareRebuild(ctx context.Context, s Scope) error
	// ReadHolds passes on, page by page, the holds of a scope that are held or that have ended since an instant.
	ReadHolds(ctx context.Context, s Scope, since time.Time, each func([]HoldState) error) error
	// Image reads, all of one instant, the counters of a scope, its first entries, and the holds that these name. It
	// reports whether there are more entries.
	Snapshot(ctx context.Context, s Scope, limit int) (im ScopeSnapshot, entries []string, more bool, err error)
}

// Observer is told what the gatekeeper does. Its functions must not block; nil ones are not called.
type Observer struct {
	Cold         func()                              // an order went on without the gate
	Overruled    func()                              // the gate refused what fits by the ledger's counters
	Rebuilt      func(took time.Duration, err error) // a rebuild ended
	Drift        func(units int64)                   // how far the gate was from SQL at the last look
	Expired      func(leases int)                    // leases that ended without an order
	DeadLettered func(entries int)                   // entries that the gate refused for the last time
	Synced       func(branch int64)                  // the gate was told of what is committed in a branch
}

// Gatekeeper keeps the gate equal to SQL: it applies what was committed, replays what was left behind, rebuilds what is
// missing or wrong, and buries leases whose order never came. Whatever it does, the ledger stays right without it.
//
// Its loops (ApplyCommitted, Recover, Reap, Watch) may run in any number of processes.
type Syncer struct {
	cache           AdmissionCache
	store           SyncStore
	endOfDay        func(ctx context.Context, s Scope) (time.Time, error) // the end of a scope's business day
	now             func() time.Time
	log             *slog.Logger
	observer        Observer
	rebuildInterval time.Duration

	committed chan []OutboxEntry
	refusals  recentRefusals
	check     refusalCheck
	mu        sync.Mutex
	applied   []string           // entries that Redis has taken in and SQL may forget
	rebuilds  map[Scope]*rebuild // those that this process has tried
	suspects  map[Scope]string   // what differed at the last look
	tasks     sync.WaitGroup
	ctx       context.Context //nolint:containedctx // of rebuilds, which outlive the calls that ask for them; ends with Close
	cancel    context.CancelFunc
}

// GatekeeperConfig says what a gatekeeper works with.
type SyncerConfig struct {
	Cache    AdmissionCache
	Store    SyncStore
	EndOfDay func(ctx context.Context, s Scope) (time.Time, error)
	Now      func() time.Time
	Log      *slog.Logger
	Observer Observer

	// Pause is the least time between the beginnings of two rebuilds of one scope: 10 s by default, negative for none.
	RebuildInterval time.Duration
}

// committedQueue is how many transactions may wait to be applied; more are left to Recover.
const committedQueue = 4096

// NewGatekeeper makes a gatekeeper; its loops are run by the caller. Close ends rebuilds under way.
func NewSyncer(c SyncerConfig) *Syncer {
	if c.RebuildInterval == 0 {
		c.RebuildInterval = 10 * time.Second
	}
	life, end := context.WithCancel(context.Background())
	return &Syncer{
		check: refusalCheck{read: c.Store.Counts, now: c.Now},
		cache: c.Cache, store: c.Store, endOfDay: c.EndOfDay, now: c.Now, log: c.Log, observer: c.Observer,
		rebuildInterval: c.RebuildInterval,
		committed:       make(chan []OutboxEntry, committedQueue),
		rebuilds:        map[Scope]*rebuild{}, suspects: map[Scope]string{}, ctx: life, cancel: end,
	}
}

// Close ends rebuilds under way and returns when they have. The loops must have been stopped.
func (k *Syncer) Close() {
	k.cancel()
	k.tasks.Wait()
}

// Try asks the gate about every part of a hold, and gives up the leases that it has got when one is refused. What the
// gate cannot answer is Cold. A scope that it does not know is rebuilt meanwhile; while the gate is slow or out of reach,
// nothing is. A refusal counts only when the ledger's counters say the same: else the answer is Cold, and the ledger
// decides.
func (k *Syncer) Reserve(ctx context.Context, h Hold) AdmissionResult {
	all := AdmissionResult{Status: Admitted}
	var leases []Hold
	for _, part := range h.Parts() {
		switch v := k.reservePart(ctx, part); v.Status {
		case Admitted:
			leases = append(leases, part)
		case Refused:
			for _, l := range leases {
				k.dropPart(l)
			}
			return v
		default:
			all = v
		}
	}
	return all
}

func (k *Syncer) reservePart(ctx context.Context, h Hold) AdmissionResult {
	if short, ok := k.refusals.lookup(h, k.now()); ok {
		return AdmissionResult{Status: Refused, Short: short}
	}
	v, err := k.cache.Reserve(ctx, h)
	if err != nil {
		k.log.WarnContext(ctx, "the gate was asked something impossible", "err", err)
		return AdmissionResult{Status: Cold}
	}
	if v.Status == Cold {
		if k.observer.Cold != nil {
			k.observer.Cold()
		}
	}
	if v.Missing {
		k.rebuildSoon(h.Scope)
	}
	if v.Status != Refused {
		return v
	}
	if v.Short = k.check.shortages(ctx, h, v.Short); v.Short == nil {
		if k.observer.Overruled != nil {
			k.observer.Overruled()
		}
		return AdmissionResult{Status: Cold}
	}
	k.refusals.add(h.Scope, v.Short, k.now())
	return v
}

// Abandon gives a lease back after the ledger has decided against its order.
func (k *Syncer) DropProvisional(h Hold) {
	for _, p := range h.Parts() {
		k.dropPart(p)
	}
}

// abandon ends the lease of one part. The id of an order never comes again; that of a reservation is its owner's.
func (k *Syncer) dropPart(part Hold) {
	kind := OpCancel
	if part.Scope.IsStock() {
		kind = OpForget
	}
	k.enqueue([]OutboxEntry{{Scope: part.Scope, Ops: []Op{{Kind: kind, Hold: part}}}})
}

// Committed takes over what a transaction has decided. It never blocks: what does not fit is replayed by Recover.
func (k *Syncer) EnqueueCommitted(entries []OutboxEntry) {
	if len(entries) > 0 {
		k.enqueue(entries)
	}
}

func (k *Syncer) enqueue(entries []OutboxEntry) {
	for _, e := range entries {
		k.refusals.invalidate(e.Ops)
		k.check.invalidate(e.Ops)
	}
	select {
	case k.committed <- entries:
	default:
	}
}

// Applied gives the ids of entries that SQL may forget, and forgets them itself. Ids that are lost on the way cost
// nothing: Recover applies their entries once more, to no effect, and forgets them then.
func (k *Syncer) DrainApplied() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	ids := k.applied
	k.applied = nil
	return ids
}

// Counts gives items' counters: from the gate where it knows them, else from SQL. fromGate tells which.
func (k *Syncer) Counts(ctx context.Context, s Scope, items []int64) (counts []Count, fromGate bool, err error) {
	counts, ok, err := k.cache.Counts(ctx, s, items)
	if err == nil && ok {
		return counts, true, nil
	}
	if err == nil {
		k.rebuildSoon(s)
	}
	counts, err = k.store.Counts(ctx, s)
	return counts, false, err
}

// Waiting tells how many transactions wait to be applied.
func (k *Syncer) Pending() int { return len(k.committed) }
