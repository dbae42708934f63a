package visit

import (
	"context"
	"slices"
	"sync"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/uid"
)

const (
	// idleSlack is longer than the interval at which processes call UpdateLastSeen. So no visit is closed as idle that
	// another process has seen recently.
	idleSlack = 30 * time.Second

	// lateBindDelay is how long after a closing another process may still write a binding to Redis, for a scan that
	// started before the closing.
	lateBindDelay = 30 * time.Second

	batchSize = 200 // visits per statement, which bounds the duration of its locks
)

// Floor manages tables and visits for the staff.
type Floor struct {
	Store  Store
	Guests *Guests
	Now    func() time.Time

	// OnChange, if not nil, is called with a branch whose tables or visits changed. It must not block.
	OnChange func(branch int64)
	// OnClosed, if not nil, is called with visits that were closed, after their guests have lost access here. It must not
	// block.
	OnClosed func(branch int64, visits []string)

	branchOf sync.Map // table id -> branch id; a table never changes its branch
}

// Filter selects visits of a branch.
type Filter struct {
	Branch int64
	Status string // OPEN, CLOSED or empty for both
	Offset int
	Limit  int
}

// Tables returns the tables of a branch by label, or for branch 0 the tables of all branches that the actor may see.
func (f *Floor) Tables(ctx context.Context, by authz.Actor, branch int64) ([]Table, error) {
	if branch != 0 && !by.Sees(branch) {
		return nil, catalog.ErrBranch
	}
	all, err := f.Store.Tables(ctx, branch)
	return slices.DeleteFunc(all, func(t Table) bool { return !by.Sees(t.BranchID) }), err
}

// TableIn reports whether a table belongs to a branch.
func (f *Floor) TableIn(ctx context.Context, branch, table int64) (bool, error) {
	if of, ok := f.branchOf.Load(table); ok {
		return of == branch, nil
	}
	of, err := f.Store.TableBranch(ctx, table)
	if err != nil {
		return false, err
	}
	// Unknown tables are not cached: ids come from requests, and the table may be created later.
	if of != 0 {
		f.branchOf.Store(table, of)
	}
	return of == branch, nil
}

// Visits returns a page of visits, newest first, and their total number.
func (f *Floor) Visits(ctx context.Context, by authz.Actor, filter Filter) ([]Visit, int, error) {
	if !by.Sees(filter.Branch) {
		return nil, 0, catalog.ErrBranch
	}
	return f.Store.Visits(ctx, filter)
}

// Close closes a visit on behalf of the staff. Its orders are not affected: unpaid ones can still be paid at the
// counter, or expire. It succeeds for a closed visit.
func (f *Floor) Close(ctx context.Context, by authz.Actor, id string) (Visit, error) {
	v, err := f.Store.Close(ctx, by, id, ClosedByStaff, f.Now())
	if err != nil {
		return Visit{}, err
	}
	f.closed(ctx, v.BranchID, []string{v.ID})
	return v, nil
}

// RotateQR issues a new QR token for a table and revokes the old one. It also closes the open visit, because a leaked token
// may have been used to join it.
func (f *Floor) RotateQR(ctx context.Context, by authz.Actor, table int64) (Table, error) {
	t, closed, err := f.Store.RotateQR(ctx, by, table, NewQRToken(), f.Now())
	if err != nil {
		return Table{}, err
	}
	f.closed(ctx, t.BranchID, closed)
	return t, nil
}

// notify reports a change of a branch's tables or visits, after its commit.
func (f *Floor) notify(branch int64) {
	if f.OnChange != nil {
		f.OnChange(branch)
	}
}

// closed ends the access of the guests of closed visits and reports the change.
func (f *Floor) closed(ctx context.Context, branch int64, visits []string) {
	f.dropGuests(ctx, visits)
	if f.OnClosed != nil && len(visits) > 0 {
		f.OnClosed(branch, visits)
	}
	f.notify(branch)
}

// CloseIdle closes up to limit idle visits and returns their number.
func (f *Floor) CloseIdle(ctx context.Context, now time.Time, limit int) (n int, err error) {
	byBranch, err := f.Store.CloseIdle(ctx, now, idleSlack, limit)
	if err != nil {
		return 0, err
	}
	for branch, visits := range byBranch {
		f.closed(ctx, branch, visits)
		n += len(visits)
	}
	return n, nil
}

