package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
)

// Menu is a menu without its versions.
type Menu struct {
	ID        int64
	BranchID  int64
	Name      string
	Published int64 // id of the published version; 0 for none
	Drafts    int64 // number of draft versions
	Schedule  MenuSchedule
}

// Line is one menu item of a version together with its dish.
type Line struct {
	ItemID     int64
	DishID     int64
	CategoryID int64
	Category   Texts
	Names      Texts
	ImageURL   string
	Groups     []VersionGroup // options, in menu order
	Entry
}

// MenuStore stores menus, versions and quotas; catalogsql implements it. Each change is one transaction that includes
// its audit log entry. Methods report a branch that the actor may not see as not found.
type MenuStore interface {
	DraftStore
	ScheduleStore

	MenusOf(ctx context.Context, branch int64) ([]Menu, error)
	AddMenu(ctx context.Context, by authz.Actor, m Menu, now time.Time) (Menu, error)
	Versions(ctx context.Context, by authz.Actor, menu int64, limit, offset int) (page []Version, total int64, err error)
	Lines(ctx context.Context, by authz.Actor, version int64) (Version, []Line, error)
	// VersionContent returns the content of any version, a draft's quotas included.
	VersionContent(ctx context.Context, by authz.Actor, version int64) (Content, error)
	// Publish publishes a draft and closes the version of its menu that was published before.
	Publish(ctx context.Context, by authz.Actor, version int64, now time.Time) (Version, error)
	// SetQuota changes an item's standing quota and the cap of the current business date.
	SetQuota(ctx context.Context, by authz.Actor, item int64, quota *int64, now time.Time) (branch int64, err error)
}

// DraftStore stores drafts.
type DraftStore interface {
	// Draft creates a draft from the menu's published version.
	Draft(ctx context.Context, by authz.Actor, menu int64, now time.Time) (Version, error)
	// AddLine puts a dish on a draft and creates the menu's item for the dish if there is none.
	AddLine(ctx context.Context, by authz.Actor, version, dish int64, e Entry, now time.Time) (Line, error)
	// EditDraft sets the entry of a menu item in a draft. It fails with ErrNotDraft for any other version.
	EditDraft(ctx context.Context, by authz.Actor, version, item int64, e Entry, now time.Time) error
	RemoveLine(ctx context.Context, by authz.Actor, version, item int64, now time.Time) error
	Discard(ctx context.Context, by authz.Actor, version int64, now time.Time) error
}

// ScheduleStore stores when menus are offered.
type ScheduleStore interface {
	// SetSchedule fails if the schedule is not valid in the branch's calendar.
	SetSchedule(ctx context.Context, by authz.Actor, menu int64, s MenuSchedule, now time.Time) (Menu, error)
	// Withdraw closes the published version of a menu, if there is one.
	Withdraw(ctx context.Context, by authz.Actor, menu int64, now time.Time) (Menu, error)
}

// MenuEditor edits menus, versions and quotas for the staff. Published changes are visible at once in this process and
// within a second in others.
type MenuEditor struct {
	Store MenuStore
	Menus *MenuCache
	Now   func() time.Time
}

// MenusOf returns the menus of a branch, or for branch 0 the menus of all branches that the actor may see.
func (e *MenuEditor) MenusOf(ctx context.Context, by authz.Actor, branch int64) ([]Menu, error) {
	if branch != 0 && !by.Sees(branch) {
		return nil, ErrBranch
	}
	all, err := e.Store.MenusOf(ctx, branch)
	return slices.DeleteFunc(all, func(m Menu) bool { return !by.Sees(m.BranchID) }), err
}

// AddMenu creates a menu without versions.
func (e *MenuEditor) AddMenu(ctx context.Context, by authz.Actor, branch int64, name string) (Menu, error) {
	if err := checkName("A menu", name); err != nil {
		return Menu{}, err
	}
	return e.Store.AddMenu(ctx, by, Menu{BranchID: branch, Name: name}, e.Now())
}

