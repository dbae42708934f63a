package visit

import (
	"context"
	"time"

	"comanda/internal/identity"
)

// Call says what a guest wants who calls.
type Call string

// The calls.
const (
	ForBill  Call = "BILL"
	ForHelp  Call = "HELP"
	ForWater Call = "WATER"
)

// Calls is since when a visit has been calling, by what it wants; zero where it does not call.
type Calls struct{ Bill, Help, Water time.Time }

// Since tells since when a visit has been calling for something; zero when it does not.
func (c Calls) Since(reason Call) time.Time {
	return map[Call]time.Time{ForBill: c.Bill, ForHelp: c.Help, ForWater: c.Water}[reason]
}

// Call has a guest's visit call for something until it is answered. To call again changes nothing: it has been calling
// since the first time. ErrClosed when the visit has ended.
func (f *Floor) Call(ctx context.Context, g Guest, reason Call) (Visit, error) {
	v, rang, err := f.Parties.Call(ctx, g.VisitID, reason, f.Now())
	if err != nil {
		return Visit{}, err
	}
	if rang {
		f.told(v.BranchID)
	}
	return v, nil
}

// Answer ends a call of a visit, all its calls where the reason is empty. To answer nothing is no error.
func (f *Floor) Answer(ctx context.Context, by identity.Actor, id string, reason Call) (Visit, error) {
	v, err := f.Parties.Answer(ctx, by, id, reason)
	if err == nil {
		f.told(v.BranchID)
	}
	return v, err
}
