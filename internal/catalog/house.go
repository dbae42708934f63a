package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// BranchStore keeps branches, normally catalogsql.
type BranchStore interface {
	Branch(ctx context.Context, id int64) (Branch, error)
	// ChangeBranch puts what change makes of a branch under its lock, and the action into the audit log; an error of
	// change changes nothing.
	ChangeBranch(ctx context.Context, by identity.Actor, id int64, action string, now time.Time,
		change func(Branch) (Branch, error)) (Branch, error)
}

// ErrBizDay refuses an hour by which the business date would be another one at this moment (I14): what was sold today
// would be counted on another day.
var ErrBizDay = fault.New(fault.Conflict, "biz_day_running",
	"With this hour today would be another business day. Change it when the day is the same by both hours.")

// BranchEdit is what the staff change of a branch; what is nil stays.
type BranchEdit struct {
	Name      *string
	Locales   []Locale
	DayStart  *int
	AutoClose *time.Duration
	Open      *bool
}

// apply gives the branch as it is wanted.
func (e BranchEdit) apply(b Branch, now time.Time) (Branch, error) {
	was := b
	if e.Name != nil {
		b.Name = *e.Name
	}
	if e.Locales != nil {
		if len(slices.Compact(slices.Sorted(slices.Values(e.Locales)))) < len(e.Locales) {
			return b, invalid("A branch names each locale once.")
		}
		b.Locales = slices.Clone(e.Locales)
	}
	if e.DayStart != nil {
		b.DayStart = *e.DayStart
	}
	if e.AutoClose != nil {
		b.AutoClose = *e.AutoClose
	}
	if e.Open != nil {
		b.Open = *e.Open
	}
	b, err := NewBranch(b)
	if err == nil && b.Calendar().BizDate(now) != was.Calendar().BizDate(now) {
		err = ErrBizDay
	}
	return b, err
}

// House keeps branches for the staff. What it changes is seen at once in this process and within a second elsewhere.
type House struct {
	Store BranchStore
	Menus *Menus
	Now   func() time.Time
}

// Branch gives a branch that the actor sees, as it is in SQL.
func (h *House) Branch(ctx context.Context, by identity.Actor, id int64) (Branch, error) {
	if !by.Sees(id) {
		return Branch{}, ErrBranch
	}
	return h.Store.Branch(ctx, id)
}

// Edit changes a branch.
func (h *House) Edit(ctx context.Context, by identity.Actor, id int64, e BranchEdit) (Branch, error) {
	now := h.Now()
	return h.change(ctx, by, id, identity.ActionBranchEdited, now, func(b Branch) (Branch, error) { return e.apply(b, now) })
}

// Pause has a branch take no orders until an end. A pause that is in force already gets this reason and this end.
func (h *House) Pause(ctx context.Context, by identity.Actor, id int64, p Pause, until Until) (Branch, error) {
	now := h.Now()
	return h.change(ctx, by, id, identity.ActionBranchPaused, now, func(b Branch) (Branch, error) {
		var err error
		p.Since, p.By = now, by.String()
		if running := b.Paused(now); running != nil {
			p.Since = running.Since
		}
		if p.Until, err = until.In(b.Calendar(), now); err != nil {
			return b, err
		}
		b.Pause = &p
		return b, p.check(now)
	})
}

// Resume ends a pause; a branch that is not paused stays as it is.
func (h *House) Resume(ctx context.Context, by identity.Actor, id int64) (Branch, error) {
	return h.change(ctx, by, id, identity.ActionBranchResumed, h.Now(), func(b Branch) (Branch, error) {
		b.Pause = nil
		return b, nil
	})
}

func (h *House) change(
	ctx context.Context, by identity.Actor, id int64, action string, now time.Time, how func(Branch) (Branch, error),
) (Branch, error) {
	b, err := h.Store.ChangeBranch(ctx, by, id, action, now, how)
	if err == nil {
		h.Menus.Invalidate(ctx, b.ID)
	}
	return b, err
}
