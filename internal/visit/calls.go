package visit

import (
	"context"
	"time"

	"comanda/internal/authz"
)

// CallReason is what a guest calls for.
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

// Answer ends a call of a visit, or all its calls if the reason is empty. It succeeds without a call.
func (f *Floor) Answer(ctx context.Context, by authz.Actor, id string, reason CallReason) (Visit, error) {
	v, err := f.Store.Answer(ctx, by, id, reason)
	if err == nil {
		f.notify(v.BranchID)
	}
	return v, err
}
