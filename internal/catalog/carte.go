package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/identity"
)

// Menu is a menu without its versions.
type Menu struct {
	ID        int64
	BranchID  int64
	Name      string
	Published int64 // the version in force; 0 for none
	Drafts    int64 // versions that are drafts
}

// Line is what a version says about one menu item, with the dish behind it.
type Line struct {
	ItemID     int64
	DishID     int64
	CategoryID int64
	Category   Texts
	Names      Texts
	ImageURL   string
	Entry
}

// CarteStore keeps menus and their versions, normally catalogsql. What belongs to a branch that the actor does not see is
// answered as if it did not exist.
type CarteStore interface {
	MenusOf(ctx context.Context, branch int64) ([]Menu, error)
	AddMenu(ctx context.Context, by identity.Actor, m Menu, now time.Time) (Menu, error)
	Versions(ctx context.Context, by identity.Actor, menu int64, limit, offset int) (page []Version, total int64, err error)
	Lines(ctx context.Context, by identity.Actor, version int64) (Version, []Line, error)
	// Whole gives the content of any version, a draft's quotas included.
	Whole(ctx context.Context, by identity.Actor, version int64) (Content, error)
	// AddLine puts a dish on a draft, and makes the menu's item for it if it has none.
	AddLine(ctx context.Context, by identity.Actor, version, dish int64, e Entry, now time.Time) (Line, error)
	RemoveLine(ctx context.Context, by identity.Actor, version, item int64, now time.Time) error
	Discard(ctx context.Context, by identity.Actor, version int64, now time.Time) error
}

// Carte is menus for those who edit them. What takes effect at once is Editor's.
type Carte struct {
	Store    CarteStore
	Branches *Menus
	Now      func() time.Time
}

// Menus lists the menus of a branch, 0 for all that the actor sees.
func (c *Carte) Menus(ctx context.Context, by identity.Actor, branch int64) ([]Menu, error) {
	if branch != 0 && !by.Sees(branch) {
		return nil, ErrBranch
	}
	all, err := c.Store.MenusOf(ctx, branch)
	return slices.DeleteFunc(all, func(m Menu) bool { return !by.Sees(m.BranchID) }), err
}

// AddMenu makes a menu without versions.
func (c *Carte) AddMenu(ctx context.Context, by identity.Actor, branch int64, name string) (Menu, error) {
	if err := checkName("A menu", name); err != nil {
		return Menu{}, err
	}
	return c.Store.AddMenu(ctx, by, Menu{BranchID: branch, Name: name}, c.Now())
}

// Versions lists the versions of a menu, the newest first.
func (c *Carte) Versions(
	ctx context.Context, by identity.Actor, menu int64, limit, offset int,
) ([]Version, int64, error) {
	return c.Store.Versions(ctx, by, menu, limit, offset)
}

// Lines gives a version with all that it says, in the order of the menu.
func (c *Carte) Lines(ctx context.Context, by identity.Actor, version int64) (Version, []Line, error) {
	return c.Store.Lines(ctx, by, version)
}

// AddLine puts a dish on a draft.
func (c *Carte) AddLine(ctx context.Context, by identity.Actor, version, dish int64, e Entry) (Line, error) {
	if err := e.Check(); err != nil {
		return Line{}, err
	}
	return c.Store.AddLine(ctx, by, version, dish, e, c.Now())
}

// RemoveLine takes an item off a draft.
func (c *Carte) RemoveLine(ctx context.Context, by identity.Actor, version, item int64) error {
	return c.Store.RemoveLine(ctx, by, version, item, c.Now())
}

// Discard deletes a draft.
func (c *Carte) Discard(ctx context.Context, by identity.Actor, version int64) error {
	return c.Store.Discard(ctx, by, version, c.Now())
}

// Preview gives a version as guests would see it if it were in force now and nothing were sold yet.
func (c *Carte) Preview(ctx context.Context, by identity.Actor, version int64) (*Board, error) {
	content, err := c.Store.Whole(ctx, by, version)
	if err != nil {
		return nil, err
	}
	b, err := c.Branches.Branch(ctx, content.Edition.BranchID)
	if err != nil {
		return nil, err
	}
	menu := &Snapshot{Branch: b, Edition: content.Edition, Quotas: content.Quotas}
	return &Board{Snapshot: menu, Date: b.Calendar().BizDate(c.Now())}, nil
}
