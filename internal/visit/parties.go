package visit

import (
	"context"
	"time"

	"comanda/internal/identity"
	"comanda/internal/uid"
)

// Parties is what seating people needs of the store, normally visitsql. What the actor changes is in the audit log with
// it; what belongs to a branch that they do not see is answered as if it did not exist.
type Parties interface {
	// Seat opens a visit at a table, or gives ErrTableTaken.
	Seat(ctx context.Context, by identity.Actor, e Entry) (Visit, error)
	// Move takes a visit to another table of its branch. To the table at which it is, it changes nothing: moved is false.
	Move(ctx context.Context, by identity.Actor, id string, table int64, now time.Time) (v Visit, moved bool, err error)
	// Call notes a call; rang is false when the visit has been calling already. ErrClosed when it is not open.
	Call(ctx context.Context, id string, reason Call, now time.Time) (v Visit, rang bool, err error)
	Answer(ctx context.Context, by identity.Actor, id string, reason Call) (Visit, error)
}

// Seat opens a visit for a party that the staff bring to a table: its guests join it when they scan the code.
// ErrTableTaken when somebody sits there already.
func (f *Floor) Seat(ctx context.Context, by identity.Actor, table int64) (Visit, error) {
	branch, err := f.Plan.TableBranch(ctx, table)
	if err != nil {
		return Visit{}, err
	}
	if branch == 0 || !by.Sees(branch) {
		return Visit{}, ErrTable
	}
	b, err := f.Guests.branches.Branch(ctx, branch)
	if err != nil {
		return Visit{}, err
	}
	now := f.Now()
	v, err := f.Parties.Seat(ctx, by, Entry{
		TableID: table, BranchID: branch, BizDate: b.Calendar().BizDate(now), VisitID: uid.New(now), Now: now,
	})
	if err == nil {
		f.told(branch)
	}
	return v, err
}

// Move takes a party to another table of the branch (V6). Its guests keep their tokens; whoever scans the new table's code
// joins them, and whoever scans the old one's is another party. ErrTableTaken when somebody sits there, ErrTableInactive
// when nobody may, ErrClosed when the visit has ended.
func (f *Floor) Move(ctx context.Context, by identity.Actor, id string, table int64) (Visit, error) {
	v, moved, err := f.Parties.Move(ctx, by, id, table, f.Now())
	if err != nil || !moved {
		return v, err
	}
	f.letGo(ctx, []string{v.ID}) // what is remembered of its guests names the old table
	f.told(v.BranchID)
	return v, nil
}
