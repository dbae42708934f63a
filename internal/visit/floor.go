package visit

import (
	"context"
	"slices"
	"sync"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/identity"
)

const (
	// flushSlack is longer than a process keeps signs of life to itself: no visit is closed as idle that another process
	// has just heard of.
	flushSlack = 30 * time.Second

	// lateBinding is how long after a closing a landing of another process, begun before, may still write to Redis.
	lateBinding = 30 * time.Second

	sweepLimit = 200 // visits in one statement
)

// Plan is what the floor needs of the store, normally visitsql. Every closing also notes that Redis may still hold keys
// of the visit. What the actor changes is in the audit log with it; a table or visit of a branch that they do not see is
// answered as if there were none.
type Plan interface {
	Tables(ctx context.Context, branch int64) ([]Table, error)
	TableBranch(ctx context.Context, table int64) (branch int64, err error)
	Visits(ctx context.Context, f Filter) (page []Visit, total int, err error)
	// Close closes a visit and gives it; one that is closed already stays as it is.
	Close(ctx context.Context, by identity.Actor, id string, why Reason, now time.Time) (Visit, error)
	// Rotate revokes a table's token, gives it a new one and closes its open visit, in one transaction.
	Rotate(ctx context.Context, by identity.Actor, table int64, qr string, now time.Time) (
		t Table, closed []string, err error,
	)
}

// Broom is what tidying up needs of the store, normally visitsql.
type Broom interface {
	// CloseIdle closes visits without a sign of life for their branch's minutes plus slack, unless something is unpaid.
	CloseIdle(ctx context.Context, now time.Time, slack time.Duration, limit int) (closed []string, err error)
	// KeysLeft gives closed visits of which Redis may hold keys; KeysGone crosses them off if closed before an instant.
	KeysLeft(ctx context.Context, limit int) ([]string, error)
	KeysGone(ctx context.Context, visits []string, closedBefore time.Time) error
}

// Floor is what the staff do with tables and visits.
type Floor struct {
	Plan      Plan
	Furniture Furniture
	Parties   Parties
	Broom     Broom
	Guests    *Guests
	Now       func() time.Time

	// Told hears in which branch somebody came, moved, left or called, or a table changed; it must not block. Nil for nobody.
	Told func(branch int64)

	branchOf sync.Map // table -> branch; a table never moves to another one
}

// Filter chooses visits of a branch.
type Filter struct {
	Branch int64
	Status string // OPEN, CLOSED or empty for both
	Offset int
	Limit  int
}

// Tables lists the tables of a branch by label, of all branches that the actor sees when branch is 0.
func (f *Floor) Tables(ctx context.Context, by identity.Actor, branch int64) ([]Table, error) {
	if branch != 0 && !by.Sees(branch) {
		return nil, catalog.ErrBranch
	}
	all, err := f.Plan.Tables(ctx, branch)
	return slices.DeleteFunc(all, func(t Table) bool { return !by.Sees(t.BranchID) }), err
}

// TableIn tells whether a table stands in a branch.
func (f *Floor) TableIn(ctx context.Context, branch, table int64) (bool, error) {
	if of, ok := f.branchOf.Load(table); ok {
		return of == branch, nil
	}
	of, err := f.Plan.TableBranch(ctx, table)
	if err != nil {
		return false, err
	}
	if of != 0 {
		f.branchOf.Store(table, of)
	}
	return of == branch, nil
}

// Visits lists visits, the newest first.
func (f *Floor) Visits(ctx context.Context, by identity.Actor, filter Filter) ([]Visit, int, error) {
	if !by.Sees(filter.Branch) {
		return nil, 0, catalog.ErrBranch
	}
	return f.Plan.Visits(ctx, filter)
}

// Close ends a visit for the staff. Its orders go their own way: what is unpaid can still be paid at the counter, or
// expires. To close a closed visit changes nothing.
func (f *Floor) Close(ctx context.Context, by identity.Actor, id string) (Visit, error) {
	v, err := f.Plan.Close(ctx, by, id, ByStaff, f.Now())
	if err != nil {
		return Visit{}, err
	}
	f.letGo(ctx, []string{v.ID})
	f.told(v.BranchID)
	return v, nil
}

// Rotate gives a table a new code. The old one is worth nothing from now on, and the visit that was open is closed: a
// code is rotated because somebody has it who should not, and that somebody may have joined.
func (f *Floor) Rotate(ctx context.Context, by identity.Actor, table int64) (Table, error) {
	t, closed, err := f.Plan.Rotate(ctx, by, table, NewQRToken(), f.Now())
	if err != nil {
		return Table{}, err
	}
	f.letGo(ctx, closed)
	f.told(t.BranchID)
	return t, nil
}

func (f *Floor) told(branch int64) {
	if f.Told != nil {
		f.Told(branch)
	}
}

// CloseIdle closes up to limit visits that have gone quiet, and tells how many.
func (f *Floor) CloseIdle(ctx context.Context, now time.Time, limit int) (int, error) {
	closed, err := f.Broom.CloseIdle(ctx, now, flushSlack, limit)
	if err != nil {
		return 0, err
	}
	f.letGo(ctx, closed)
	return len(closed), nil
}

// letGo forgets the tokens of closed visits. If Redis is out of reach they are noted in SQL as left, see ClearKeys.
func (f *Floor) letGo(ctx context.Context, visits []string) {
	_ = f.Guests.forget(ctx, visits)
}

// ClearKeys deletes from Redis what closed visits have left there: it was out of reach when they were closed, or somebody
// else wrote late.
func (f *Floor) ClearKeys(ctx context.Context, now time.Time) error {
	visits, err := f.Broom.KeysLeft(ctx, sweepLimit)
	if err != nil || len(visits) == 0 {
		return err
	}
	if f.Guests.forget(ctx, visits) != nil {
		return nil //nolint:nilerr // Redis is out of reach; they stay noted
	}
	return f.Broom.KeysGone(ctx, visits, now.Add(-lateBinding))
}

// RunOnce is one round of tidying up, to be run every few seconds: signs of life are written, quiet visits closed, and
// Redis is rid of closed ones. Any number of processes may do so.
func (f *Floor) RunOnce(ctx context.Context) error {
	if err := f.Guests.FlushSeen(ctx); err != nil {
		return err
	}
	for {
		n, err := f.CloseIdle(ctx, f.Now(), sweepLimit)
		if err != nil {
			return err
		}
		if n < sweepLimit {
			return f.ClearKeys(ctx, f.Now())
		}
	}
}
