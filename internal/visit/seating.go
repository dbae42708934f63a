package visit

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/uid"
)

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
	f.dropGuests(ctx, []string{v.ID}) // the cached guests have the old table
	f.notify(v.BranchID)
	return v, nil
}
