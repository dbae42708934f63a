package stock

import (
	"context"
	"errors"
	"time"
)

// Limits of the replay. A rejected entry waits a second, then three times as long after each attempt: ten attempts
// take more than half an hour, in which operators can find and fix a fault in Redis.
const (
	replayDelay     = 2 * time.Second // a younger entry is still on its way through Apply
	replayBatch     = 500
	maxAttempts     = 10
	firstRetryDelay = time.Second
	maxRetryDelay   = 10 * time.Minute
)

func retryDelay(attempts int) time.Duration {
	p := firstRetryDelay
	for ; attempts > 1 && p < maxRetryDelay; attempts-- {
		p *= 3
	}
	return min(p, maxRetryDelay)
}

// applyResult is the outcome of entries that were sent to the cache. Entries in neither list wait, without a counted
// attempt: the cache is out of reach or lacks their scope.
type applyResult struct {
	done        []string
	refused     []FailedEntry // only Entry and Cause are set yet
	unreachable bool          // the cache was out of reach
}

// applyEntries sends entries to the cache and records those that were applied completely. A scope that the cache
// lacks is rebuilt. A rejected entry causes no rebuild: Reconcile detects whether the scope differs.
func (k *Syncer) applyEntries(ctx context.Context, entries []OutboxEntry) applyResult {
	var ops []Op
	for _, e := range entries {
		ops = append(ops, e.Ops...)
	}
	applied, err := k.cache.Apply(ctx, ops)
	k.refusals.invalidate(ops) // what was refused while these were on their way may fit now
	rejected, at := &RejectedError{}, 0
	t := applyResult{unreachable: err != nil && !errors.As(err, &rejected)}
	if err != nil {
		k.log.DebugContext(ctx, "the admission cache did not apply everything", "err", err)
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
		case waits && t.unreachable: // out of reach: a rebuild would not help
		case waits:
			k.rebuildSoon(e.Scope)
		case cause != nil:
			t.refused = append(t.refused, FailedEntry{OutboxEntry: e, Cause: cause})
		case e.ID != "":
			t.done = append(t.done, e.ID)
		}
	}
	k.mu.Lock()
	k.applied = append(k.applied, t.done...)
	k.mu.Unlock()
	k.notify(entries)
	return t
}

// notify reports the branches of entries to the observer: their availability may have changed, in the cache or, while
// that is out of reach, in SQL.
func (k *Syncer) notify(entries []OutboxEntry) {
	if k.observer.Synced == nil {
		return
	}
	var last int64
	for _, e := range entries {
		if e.Scope.Branch != last { // mostly all are of one branch; a duplicate is harmless
			last = e.Scope.Branch
			k.observer.Synced(last)
		}
	}
}

// Replay applies entries that any process has committed but not applied, and deletes applied ones in SQL. Entries
// that are still on their way or not due yet are skipped.
func (k *Syncer) Replay(ctx context.Context) error { return k.replay(ctx, replayDelay) }

// ReplayAll is Replay for a process in which no entry is on its way.
func (k *Syncer) ReplayAll(ctx context.Context) error { return k.replay(ctx, 0) }

// replay goes through all entries page by page, so that entries of a scope that cannot be rebuilt block no other
// scope.
func (k *Syncer) replay(ctx context.Context, young time.Duration) error {
	if err := k.store.DeleteEntries(ctx, k.DrainApplied()); err != nil {
		return err
	}
	for after := ""; ; {
		entries, err := k.store.Unapplied(ctx, k.now().Add(-young), after, replayBatch)
		if err != nil || len(entries) == 0 {
			return err
		}
		after = entries[len(entries)-1].ID
		t := k.applyEntries(ctx, entries)
		if err := errors.Join(k.store.DeleteEntries(ctx, k.DrainApplied()), k.postpone(ctx, t.refused)); err != nil {
			return err
		}
		if len(entries) < replayBatch || t.unreachable && len(t.done) == 0 {
			return nil
		}
	}
}

// postpone records an attempt of rejected entries. An entry after its last attempt stays as a dead letter. Its
// changes are contained in the scope's snapshot, so a rebuild of the scope applies them.
func (k *Syncer) postpone(ctx context.Context, refused []FailedEntry) error {
	if len(refused) == 0 {
		return nil
	}
	now, dead := k.now(), 0
	for i := range refused {
		s := &refused[i]
		attempts := s.Attempts + 1
		s.Due, s.Dead = now.Add(retryDelay(attempts)), attempts >= maxAttempts
	}
	if err := k.store.Postpone(ctx, refused, now); err != nil {
		return err
	}
	for _, s := range refused {
		if !s.Dead {
			k.log.WarnContext(ctx, "the admission cache rejected an entry, which is retried", "entry", s.ID, "branch", s.Scope.Branch,
				"date", s.Scope.Date, "attempts", s.Attempts+1, "err", s.Cause)
			continue
		}
		dead++
		k.log.ErrorContext(ctx, "the admission cache rejected an entry for the last time, and its scope is rebuilt", "entry", s.ID,
			"branch", s.Scope.Branch, "date", s.Scope.Date, "err", s.Cause)
		k.rebuildSoon(s.Scope)
	}
	if dead > 0 && k.observer.DeadLettered != nil {
		k.observer.DeadLettered(dead)
	}
	return nil
}
