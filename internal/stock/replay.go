package stock

import (
	"context"
	"errors"
	"time"
)

// Measures of the recovery. An entry that the gate refuses pauses a second, then three times as long each time: ten
// attempts take more than half an hour, in which a mistake in Redis is found and mended.
const (
	replayDelay     = 2 * time.Second // a committed entry younger than this is still on its way through ApplyCommitted
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

// told is what became of entries that the gate was told. Those in neither list wait, at no cost: the gate is out of
// reach, or does not know their scope.
type applyResult struct {
	done        []string
	refused     []FailedEntry // only Entry and Cause are known yet
	unreachable bool          // the gate was out of reach
}

// apply tells the gate and notes which entries it has taken in whole. A scope that it does not know is rebuilt. One that
// it refuses is not: the watch sees whether the gate differs for it.
func (k *Syncer) applyEntries(ctx context.Context, entries []OutboxEntry) applyResult {
	var ops []Op
	for _, e := range entries {
		ops = append(ops, e.Ops...)
	}
	applied, err := k.cache.Apply(ctx, ops)
	k.refusals.invalidate(ops) // what was refused while they were on their way may fit now
	rejected, at := &RejectedError{}, 0
	t := applyResult{unreachable: err != nil && !errors.As(err, &rejected)}
	if err != nil {
		k.log.DebugContext(ctx, "the gate did not take everything in", "err", err)
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
		case waits && t.unreachable: // out of reach, which is no reason to rebuild anything
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

// tell says of which branches something else may be left now, whoever is asked about it: the gate, or SQL where the gate
// is out of reach.
func (k *Syncer) notify(entries []OutboxEntry) {
	if k.observer.Synced == nil {
		return
	}
	var last int64
	for _, e := range entries {
		if e.Scope.Branch != last { // mostly they are of one branch; to say it twice harms nobody
			last = e.Scope.Branch
			k.observer.Synced(last)
		}
	}
}

// Recover replays what was committed but not applied, by whichever process, and has SQL forget what was. Entries that
// are still on their way are left alone, and so are those whose next attempt is not due.
func (k *Syncer) Replay(ctx context.Context) error { return k.replay(ctx, replayDelay) }

// RecoverAll is Recover for a process in which nothing is on its way.
func (k *Syncer) ReplayAll(ctx context.Context) error { return k.replay(ctx, 0) }

// recover goes through all entries page by page: those of a scope that nobody can rebuild hold up no other.
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

// postpone notes an attempt of entries that the gate has refused. One that had its last stays where it is, for somebody
// to look at; what it would have changed is in the image of its scope, which is therefore rebuilt and takes it along.
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
			k.log.WarnContext(ctx, "the gate refused an entry, which is tried again", "entry", s.ID, "branch", s.Scope.Branch,
				"date", s.Scope.Date, "attempts", s.Attempts+1, "err", s.Cause)
			continue
		}
		dead++
		k.log.ErrorContext(ctx, "the gate refused an entry for the last time, and its scope is rebuilt", "entry", s.ID,
			"branch", s.Scope.Branch, "date", s.Scope.Date, "err", s.Cause)
		k.rebuildSoon(s.Scope)
	}
	if dead > 0 && k.observer.DeadLettered != nil {
		k.observer.DeadLettered(dead)
	}
	return nil
}
