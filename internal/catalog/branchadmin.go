package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
)

// BranchStore stores branches; catalogsql implements it.
type BranchStore interface {
	Branch(ctx context.Context, id int64) (Branch, error)
	Branches(ctx context.Context) ([]Branch, error)
	// ChangeBranch stores the result of change, which it calls under the branch's lock, and records the action in the
	// audit log. It changes nothing if change fails.
	ChangeBranch(ctx context.Context, by authz.Actor, id int64, action string, now time.Time,
		change func(Branch) (Branch, error)) (Branch, error)
}

// ErrBizDay refuses a start hour that would change the business date at this moment (I14): today's sales would be
// counted on another date.
var ErrBizDay = fault.New(fault.Conflict, "biz_day_running",
	"This would change today's business date. Change the hour at a time that falls on the same date with both hours.")

// BranchEdit is a change to a branch. Nil fields stay as they are.
type BranchEdit struct {
	Name      *string
	Locales   []Locale
	DayStart  *int
	AutoClose *time.Duration
	Open      *bool
}

// apply returns the changed branch.
func (e BranchEdit) apply(b Branch, now time.Time) (Branch, error) {
	was := b
	if e.Name != nil {
		b.Name = *e.Name
	}
	if e.Locales != nil {
		// The order of locales is a preference, so it is kept and duplicates are an error.
		if len(slices.Compact(slices.Sorted(slices.Values(e.Locales)))) < len(e.Locales) {
			return b, invalid("List each locale only once.")
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
	// Only the present matters: orders store their date, so the past does not change.
	if err == nil && b.Calendar().BizDate(now) != was.Calendar().BizDate(now) {
		err = ErrBizDay
	}
	return b, err
}

// BranchAdmin manages branches for the staff. Changes are visible at once in this process and within a second in
// others.
type BranchAdmin struct {
	Store BranchStore
	Menus *MenuCache
	Now   func() time.Time
}

// Branches returns the branches that the actor may see.
func (a *BranchAdmin) Branches(ctx context.Context, by authz.Actor) ([]Branch, error) {
	all, err := a.Store.Branches(ctx)
	return slices.DeleteFunc(all, func(b Branch) bool { return !by.Sees(b.ID) }), err
}

// Branch returns a branch as stored in SQL. A branch that the actor may not see is ErrBranch.
func (a *BranchAdmin) Branch(ctx context.Context, by authz.Actor, id int64) (Branch, error) {
	if !by.Sees(id) {
		return Branch{}, ErrBranch
	}
	return a.Store.Branch(ctx, id)
}

// Edit changes a branch.
func (a *BranchAdmin) Edit(ctx context.Context, by authz.Actor, id int64, e BranchEdit) (Branch, error) {
	now := a.Now()
	return a.change(ctx, by, id, audit.ActionBranchEdited, now, func(b Branch) (Branch, error) { return e.apply(b, now) })
}

// Pause stops a branch from taking orders until an end. A pause already in force keeps its start and gets the new
// reason and end.
func (a *BranchAdmin) Pause(ctx context.Context, by authz.Actor, id int64, p Pause, until Until) (Branch, error) {
	now := a.Now()
	return a.change(ctx, by, id, audit.ActionBranchPaused, now, func(b Branch) (Branch, error) {
		var err error
		p.Since, p.By = now, by.String()
		// A new reason or end does not begin a new pause.
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

// Resume ends a pause. It succeeds for a branch that is not paused.
func (a *BranchAdmin) Resume(ctx context.Context, by authz.Actor, id int64) (Branch, error) {
	return a.change(ctx, by, id, audit.ActionBranchResumed, a.Now(), func(b Branch) (Branch, error) {
		b.Pause = nil
		return b, nil
	})
}

// change stores the result of edit and invalidates the branch in every process. edit may run more than once, if the
// transaction is retried.
func (a *BranchAdmin) change(
	ctx context.Context, by authz.Actor, id int64, action string, now time.Time, edit func(Branch) (Branch, error),
) (Branch, error) {
	b, err := a.Store.ChangeBranch(ctx, by, id, action, now, edit)
	if err == nil {
		a.Menus.Invalidate(ctx, b.ID)
	}
	return b, err
}
