package stock

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Measures of the loops.
const (
	maxOps       = 1024            // operations told to the gate in one go
	inFlight     = 2 * time.Second // a committed entry younger than this is still on its way through ApplyCommitted
	recoverBatch = 500
	reapBatch    = 500
	rebuildTime  = 10 * time.Second       // after it another process may take a rebuild over
	rebuildPause = 100 * time.Millisecond // between two rebuilds of one scope by one process
	scopeAge     = 48 * time.Hour         // older scopes are not looked after any more
)

// ApplyCommitted tells the gate what was committed, as soon as it was, until ctx ends.
func (k *Gatekeeper) ApplyCommitted(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case entries := <-k.committed:
			k.apply(ctx, k.more(entries))
		}
	}
}

// more takes what else waits, up to a limit.
func (k *Gatekeeper) more(entries []Entry) []Entry {
	n := 0
	for _, e := range entries {
		n += len(e.Ops)
	}
	for n < maxOps {
		select {
		case next := <-k.committed:
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

// apply tells the gate and notes which entries it has taken in whole. A scope that it does not know is rebuilt.
func (k *Gatekeeper) apply(ctx context.Context, entries []Entry) []string {
	var ops []Op
	for _, e := range entries {
		ops = append(ops, e.Ops...)
	}
	applied, err := k.gate.Apply(ctx, ops)
	k.short.forget(ops) // what was refused while they were on their way may fit now
	if err != nil {
		k.log.DebugContext(ctx, "the gate did not take everything in", "err", err)
	}
	var done []string
	i := 0
	for _, e := range entries {
		whole := len(applied) == len(ops) && !slices.Contains(applied[i:i+len(e.Ops)], false)
		i += len(e.Ops)
		switch {
		case !whole:
			k.rebuildSoon(e.Scope)
		case e.ID != "":
			done = append(done, e.ID)
		}
	}
	k.mu.Lock()
	k.applied = append(k.applied, done...)
	k.mu.Unlock()
	return done
}

// Recover replays what was committed but not applied, by whichever process, and has SQL forget what was. Entries that
// are still on their way are left alone.
func (k *Gatekeeper) Recover(ctx context.Context) error { return k.recover(ctx, inFlight) }

// RecoverAll is Recover for a process in which nothing is on its way.
func (k *Gatekeeper) RecoverAll(ctx context.Context) error { return k.recover(ctx, 0) }

func (k *Gatekeeper) recover(ctx context.Context, young time.Duration) error {
	if err := k.journal.Forget(ctx, k.Applied()); err != nil {
		return err
	}
	for {
		entries, err := k.journal.Unapplied(ctx, k.now().Add(-young), recoverBatch)
		if err != nil || len(entries) == 0 {
			return err
		}
		done := k.apply(ctx, entries)
		if err := k.journal.Forget(ctx, k.Applied()); err != nil || len(done) < recoverBatch {
			return err
		}
	}
}

// Reap ends leases that ran out without a word from SQL. SQL is told first, so that an order which is still on its way
// fails there; only then are the units free in the gate (I12).
func (k *Gatekeeper) Reap(ctx context.Context) error {
	scopes, err := k.scopes(ctx)
	if err != nil {
		return err
	}
	branches := map[int64]bool{}
	for s := range scopes {
		if branches[s.Branch] {
			continue
		}
		branches[s.Branch] = true
		if err := k.reap(ctx, s.Branch); err != nil {
			return err
		}
	}
	return nil
}

func (k *Gatekeeper) reap(ctx context.Context, branch int64) error {
	for {
		now := k.now()
		due, err := k.gate.Due(ctx, branch, now, reapBatch)
		if err != nil || len(due) == 0 {
			return nil //nolint:nilerr // Redis is out of reach: Watch says so, and its leases are gone with it
		}
		states, err := k.journal.Bury(ctx, due, now)
		if err != nil {
			return err
		}
		if k.watch.Buried != nil {
			k.watch.Buried(len(due))
		}
		entries := make([]Entry, len(states))
		for i, h := range states {
			kind := map[State]OpKind{Held: OpHeld, Confirmed: OpConfirm, Released: OpCancel, Returned: OpCancel}[h.State]
			entries[i] = Entry{Scope: h.Hold.Scope, Ops: []Op{{Kind: kind, Hold: h.Hold}}}
		}
		k.apply(ctx, entries)
		if len(due) < reapBatch {
			return nil
		}
	}
}

func (k *Gatekeeper) scopes(ctx context.Context) (map[Scope]string, error) {
	return k.journal.Scopes(ctx, k.now().Add(-scopeAge).Format(time.DateOnly))
}

// Watch compares the gate with SQL and rebuilds what is missing, was built under another epoch, or differs (I9). A
// difference counts when two looks in a row see the very same one: between commit and apply the two differ rightly.
func (k *Gatekeeper) Watch(ctx context.Context) error {
	scopes, err := k.scopes(ctx)
	if err != nil {
		return err
	}
	var drift int64
	for s, epoch := range scopes {
		units, err := k.look(ctx, s, epoch)
		if err != nil {
			return err
		}
		drift += units
	}
	if k.watch.Drift != nil {
		k.watch.Drift(drift)
	}
	return nil
}

func (k *Gatekeeper) look(ctx context.Context, s Scope, epoch string) (int64, error) {
	shown, counts, ok, err := k.gate.All(ctx, s)
	if err != nil {
		return 0, nil //nolint:nilerr // out of reach; the connection's own figures tell
	}
	if !ok || shown != epoch {
		k.rebuildSoon(s)
		return 0, nil
	}
	truth, err := k.journal.Counts(ctx, s)
	if err != nil {
		return 0, err
	}
	units, text := Difference(truth, counts)
	k.mu.Lock()
	same := text != "" && k.suspects[s] == text
	k.suspects[s] = text
	if text == "" {
		delete(k.suspects, s)
	}
	k.mu.Unlock()
	if same {
		k.log.WarnContext(ctx, "the gate differs from SQL and is rebuilt", "branch", s.Branch, "date", s.Date, "difference", text)
		k.rebuildSoon(s)
	}
	return units, nil
}

// Difference compares the ledger's counters with the gate's: by how many units, and in words, empty when they agree.
func Difference(ledger, gate []Count) (units int64, text string) {
	known := make(map[int64]Count, len(gate))
	for _, c := range gate {
		known[c.Item] = c
	}
	var b strings.Builder
	for _, want := range ledger {
		got, ok := known[want.Item]
		delete(known, want.Item)
		if ok && got == want {
			continue
		}
		units += abs(want.Held-got.Held) + abs(want.Used-got.Used)
		fmt.Fprintf(&b, "item %d: ledger %v, gate %v; ", want.Item, want, got)
	}
	for _, item := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "item %d: not in the ledger, gate %v; ", item, known[item])
	}
	return units, strings.TrimSuffix(b.String(), "; ")
}

// String writes a counter for people.
func (c Count) String() string {
	limit := strconv.FormatInt(c.Cap, 10)
	if c.Cap == Unlimited {
		limit = "*"
	}
	return fmt.Sprintf("cap %s held %d used %d", limit, c.Held, c.Used)
}

func abs(n int64) int64 { return max(n, -n) }