// Versions returns a page of a menu's versions, newest first, and their total number.
func (e *MenuEditor) Versions(
	ctx context.Context, by authz.Actor, menu int64, limit, offset int,
) ([]Version, int64, error) {
	return e.Store.Versions(ctx, by, menu, limit, offset)
}

// Lines returns a version and its lines in menu order.
func (e *MenuEditor) Lines(ctx context.Context, by authz.Actor, version int64) (Version, []Line, error) {
	return e.Store.Lines(ctx, by, version)
}

// Draft creates a draft of a menu.
func (e *MenuEditor) Draft(ctx context.Context, by authz.Actor, menu int64) (Version, error) {
	return e.Store.Draft(ctx, by, menu, e.Now())
}

// AddLine puts a dish on a draft.
func (e *MenuEditor) AddLine(ctx context.Context, by authz.Actor, version, dish int64, entry Entry) (Line, error) {
	if err := entry.Check(); err != nil {
		return Line{}, err
	}
	return e.Store.AddLine(ctx, by, version, dish, entry, e.Now())
}

// Edit sets the entry of a menu item in a draft, and adds it if it is missing.
func (e *MenuEditor) Edit(ctx context.Context, by authz.Actor, version, item int64, entry Entry) error {
	if err := entry.Check(); err != nil {
		return err
	}
	return e.Store.EditDraft(ctx, by, version, item, entry, e.Now())
}

// RemoveLine removes an item from a draft.
func (e *MenuEditor) RemoveLine(ctx context.Context, by authz.Actor, version, item int64) error {
	return e.Store.RemoveLine(ctx, by, version, item, e.Now())
}

// Discard deletes a draft.
func (e *MenuEditor) Discard(ctx context.Context, by authz.Actor, version int64) error {
	return e.Store.Discard(ctx, by, version, e.Now())
}

// Preview returns a version as guests would see it if it were published now and nothing were sold yet.
func (e *MenuEditor) Preview(ctx context.Context, by authz.Actor, version int64) (*LiveMenu, error) {
	content, err := e.Store.VersionContent(ctx, by, version)
	if err != nil {
		return nil, err
	}
	b, err := e.Menus.Branch(ctx, content.Edition.BranchID)
	if err != nil {
		return nil, err
	}
	// Off is empty on purpose: an item is taken off for a while, independently of versions.
	menu := &Snapshot{Branch: b, Edition: content.Edition, Quotas: content.Quotas}
	return &LiveMenu{Snapshot: menu, Date: b.Calendar().BizDate(e.Now())}, nil
}

// Publish publishes a draft. It succeeds without a change when the version is published already, so clients may retry.
func (e *MenuEditor) Publish(ctx context.Context, by authz.Actor, version int64) (Version, error) {
	v, err := e.Store.Publish(ctx, by, version, e.Now())
	e.Menus.changed(ctx, err, v.BranchID)
	return v, err
}

// SetSchedule sets when a menu is offered, and to which kinds of orders.
func (e *MenuEditor) SetSchedule(ctx context.Context, by authz.Actor, menu int64, s MenuSchedule) (Menu, error) {
	m, err := e.Store.SetSchedule(ctx, by, menu, s, e.Now())
	e.Menus.changed(ctx, err, m.BranchID)
	return m, err
}

// Withdraw takes a menu off sale until a version of it is published again. It succeeds without a change if none is
// published, so clients may retry.
func (e *MenuEditor) Withdraw(ctx context.Context, by authz.Actor, menu int64) (Menu, error) {
	m, err := e.Store.Withdraw(ctx, by, menu, e.Now())
	e.Menus.changed(ctx, err, m.BranchID)
	return m, err
}

// SetQuota sets the number of units of an item that may be sold per business date, from today on; nil is unlimited. A
// quota below today's sales is allowed: no more can be ordered today.
func (e *MenuEditor) SetQuota(ctx context.Context, by authz.Actor, item int64, quota *int64) error {
	if err := CheckQuota(quota); err != nil {
		return err
	}
	// The counter and the standing quota change in one transaction, so an order sees either both changes or none.
	branch, err := e.Store.SetQuota(ctx, by, item, quota, e.Now())
	e.Menus.changed(ctx, err, branch)
	return err
}
