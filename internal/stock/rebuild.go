package stock

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Measures of a rebuild.
const (
	rebuildLease       = 5 * time.Second // a claim that is not renewed for so long ends; then another process may take over
	rebuildTimeout     = 2 * time.Minute // a rebuild that is not finished by then fails
	maxRebuildInterval = time.Minute     // between rebuilds that fail
	rebuildRetryDelay  = time.Second     // after one that has not begun, because SQL or the gate was out of reach

	// LongestClaim is longer than any claim of a rebuild and any pause after one. What reaches further into the future is of a
	// time before the clock was set back, and counts for nothing.
	LongestClaim = 2 * time.Minute

	// endedLately is how long ended holds are in the image: longer than an operation on them is normally on its way. One
	// that arrives later is counted twice, which the watch finds.
	endedHoldsWindow = time.Minute

	tailBatch = 100 // entries that are caught up with in one go
)

// rebuild is what this process knows of the rebuilds of a scope.
type rebuild struct {
	running  bool
	next     time.Time // when the next may begin
	failures int       // in a row
}

// rebuildSoon rebuilds a scope in the background, unless that is under way or was so a short while ago: while the gate
// does not know a scope, every order asks for a rebuild.
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

// Rebuild builds a scope of the gate anew from SQL, unless another process is at it or has just done it.
func (k *Syncer) Rebuild(ctx context.Context, s Scope) error {
	_, err := k.rebuild(ctx, s, 0)
	return err
}

// rebuild returns from when on the scope may be rebuilt again.
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

// fill copies a scope to the gate while orders go on, without a lock and in pieces, however many holds there are.
//
// From the moment at which the gate was told, it knows nothing of the scope and takes nothing in, so every entry that is
// committed from then on stays in redis_outbox. Holds are read in pages, each later than that moment; one that changes after
// its page was read has an entry, by which it is read again. The last piece is of one instant: the counters, the entries
// that are left, and the holds that these name. What is committed after that instant is applied after the rebuild. An entry
// is forgotten only once its hold is in the gate under this epoch: a later rebuild reads everything anew.
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
		if err := k.store.DeleteEntries(ctx, entries); err != nil {
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

// renew keeps a claim from ending, at most every second.
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

// endOf is when a scope ends: with its business day, or, of stock, when it must have been built anew.
func (k *Syncer) endOf(ctx context.Context, s Scope) (time.Time, error) {
	if s.IsStock() {
		return k.now().Add(stockScopeTTL), nil
	}
	return k.endOfDay(ctx, s)
}

// survive keeps a panic of a background task from ending the process; the ledger is right without the gate.
func (k *Syncer) recoverPanic(what string) {
	if p := recover(); p != nil {
		k.log.Error("a task of the gatekeeper panicked", "task", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
}
