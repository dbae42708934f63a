package stock

import (
	"context"
	"errors"
	"time"

	"comanda/internal/backoff"
	"comanda/internal/queue"
	"comanda/internal/seq"
)

// Limits of the replay.
const (
	replayDelay = 2 * time.Second // a younger entry is still on its way through Apply
	replayBatch = 500
)

// retries spans more than half an hour, in which operators can find and fix a fault in Redis.
var retries = queue.Policy{
	Policy: backoff.Policy{First: time.Second, Factor: 3, Max: 10 * time.Minute}, MaxAttempts: 10,
}

// rejectedEntry is an entry that the admission cache has rejected once more.
type rejectedEntry struct {
	OutboxEntry
	cause error
}

// applyResult is the outcome of entries that were sent to the cache. Entries in neither list wait, without a counted
// attempt: the cache is out of reach or lacks their scope. The fields decide the next step: delete, count an attempt,
// or end this round.
type applyResult struct {
	done        []string
	rejected    []rejectedEntry
	unreachable bool // the cache was out of reach
}

// applyEntries sends entries to the cache and records those that were applied completely. A scope that the cache lacks
// is rebuilt. A rejected entry causes no rebuild: Reconcile detects whether the scope differs. All entries go into one
// call, because a call costs more than the operations in it. at is the index of an operation in that call. It is safe
// to apply an entry twice, even from two processes at once.
func (sy *Syncer) applyEntries(ctx context.Context, entries []OutboxEntry) applyResult {
	var ops []Op
	for _, e := range entries {
		ops = append(ops, e.Ops...)
	}
	applied, err := sy.cfg.Cache.Apply(ctx, ops)
	sy.refusals.invalidate(ops) // what was refused while these were on their way may fit now
	rejected, at := &RejectedError{}, 0
	t := applyResult{unreachable: err != nil && !errors.As(err, &rejected)}
	if err != nil {
		sy.cfg.Log.DebugContext(ctx, "the admission cache did not apply everything", "err", err)
	}
	for _, e := range entries {
		waits, cause := false, e.DecodeErr
		for range e.Ops {
			if err := rejected.Ops[at]; err != nil {
				cause = err
			} else if at >= len(applied) || !applied[at] {
				waits = true
			}
			at++
		}
		switch {
		// Waiting is tested before rejection: an entry with a part that was not tried yet gets no attempt counted. Its
		// rejected part will be rejected again.
		case waits && t.unreachable: // out of reach: a rebuild would not help
		case waits:
			sy.rebuildSoon(e.Scope)
		case cause != nil:
			t.rejected = append(t.rejected, rejectedEntry{e, cause})
		// Entries that drop a provisional hold are in no table, so there is nothing to delete.
		case e.ID != "":
			t.done = append(t.done, e.ID)
		}
	}
	sy.mu.Lock()
	sy.applied = append(sy.applied, t.done...)
	sy.mu.Unlock()
	sy.notify(entries)
	return t
}

// notify reports the branches of entries to the observer: their availability may have changed, in the cache or, while
// the cache is out of reach, in SQL. It is called after the cache was changed, so that a display that reloads reads
// the new counters.
func (sy *Syncer) notify(entries []OutboxEntry) {
	if sy.cfg.Observer.Synced == nil {
		return
	}
	var last int64
	for _, e := range entries {
		if e.Scope.Branch != last { // mostly all are of one branch; a duplicate is harmless
			last = e.Scope.Branch
			sy.cfg.Observer.Synced(last)
		}
	}
}

// Replay applies entries that any process has committed but not applied, and deletes applied ones in SQL. Entries
// that are still on their way or not due yet are skipped.
func (sy *Syncer) Replay(ctx context.Context) error { return sy.replay(ctx, replayDelay) }

// ReplayAll is Replay without the delay for recent entries. It is for a caller that has just committed a change
// without EnqueueCommitted, such as a quota, and wants it in the cache before it responds.
func (sy *Syncer) ReplayAll(ctx context.Context) error { return sy.replay(ctx, 0) }

// replay goes through all entries page by page, so that entries of a scope that cannot be rebuilt block no other
// scope.
func (sy *Syncer) replay(ctx context.Context, young time.Duration) error {
	// Usually a later order deletes applied entries in its own transaction. This call deletes those that no order
	// followed.
	if err := sy.cfg.Store.DeleteQueued(ctx, sy.DrainApplied()); err != nil {
		return err
	}
	for after := ""; ; {
		entries, err := sy.cfg.Store.Unapplied(ctx, sy.cfg.Now().Add(-young), after, replayBatch)
		if err != nil || len(entries) == 0 {
			return err
		}
		after = entries[len(entries)-1].ID
		t := sy.applyEntries(ctx, entries)
		if err := errors.Join(sy.cfg.Store.DeleteQueued(ctx, sy.DrainApplied()), sy.recordRejected(ctx, t.rejected)); err != nil {
			return err
		}
		// While the cache is out of reach, further pages would fail like this one. The next round begins at the first page
		// again.
		if len(entries) < replayBatch || t.unreachable && len(t.done) == 0 {
			return nil
		}
	}
}

// recordRejected stores an attempt of rejected entries. After its last attempt an entry becomes a dead letter, so that
// an operator sees the cause. That does not affect sales, because SQL has the change, and a rebuild of the scope
// applies it.
func (sy *Syncer) recordRejected(ctx context.Context, rejected []rejectedEntry) error {
	now, dead := sy.cfg.Now(), 0
	failures := seq.Map(rejected, func(e rejectedEntry) queue.Failure {
		return retries.Failed(e.ID, e.Attempts, e.Attempts+1, now, e.cause)
	})
	if err := sy.cfg.Store.RecordFailures(ctx, now, failures...); err != nil {
		return err
	}
	for i, e := range rejected {
		if !failures[i].Dead {
			sy.cfg.Log.WarnContext(ctx, "the admission cache rejected an entry, which is retried", "entry", e.ID,
				"branch", e.Scope.Branch, "date", e.Scope.Date, "attempts", e.Attempts+1, "err", e.cause)
			continue
		}
		dead++
		sy.cfg.Log.ErrorContext(ctx, "the admission cache rejected an entry for the last time, and its scope is rebuilt",
			"entry", e.ID, "branch", e.Scope.Branch, "date", e.Scope.Date, "err", e.cause)
		sy.rebuildSoon(e.Scope)
	}
	if dead > 0 && sy.cfg.Observer.DeadLettered != nil {
		sy.cfg.Observer.DeadLettered(dead)
	}
	return nil
}
