package catalog

import (
	"context"
	"maps"
	"time"
)

// Availability tells how many of a branch's items can still be sold on a business date. An item whose counting has not
// begun may be missing from the answer, and others may be in it that are limited otherwise than by a quota; a negative
// number is no limit.
type Availability interface {
	Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error)
}

// boardAges: what is left is at most a quarter of a second old.
var boardAges = ages{fresh: 200 * time.Millisecond, linger: 250 * time.Millisecond, stale: 5 * time.Minute}

// Board is a branch's menu with what is left of it today. It is immutable and may be shared.
type Board struct {
	*Snapshot
	Date  string // business date
	Pause *Pause // nil: orders are taken, as far as the branch is open
	left  map[int64]int64
}

// Left is how many of an item can still be sold today; limited is false where nothing limits it. It is never more than
// the quota: while nothing is counted yet, what is known of the item may only be for how many the stock is enough.
func (b *Board) Left(item int64) (left int64, limited bool) {
	quota, limited := b.Quota(item)
	left, counted := b.left[item]
	if !counted || limited && left > quota {
		return quota, limited
	}
	return max(0, left), left >= 0
}

// Boards gives boards from memory. It is safe for concurrent use.
type Boards struct {
	menus *Menus
	left  Availability
	now   func() time.Time
	kept  *kept[*Board]
	wakes wakes
}

// NewBoards makes an empty memory.
func NewBoards(menus *Menus, left Availability, now func() time.Time) *Boards {
	b := &Boards{menus: menus, left: left, now: now}
	b.kept = newKept(boardAges, now, b.look)
	return b
}

// Get gives a branch's board, at most 250 ms old. The same pointer means that nothing has changed.
func (b *Boards) Get(ctx context.Context, branch int64) (*Board, error) {
	return b.kept.get(ctx, branch)
}

func (b *Boards) look(ctx context.Context, branch int64, old **Board) (*Board, error) {
	menu, err := b.menus.Active(ctx, branch)
	if err != nil {
		return nil, err
	}
	now := b.now()
	next := &Board{Snapshot: menu, Date: menu.Branch.Calendar().BizDate(now), Pause: menu.Branch.Paused(now)}
	var counted []int64
	for i := range menu.Items {
		if _, limited := menu.Quota(menu.Items[i].ID); limited {
			counted = append(counted, menu.Items[i].ID)
		}
	}
	left, err := b.left.Left(ctx, branch, next.Date, counted)
	if err != nil {
		return nil, err
	}
	next.left = left
	for _, item := range menu.Off {
		next.left[item] = 0 // whatever the gate, which hears of it a moment later, still says
	}
	if old != nil && (*old).same(next) {
		return *old, nil
	}
	return next, nil
}

// same tells whether two boards say the same.
func (b *Board) same(next *Board) bool {
	return b.Snapshot == next.Snapshot && b.Date == next.Date && b.Pause == next.Pause && maps.Equal(b.left, next.left)
}
