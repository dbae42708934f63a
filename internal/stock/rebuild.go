package stock

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Limits of a rebuild.
const (
	rebuildLease       = 5 * time.Second // a claim ends unless it is renewed; then another process may take over
	rebuildTimeout     = 2 * time.Minute // a rebuild that takes longer fails
	maxRebuildInterval = time.Minute     // longest wait between failing rebuilds
	rebuildRetryDelay  = time.Second     // after a rebuild that could not start because SQL or the cache was out of reach

	// LongestClaim is longer than any claim of a rebuild and any pause after one. A time further in the future was
	// written before the clock was set back, and is ignored.
	LongestClaim = 2 * time.Minute

	// endedHoldsWindow is how long ended holds stay in the snapshot: longer than an operation on such a hold normally
	// takes to arrive. An operation that arrives later is counted twice, which Reconcile detects.
	endedHoldsWindow = time.Minute

	tailBatch = 100 // outbox entries in one snapshot
)

// rebuild is the state of a scope's rebuilds in this process. running and next are guarded by Syncer.mu. failures
// belongs to the running rebuild alone, of which there is at most one.
type rebuild struct {
	running  bool
	next     time.Time // earliest start of the next one
	failures int       // in a row
}

// rebuildSoon starts a rebuild of a scope in the background, unless one is running or has just ended: while the cache
// lacks a scope, every order requests a rebuild. It returns at once. It compares the times in this process first, so
// that many requests do not become as many claims in SQL, where the same interval holds over all processes.
func (sy *Syncer) rebuildSoon(s Scope) {
	now := sy.cfg.Now()
	sy.mu.Lock()
	defer sy.mu.Unlock()
	// After Close no task may begin, because Close waits for those that it can see.
	if sy.ctx.Err() != nil {
		return
	}
	r := sy.rebuilds[s]
	if r == nil {
		r = &rebuild{}
		sy.rebuilds[s] = r
	}
	if wait := r.next.Sub(now); r.running || wait > 0 && wait <= LongestClaim {
		return
	}
	r.running = true
	sy.tasks.Go(func() {
		next := now.Add(rebuildRetryDelay) // used if the rebuild panics
		defer func() { sy.rebuildEnded(s, next) }()
		ctx, cancel := context.WithTimeout(sy.ctx, rebuildTimeout)
		defer cancel()
		defer sy.recoverPanic(ctx, "rebuild")
		var err error
		if next, err = sy.rebuild(ctx, s, r.failures); err != nil {
			sy.cfg.Log.DebugContext(ctx, "a scope could not be rebuilt", "branch", s.Branch, "date", s.Date, "err", err)
			r.failures++
			return
		}
		r.failures = 0
	})
}

// rebuildEnded records the end of a rebuild and when the next one may begin. Refusals are forgotten because they may
// come from counters that the rebuild has corrected, and the last difference because it is of the state before the
// rebuild.
func (sy *Syncer) rebuildEnded(s Scope, next time.Time) {
	sy.refusals.clear()
	sy.mu.Lock()
	defer sy.mu.Unlock()
	r := sy.rebuilds[s]
	r.running, r.next = false, next
	delete(sy.suspects, s)
}

// Rebuild rebuilds a scope of the cache from SQL, unless another process is doing so or has just done so.
func (sy *Syncer) Rebuild(ctx context.Context, s Scope) error {
	_, err := sy.rebuild(ctx, s, 0)
	return err
}

// rebuild returns the earliest time of the scope's next rebuild. Errors of SQL or the cache before the copy begins are
// retried soon. A copy that failed has loaded SQL and Redis, so the delay grows with each failure, up to
// maxRebuildInterval.
func (sy *Syncer) rebuild(ctx context.Context, s Scope, failures int) (next time.Time, err error) {
	begun := sy.cfg.Now()
	c := &claim{journal: sy.cfg.Store, now: sy.cfg.Now, scope: s, until: begun.Add(rebuildLease)}
	claimed, free, err := sy.cfg.Store.ClaimRebuild(ctx, s, begun, c.until)
	if err != nil {
		return begun.Add(rebuildRetryDelay), err
	}
	if !claimed {
		return free, nil
	}
	// The empty epoch stays in SQL if the rebuild fails. No cache ever shows it, so Reconcile finds the difference and
	// rebuilds.
	epoch := ""
	// The claim is ended even if ctx has ended. Otherwise other processes would wait until the claim expires.
	defer func() {
		if end := sy.cfg.Store.EndRebuild(context.WithoutCancel(ctx), s, c.until, epoch, next); err == nil {
			err = end
		}
		if sy.cfg.Observer.Rebuilt != nil {
			sy.cfg.Observer.Rebuilt(sy.cfg.Now().Sub(begun), err)
		}
	}()
	// Read before the cache is touched: if the calendar cannot be read, the scope stays known and usable.
	ends, err := sy.endOf(ctx, s)
	if err != nil {
		return begun.Add(rebuildRetryDelay), err
	}
	// From here on the scope is unknown until FinishRebuild, even after a failure: orders go on, decided by SQL alone.
	building, err := sy.cfg.Cache.BeginRebuild(ctx, s)
	if err != nil {
		return begun.Add(rebuildRetryDelay), err
	}
	if err := sy.copyScope(ctx, c, ScopeSnapshot{Scope: s, Epoch: building, Ends: ends}); err != nil {
		return begun.Add(min(sy.cfg.RebuildInterval<<min(failures, 3), max(maxRebuildInterval, sy.cfg.RebuildInterval))), err
	}
	epoch = building
	return begun.Add(sy.cfg.RebuildInterval), nil
}

