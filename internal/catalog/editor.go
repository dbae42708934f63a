package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/identity"
)

// Store keeps menus, normally catalogsql. Each call that changes something is one transaction, which also says so in the
// audit log; what belongs to a branch that the actor does not see is answered as if it did not exist.
type Store interface {
	Branches(ctx context.Context) ([]Branch, error)
	// SetQuota changes an item's standing quota, and today's with it.
	SetQuota(ctx context.Context, by identity.Actor, item int64, quota *int64, now time.Time) (branch int64, err error)
	// Draft makes a draft out of the menu's published version.
	Draft(ctx context.Context, by identity.Actor, menu int64, now time.Time) (Version, error)
	// EditDraft says what a draft has of an item of its menu; ErrNotDraft when it is none.
	EditDraft(ctx context.Context, by identity.Actor, version, item int64, e Entry, now time.Time) error
	// Publish brings a draft into force and closes the version that the branch had before.
	Publish(ctx context.Context, by identity.Actor, version int64, now time.Time) (Version, error)
}

// Editor changes menus for the staff. What it changes is seen at once in this process and within a second elsewhere.
type Editor struct {
	Store Store
	Menus *Menus
	Now   func() time.Time
}

// Branches lists the branches in which the actor works.
func (e *Editor) Branches(ctx context.Context, by identity.Actor) ([]Branch, error) {
	all, err := e.Store.Branches(ctx)
	return slices.DeleteFunc(all, func(b Branch) bool { return !by.Sees(b.ID) }), err
}

// SetQuota says how many of an item may be sold on a business date, from today on; nil means any number. It may be
// below what is sold already: then no more can be ordered today.
func (e *Editor) SetQuota(ctx context.Context, by identity.Actor, item int64, quota *int64) error {
	if err := CheckQuota(quota); err != nil {
		return err
	}
	branch, err := e.Store.SetQuota(ctx, by, item, quota, e.Now())
	if err != nil {
		return err
	}
	e.Menus.Invalidate(ctx, branch)
	return nil
}

// Draft begins a new version of a menu.
func (e *Editor) Draft(ctx context.Context, by identity.Actor, menu int64) (Version, error) {
	return e.Store.Draft(ctx, by, menu, e.Now())
}

// Edit changes an item of a draft, or adds it.
func (e *Editor) Edit(ctx context.Context, by identity.Actor, version, item int64, entry Entry) error {
	if err := entry.Check(); err != nil {
		return err
	}
	return e.Store.EditDraft(ctx, by, version, item, entry, e.Now())
}

// Publish brings a draft into force. To publish a version that is in force already changes nothing and is no error, so
// that the request may be repeated.
func (e *Editor) Publish(ctx context.Context, by identity.Actor, version int64) (Version, error) {
	v, err := e.Store.Publish(ctx, by, version, e.Now())
	if err != nil {
		return Version{}, err
	}
	e.Menus.Invalidate(ctx, v.BranchID)
	return v, nil
}
