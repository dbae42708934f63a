package stock

import (
	"context"
	"errors"
	"time"
)

// Measures of the recovery. An entry that the gate refuses pauses a second, then three times as long each time: ten
// attempts take more than half an hour, in which a mistake in Redis is found and mended.
const (
	inFlight     = 2 * time.Second // a committed entry younger than this is still on its way through ApplyCommitted
	recoverBatch = 500
	maxAttempts  = 10
	firstPause   = time.Second
	longestPause = 10 * time.Minute
)

func pauseAfter(attempts int) time.Duration {
	p := firstPause
	for ; attempts > 1 && p < longestPause; attempts-- {
		p *= 3
	}
	return min(p, longestPause)
}

// told is what became of entries that the gate was told. Those in neither list wait, at no cost: the gate is out of
// reach, or does not know their scope.
type told struct {
	done    []string
	refused []Setback // only Entry and Cause are known yet
	lost    bool      // the gate was out of reach
}

// apply tells the gate and notes which entries it has taken in whole. A scope that it does not know is rebuilt. One that
// it refuses is not: the watch sees whether the gate differs for it.
func (k *Gatekeeper) apply(ctx context.Context, entries []Entry) told {
	var ops []Op
	for _, e := range entries {
		ops = append(ops, e.Ops...)
	}
	applied, err := k.gate.Apply(ctx, ops)
	k.short.forget(ops) // what was refused while they were on their way may fit now
	rejected, at := &RejectedError{}, 0
	t := told{lost: err != nil && !errors.As(err, &rejected)}
	if err != nil {
		k.log.DebugContext(ctx, "the gate did not take everything in", "err", err)
	}
	for _, e := range entries {
		waits, cause := false, e.Unread
		for range e.Ops {
			if err := rejected.Ops[at]; err != nil {
				cause = err
			} else if at >= len(applied) || !applied[at] {
				waits = true
			}
			at++
		}
		switch {
		case waits && t.lost: // out of reach, which is no reason to rebuild anything
		case waits:
			k.rebuildSoon(e.Scope)
		case cause != nil:
			t.refused = append(t.refused, Setback{Entry: e, Cause: cause})
		case e.ID != "":
			t.done = append(t.done, e.ID)
		}
	}
	k.mu.Lock()
	k.applied = append(k.applied, t.done...)
	k.mu.Unlock()
	k.tell(entries)
	return t
}

// tell says of which branches something else may be left now, whoever is asked about it: the gate, or SQL where the gate
// is out of reach.
func (k *Gatekeeper) tell(entries []Entry) {
	if k.watch.Told == nil {
		return
	}
	var last int64
	for _, e := range entries {
		if e.Scope.Branch != last { // mostly they are of one branch; to say it twice harms nobody
			last = e.Scope.Branch
			k.watch.Told(last)
		}
	}
}

// Recover replays what was committed but not applied, by whichever process, and has SQL forget what was. Entries that
// are still on their way are left alone, and so are those whose next attempt is not due.
func (k *Gatekeeper) Recover(ctx context.Context) error { return k.recover(ctx, inFlight) }

// RecoverAll is Recover for a process in which nothing is on its way.
func (k *Gatekeeper) RecoverAll(ctx context.Context) error { return k.recover(ctx, 0) }

// recover goes through all entries page by page: those of a scope that nobody can rebuild hold up no other.
func (k *Gatekeeper) recover(ctx context.Context, young time.Duration) error {
	if err := k.journal.Forget(ctx, k.Applied()); err != nil {
		return err
	}
	for after := ""; ; {
		entries, err := k.journal.Unapplied(ctx, k.now().Add(-young), after, recoverBatch)
		if err != nil || len(entries) == 0 {
			return err
		}
		after = entries[len(entries)-1].ID
		t := k.apply(ctx, entries)
		if err := errors.Join(k.journal.Forget(ctx, k.Applied()), k.postpone(ctx, t.refused)); err != nil {
			return err
		}
		if len(entries) < recoverBatch || t.lost && len(t.done) == 0 {
			return nil
		}
	}
}

// postpone notes an attempt of entries that the gate has refused. One that had its last stays where it is, for somebody
// to look at; what it would have changed is in the image of its scope, which is therefore rebuilt and takes it along.
func (k *Gatekeeper) postpone(ctx context.Context, refused []Setback) error {
	if len(refused) == 0 {
		return nil
	}
	now, dead := k.now(), 0
	for i := range refused {
		s := &refused[i]
		attempts := s.Attempts + 1
		s.Due, s.Dead = now.Add(pauseAfter(attempts)), attempts >= maxAttempts
	}
	if err := k.journal.Postpone(ctx, refused, now); err != nil {
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
	if dead > 0 && k.watch.GivenUp != nil {
		k.watch.GivenUp(dead)
	}
	return nil
}
