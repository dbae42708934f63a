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

	// endedHoldsWindow is how long ended holds stay in the snapshot: longer than an operation on them normally takes
	// to arrive. A later one is counted twice, which Reconcile detects.
	endedHoldsWindow = time.Minute

	tailBatch = 100 // outbox entries in one snapshot
)

// rebuild is the state of a scope's rebuilds in this process.
type rebuild struct {
	running  bool
	next     time.Time // earliest start of the next one
	failures int       // in a row
}

// rebuildSoon rebuilds a scope in the background, unless a rebuild is running or has ended a short while ago: while
// the cache lacks a scope, every order requests one.
func (k *Syncer) rebuildSoon(s Scope) {
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ctx.Err() != nil {
		return
	}
	r := k.rebuilds[s]
	if r == nil {
		r = &rebuild{}
		k.rebuilds[s] = r
	}
	if wait := r.next.Sub(now); r.running || wait > 0 && wait <= LongestClaim {
		return
	}
	r.running = true
	k.tasks.Go(func() {
		next := now.Add(rebuildRetryDelay) // after a panic
		defer func() { k.rebuildEnded(s, next) }()
		defer k.recoverPanic("rebuild")
		ctx, cancel := context.WithTimeout(k.ctx, rebuildTimeout)
		defer cancel()
		var err error
		if next, err = k.rebuild(ctx, s, r.failures); err != nil {
			k.log.DebugContext(ctx, "a scope could not be rebuilt", "branch", s.Branch, "date", s.Date, "err", err)
			r.failures++
			return
		}
		r.failures = 0
	})
}

func (k *Syncer) rebuildEnded(s Scope, next time.Time) {
	k.refusals.clear()
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rebuilds[s]
	r.running, r.next = false, next
	delete(k.suspects, s)
}

// Rebuild rebuilds a scope of the cache from SQL, unless another process is doing so or has just done so.
func (k *Syncer) Rebuild(ctx context.Context, s Scope) error {
	_, err := k.rebuild(ctx, s, 0)
	return err
}

// rebuild returns the instant from which the scope may be rebuilt again.
func (k *Syncer) rebuild(ctx context.Context, s Scope, failures int) (next time.Time, err error) {
	begun := k.now()
	c := &claim{journal: k.store, now: k.now, scope: s, until: begun.Add(rebuildLease)}
	mine, free, err := k.store.ClaimRebuild(ctx, s, begun, c.until)
	if err != nil {
		return begun.Add(rebuildRetryDelay), err
	}
	if !mine {
		return free, nil
	}
	epoch := ""
	defer func() {
		if end := k.store.EndRebuild(context.WithoutCancel(ctx), s, c.until, epoch, next); err == nil {
			err = end
		}
		if k.observer.Rebuilt != nil {
			k.observer.Rebuilt(k.now().Sub(begun), err)
		}
	}()
	ends, err := k.endOf(ctx, s)
	if err != nil {
		return begun.Add(rebuildRetryDelay), err
	}
	building, err := k.cache.BeginRebuild(ctx, s)
	if err != nil {
		return begun.Add(rebuildRetryDelay), err
	}
	if err := k.copyScope(ctx, c, ScopeSnapshot{Scope: s, Epoch: building, Ends: ends}); err != nil {
		return begun.Add(min(k.rebuildInterval<<min(failures, 3), max(maxRebuildInterval, k.rebuildInterval))), err
	}
	epoch = building
	return begun.Add(k.rebuildInterval), nil
}

// copyScope copies a scope from SQL to the cache while orders continue, without locks and in pieces.
//
// From BeginRebuild on, the cache lacks the scope and applies nothing to it, so every entry committed from then on
// stays in redis_outbox. Holds are read in pages after that moment; a hold that changes after its page was read has
// an entry and is read again. The last piece is of one instant: the counters, the remaining entries, and their holds.
// Later commits are applied after the rebuild. An entry is deleted only once its hold is in the cache under this
// epoch: a later rebuild reads everything again.
func (k *Syncer) copyScope(ctx context.Context, c *claim, im ScopeSnapshot) error {
	if err := k.store.PrepareRebuild(ctx, im.Scope); err != nil {
		return err
	}
	err := k.store.ReadHolds(ctx, im.Scope, k.now().Add(-endedHoldsWindow), func(holds []HoldState) error {
		if err := c.renew(ctx); err != nil {
			return err
		}
		im.Holds = holds
		return k.cache.Load(ctx, im)
	})
	if err != nil {
		return err
	}
	for {
		if err := c.renew(ctx); err != nil {
			return err
		}
		rest, entries, more, err := k.store.Snapshot(ctx, im.Scope, tailBatch)
		if err != nil {
			return err
		}
		im.Counts, im.Holds = rest.Counts, rest.Holds
		if !more {
			if err := k.cache.FinishRebuild(ctx, im); err != nil {
				return err
			}
			k.mu.Lock()
			k.applied = append(k.applied, entries...)
			k.mu.Unlock()
			return nil
		}
		if err := k.cache.Load(ctx, im); err != nil {
			return err
		}
		if err := k.store.DeleteQueued(ctx, entries); err != nil {
			return err
		}
	}
}

// claim is the right to rebuild a scope. Its end identifies it: no two claims of a scope end at the same instant.
type claim struct {
	journal SyncStore
	now     func() time.Time
	scope   Scope
	until   time.Time
}

var errClaimLost = errors.New("stock: another process has taken the rebuild over")

// renew extends a claim, at most every second.
func (c *claim) renew(ctx context.Context) error {
	until := c.now().Add(rebuildLease)
	if until.Sub(c.until) < time.Second {
		return nil
	}
	mine, err := c.journal.RenewRebuild(ctx, c.scope, c.until, until)
	if err == nil && !mine {
		err = errClaimLost
	}
	if err == nil {
		c.until = until
	}
	return err
}

// endOf returns the end of a scope: of its business day or, for stock, the time by which it must be rebuilt.
func (k *Syncer) endOf(ctx context.Context, s Scope) (time.Time, error) {
	if s.IsStock() {
		return k.now().Add(stockScopeTTL), nil
	}
	return k.endOfDay(ctx, s)
}

// recoverPanic keeps a panic of a background task from ending the process; SQL stays correct without the cache.
func (k *Syncer) recoverPanic(what string) {
	if p := recover(); p != nil {
		k.log.Error("a task of the admission cache syncer panicked", "task", what, "panic", fmt.Sprint(p),
			"stack", string(debug.Stack()))
	}
}