// dropGuests removes the guests of closed visits from the caches. If Redis is unavailable, StaleKeys still lists the
// visits.
func (f *Floor) dropGuests(ctx context.Context, visits []string) {
	_ = f.Guests.drop(ctx, visits)
}

// ClearKeys deletes the Redis keys of closed visits that remained because Redis was unavailable or another process
// wrote late.
func (f *Floor) ClearKeys(ctx context.Context, now time.Time) error {
	visits, err := f.Store.StaleKeys(ctx, batchSize)
	if err != nil || len(visits) == 0 {
		return err
	}
	if f.Guests.drop(ctx, visits) != nil {
		return nil //nolint:nilerr // Redis is unavailable; StaleKeys still lists them
	}
	return f.Store.ClearStaleKeys(ctx, visits, now.Add(-lateBindDelay))
}

// RunOnce stores last-seen times, closes idle visits and clears stale keys. It runs every few seconds, in any number of
// processes.
func (f *Floor) RunOnce(ctx context.Context) error {
	if err := f.Guests.FlushSeen(ctx); err != nil {
		return err
	}
	for {
		// Last-seen times are stored first, so that this process does not close a visit that it has just seen.
		n, err := f.CloseIdle(ctx, f.Now(), batchSize)
		if err != nil {
			return err
		}
		if n < batchSize {
			return f.ClearKeys(ctx, f.Now())
		}
	}
}

// CallReason is the reason why a guest calls the staff.
type CallReason string

// The reasons for a call.
const (
	CallBill  CallReason = "BILL"
	CallHelp  CallReason = "HELP"
	CallWater CallReason = "WATER"
)

// Calls has the start of each call of a visit, or the zero time.
type Calls struct{ Bill, Help, Water time.Time }

// Since returns the start of a call, or the zero time if the visit has no such call.
func (c Calls) Since(reason CallReason) time.Time {
	return map[CallReason]time.Time{CallBill: c.Bill, CallHelp: c.Help, CallWater: c.Water}[reason]
}

// Call starts a call of a guest's visit, which lasts until it is answered. A repeated call keeps its start. It fails
// with ErrClosed for a closed visit.
func (f *Floor) Call(ctx context.Context, g Guest, reason CallReason) (Visit, error) {
	v, added, err := f.Store.Call(ctx, g.VisitID, reason, f.Now())
	if err != nil {
		return Visit{}, err
	}
	if added {
		f.notify(v.BranchID)
	}
	return v, nil
}

// Answer ends a call of a visit, or all its calls if the reason is empty. It also succeeds if there is no call.
func (f *Floor) Answer(ctx context.Context, by authz.Actor, id string, reason CallReason) (Visit, error) {
	v, err := f.Store.Answer(ctx, by, id, reason)
	if err == nil {
		f.notify(v.BranchID)
	}
	return v, err
}

// Seat opens a visit at a table for a party that the staff seat. Guests join it by scanning the code. It fails with
// ErrTableTaken if the table has an open visit.
func (f *Floor) Seat(ctx context.Context, by authz.Actor, table int64) (Visit, error) {
	branch, err := f.Store.TableBranch(ctx, table)
	if err != nil {
		return Visit{}, err
	}
	// A table of another branch is reported like an unknown one.
	if branch == 0 || !by.Sees(branch) {
		return Visit{}, ErrTable
	}
	b, err := f.Guests.branches.Branch(ctx, branch)
	if err != nil {
		return Visit{}, err
	}
	if b.Retired() {
		return Visit{}, ErrTableInactive
	}
	now := f.Now()
	v, err := f.Store.Seat(ctx, by, OpenRequest{
		TableID: table, BranchID: branch, BizDate: b.Calendar().BizDate(now), VisitID: uid.New(now), Now: now,
	})
	if err == nil {
		f.notify(branch)
	}
	return v, err
}

// Move moves a visit to another table of its branch (V6). Its guests keep their tokens; new phones join it at the new
// table. It fails with ErrTableTaken, ErrTableInactive or ErrClosed.
func (f *Floor) Move(ctx context.Context, by authz.Actor, id string, table int64) (Visit, error) {
	v, moved, err := f.Store.Move(ctx, by, id, table, f.Now())
	if err != nil || !moved {
		return v, err
	}
	f.dropGuests(ctx, []string{v.ID}) // the cached guests still have the old table
	f.notify(v.BranchID)
	return v, nil
}
