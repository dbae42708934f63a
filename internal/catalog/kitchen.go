package catalog

import (
	"context"
	"time"

	"comanda/internal/identity"
)

// forever is a business date behind all others.
const forever = "9999-12-31"

// Absence is a menu item that is off ("86"): none is sold until it is back. Somebody restores it, or RestoreDue does once
// its end has come: until then the ledger, phones and the console all say that it is off.
type Absence struct {
	Item  int64
	Since time.Time
	Until time.Time // zero: until somebody restores it
	By    string    // the actor, as the audit log names them
}

// Through is the last business date on which nothing is sold from the beginning: that of the last moment before the end.
func (a Absence) Through(c *Calendar) string {
	if a.Until.IsZero() {
		return forever
	}
	return c.BizDate(a.Until.Add(-time.Millisecond))
}

// Placed is where a menu item belongs.
type Placed struct {
	Branch int64
	Dish   int64
}

// Hits is what the absence of an item meets: orders that hold some of it and are not paid yet, which keep it, and carts
// of members, which cannot order it.
type Hits struct {
	Holds int64
	Units int64 // in those holds
	Carts int64
}

// Tally is what the ledger counts of an item on a business date.
type Tally struct {
	Item int64
	Cap  *int64 // nil: unlimited
	Held int64
	Used int64
}

// Left is how many can still be sold; nil without a cap.
func (t Tally) Left() *int64 {
	if t.Cap == nil {
		return nil
	}
	return new(max(0, *t.Cap-t.Held-t.Used))
}

// Absences keeps which items are off, normally catalogsql. TakeOff and Restore change the cap of the business date that
// runs in the same transaction, under the lock by which the ledger decides about orders.
type Absences interface {
	TakeOff(ctx context.Context, by identity.Actor, item int64, until Until, now time.Time) (Placed, Absence, error)
	// Restore has the item sold again; one that is not off stays as it is.
	Restore(ctx context.Context, by identity.Actor, item int64, now time.Time) (Placed, error)
	// RestoreDue restores those whose end has come, and tells in which branches.
	RestoreDue(ctx context.Context, now time.Time) (branches []int64, err error)
	Absent(ctx context.Context, branch int64) (map[int64]Absence, error)
}

// Counting tells what orders and carts hold.
type Counting interface {
	Tallies(ctx context.Context, branch int64, date string) ([]Tally, error)
	Hits(ctx context.Context, at Placed, date string, item int64) (Hits, error)
}

// Kitchen takes items off the menu for a while, and tells what is left.
type Kitchen struct {
	Absences Absences
	Counting Counting
	Boards   interface {
		Get(ctx context.Context, branch int64) (*Board, error)
	}
	Menus *Menus
	Now   func() time.Time
}

// TakeOff ends the sale of an item until it is back. After it has returned no order takes any of it: whatever was
// ordered before holds its units, and is counted in Hits.
func (k *Kitchen) TakeOff(ctx context.Context, by identity.Actor, item int64, until Until) (Absence, Hits, error) {
	now := k.Now()
	at, a, err := k.Absences.TakeOff(ctx, by, item, until, now)
	if err != nil {
		return a, Hits{}, err
	}
	k.Menus.Invalidate(ctx, at.Branch)
	b, err := k.Menus.Branch(ctx, at.Branch)
	if err != nil {
		return a, Hits{}, err
	}
	hits, err := k.Counting.Hits(ctx, at, b.Calendar().BizDate(now), item)
	return a, hits, err
}

// Restore has an item sold again, as many as its quota says.
func (k *Kitchen) Restore(ctx context.Context, by identity.Actor, item int64) error {
	at, err := k.Absences.Restore(ctx, by, item, k.Now())
	if err == nil {
		k.Menus.Invalidate(ctx, at.Branch)
	}
	return err
}

// RestoreDue restores what is due; to be run every second.
func (k *Kitchen) RestoreDue(ctx context.Context) error {
	branches, err := k.Absences.RestoreDue(ctx, k.Now())
	for _, b := range branches {
		k.Menus.Invalidate(ctx, b)
	}
	return err
}

// Counted is a branch's menu with what the ledger counts of it today.
type Counted struct {
	*Board
	Tallies map[int64]Tally   // by item; one that nobody has asked for today may be missing
	Absent  map[int64]Absence // by item
}

// Left is how many of an item can be sold now: as the ledger counts, or fewer where phones are shown fewer, because the
// stock is not enough for more. Nil is unlimited.
func (c *Counted) Left(item int64) *int64 {
	if _, off := c.Absent[item]; off {
		return new(int64)
	}
	left := c.Tallies[item].Left()
	if shown, limited := c.Board.Left(item); limited && (left == nil || shown < *left) {
		left = &shown
	}
	return left
}

// Availability tells what a branch that the actor sees has left, from the ledger.
func (k *Kitchen) Availability(ctx context.Context, by identity.Actor, branch int64) (*Counted, error) {
	if !by.Sees(branch) {
		return nil, ErrBranch
	}
	board, err := k.Boards.Get(ctx, branch)
	if err != nil {
		return nil, err
	}
	c := &Counted{Board: board, Tallies: map[int64]Tally{}}
	tallies, err := k.Counting.Tallies(ctx, branch, board.Branch.Calendar().BizDate(k.Now()))
	if err != nil {
		return nil, err
	}
	for _, t := range tallies {
		c.Tallies[t.Item] = t
	}
	c.Absent, err = k.Absences.Absent(ctx, branch)
	return c, err
}