// copyScope copies a scope from SQL to the cache while orders continue, without locks and in pieces.
//
// From BeginRebuild on, the cache lacks the scope and applies nothing to it, so every entry committed from then on
// stays in redis_outbox. Holds are read in pages after that moment; a hold that changes after its page was read has an
// entry and is read again. The last piece is of one instant: the counters, the remaining entries, and their holds.
// Later commits are applied after the rebuild. An entry is deleted only once its hold is in the cache under this epoch:
// a later rebuild reads everything again.
//
// It may need several rounds of the tail, because orders keep adding entries. Each round deletes what it has loaded, so
// it ends as soon as tailBatch is more than what is added during one round.
func (sy *Syncer) copyScope(ctx context.Context, c *claim, im ScopeSnapshot) error {
	if err := sy.cfg.Store.PrepareRebuild(ctx, im.Scope); err != nil {
		return err
	}
	err := sy.cfg.Store.ReadHolds(ctx, im.Scope, sy.cfg.Now().Add(-endedHoldsWindow), func(holds []HoldState) error {
		// The claim is renewed before the write and not after it: a process that was suspended must not write into the
		// rebuild of its successor. The cache would refuse the call as well (G5).
		if err := c.renew(ctx); err != nil {
			return err
		}
		im.Holds = holds
		return sy.cfg.Cache.Load(ctx, im)
	})
	if err != nil {
		return err
	}
	for {
		if err := c.renew(ctx); err != nil {
			return err
		}
		rest, entries, more, err := sy.cfg.Store.Snapshot(ctx, im.Scope, tailBatch)
		if err != nil {
			return err
		}
		im.Counts, im.Holds = rest.Counts, rest.Holds
		if !more {
			// The entries are deleted only after the scope is known. If this process dies in between, Replay applies them again.
			if err := sy.cfg.Cache.FinishRebuild(ctx, im); err != nil {
				return err
			}
			sy.mu.Lock()
			sy.applied = append(sy.applied, entries...)
			sy.mu.Unlock()
			return nil
		}
		if err := sy.cfg.Cache.Load(ctx, im); err != nil {
			return err
		}
		if err := sy.cfg.Store.DeleteQueued(ctx, entries); err != nil {
			return err
		}
	}
}

// claim is the right to rebuild a scope. It is identified by its end: no two claims of a scope end at the same
// instant. It is used by one goroutine.
type claim struct {
	journal SyncStore
	now     func() time.Time
	scope   Scope
	until   time.Time
}

var errClaimLost = errors.New("stock: another process has taken the rebuild over")

// renew extends a claim, at most every second. A lost claim ends the rebuild: the process that has taken it over starts
// from the beginning.
func (c *claim) renew(ctx context.Context) error {
	until := c.now().Add(rebuildLease)
	if until.Sub(c.until) < time.Second {
		return nil
	}
	renewed, err := c.journal.RenewRebuild(ctx, c.scope, c.until, until)
	if err == nil && !renewed {
		err = errClaimLost
	}
	if err == nil {
		c.until = until
	}
	return err
}

// endOf returns the end of a scope: of its business day or, for stock, the time by which it must be rebuilt. The cache
// derives the TTLs of its keys from that time, so that every key of a scope expires.
func (sy *Syncer) endOf(ctx context.Context, s Scope) (time.Time, error) {
	if s.IsStock() {
		return sy.cfg.Now().Add(stockScopeTTL), nil
	}
	return sy.cfg.EndOfDay(ctx, s)
}

// recoverPanic keeps a panic of a background task from ending the process; SQL stays correct without the cache.
func (sy *Syncer) recoverPanic(ctx context.Context, what string) {
	if p := recover(); p != nil {
		sy.cfg.Log.ErrorContext(ctx, "a task of the admission cache syncer panicked", "task", what, "panic", fmt.Sprint(p),
			"stack", string(debug.Stack()))
	}
}
