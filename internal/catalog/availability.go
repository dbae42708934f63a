package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/seq"
)

// forever is a business date later than all others.
const forever = "9999-12-31"

// OffItem is a menu item that is off ("86"): it cannot be ordered until staff restore it, or until RestoreDue restores
// it after Until. Until it is restored, SQL, phones and the console all report it as off, even past Until.
type OffItem struct {
	Item  int64
	Since time.Time
	Until time.Time // zero: until staff restore it
	By    string    // authz.Actor.String()
}

// LastDate returns the last business date whose counter starts with a cap of 0: the date of the last millisecond before
// Until.
func (a OffItem) LastDate(c *Calendar) string {
	if a.Until.IsZero() {
		return forever
	}
	return c.BizDate(a.Until.Add(-time.Millisecond))
}

// ItemRef is the branch and the dish of a menu item.
type ItemRef struct {
	Branch int64
	Dish   int64
}

// OffImpact counts what taking an item off affects: unpaid orders, which keep their units, and members' carts, which
// can no longer be ordered with it.
type OffImpact struct {
	Holds int64
	Units int64 // held by those orders
	Carts int64
}

// Counter is the ledger's counter of an item on one business date.
type Counter struct {
	Item int64
	Cap  *int64 // nil: unlimited
	Held int64
	Used int64
}

// Left returns how many units can still be sold, or nil if there is no cap.
func (c Counter) Left() *int64 {
	if c.Cap == nil {
		return nil
	}
	// Staff may set a quota below the units already sold, so the difference can be negative.
	return new(max(0, *c.Cap-c.Held-c.Used))
}

// OffItemStore stores which items are off; catalogsql implements it. TakeOff and Restore change the cap of the current
// business date in the same transaction, under the counter lock that placing an order takes.
type OffItemStore interface {
	TakeOff(ctx context.Context, by authz.Actor, item int64, until Until, now time.Time) (ItemRef, OffItem, error)
	// Restore puts an item back on sale. It does nothing for an item that is not off.
	Restore(ctx context.Context, by authz.Actor, item int64, now time.Time) (ItemRef, error)
	// RestoreDue restores the items whose Until has passed and returns their branches.
	RestoreDue(ctx context.Context, now time.Time) (branches []int64, err error)
	OffItems(ctx context.Context, branch int64) (map[int64]OffItem, error)
}

// CounterReader reads counters, holds and carts.
type CounterReader interface {
	Counters(ctx context.Context, branch int64, date string) ([]Counter, error)
	Impact(ctx context.Context, at ItemRef, date string, item int64) (OffImpact, error)
}

// Availability takes items off the menu and restores them, and reports the remaining units to the staff.
type Availability struct {
	Store     OffItemStore
	Options   OffOptionStore
	Counters  CounterReader
	LiveMenus interface {
		Get(ctx context.Context, branch int64) (*LiveMenu, error)
	}
	Menus *MenuCache
	Now   func() time.Time
}

// TakeOff stops the sale of an item. Orders placed before it returns keep their units and are counted in the OffImpact;
// no later order gets any.
func (a *Availability) TakeOff(ctx context.Context, by authz.Actor, item int64, until Until) (OffItem, OffImpact, error) {
	now := a.Now()
	at, off, err := a.Store.TakeOff(ctx, by, item, until, now)
	if err != nil {
		return off, OffImpact{}, err
	}
	a.Menus.Invalidate(ctx, at.Branch)
	b, err := a.Menus.Branch(ctx, at.Branch)
	if err != nil {
		return off, OffImpact{}, err
	}
	// Counted after the commit: no later order gets units, so the held units can no longer rise.
	impact, err := a.Counters.Impact(ctx, at, b.Calendar().BizDate(now), item)
	return off, impact, err
}

// Restore puts an item back on sale, up to its quota.
func (a *Availability) Restore(ctx context.Context, by authz.Actor, item int64) error {
	at, err := a.Store.Restore(ctx, by, item, a.Now())
	a.Menus.changed(ctx, err, at.Branch)
	return err
}

// RestoreDue restores the items and options that are due. It runs every second.
func (a *Availability) RestoreDue(ctx context.Context) error {
	branches, err := a.Store.RestoreDue(ctx, a.Now())
	more, optionErr := a.Options.RestoreDueOptions(ctx, a.Now())
	for _, b := range append(branches, more...) {
		a.Menus.Invalidate(ctx, b)
	}
	return errors.Join(err, optionErr)
}

// CountedMenu is a branch's live menu with the ledger's counters of the current business date.
type CountedMenu struct {
	*LiveMenu
	Counters map[int64]Counter // by item; missing until the item's first order of the day
	OffItems map[int64]OffItem // by item

	OffOptions map[int64]OffOption // by option
}

// Left returns how many units of an item can be sold now, or nil if unlimited. It is the minimum of the ledger's
// counter and the number that phones show, which stock can make lower.
func (c *CountedMenu) Left(item int64) *int64 {
	// OffItems comes from SQL, which decides. The live menu may be a quarter of a second older.
	if _, off := c.OffItems[item]; off {
		return new(int64)
	}
	left := c.Counters[item].Left()
	if shown, limited := c.LiveMenu.Left(item); limited && (left == nil || shown < *left) {
		left = &shown
	}
	return left
}

// withoutMenu returns an empty menu, version 0, for a branch without a published menu.
func (a *Availability) withoutMenu(ctx context.Context, branch int64) (*CountedMenu, error) {
	b, err := a.Menus.Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	closure, change := b.Closed(now)
	empty := &Snapshot{Branch: b, Edition: NewEdition(0, branch, nil, nil)}
	return &CountedMenu{LiveMenu: &LiveMenu{Snapshot: empty, Date: b.Calendar().BizDate(now), Pause: b.Paused(now),
		Closure: closure, HoursChange: change}}, nil
}

// Menu returns a branch's menu with the ledger's counters. A branch that the actor may not see is ErrBranch.
func (a *Availability) Menu(ctx context.Context, by authz.Actor, branch int64) (*CountedMenu, error) {
	if !by.Sees(branch) {
		return nil, ErrBranch
	}
	menu, err := a.LiveMenus.Get(ctx, branch)
	// A new branch has no menu yet. Its pages show an empty menu instead of an error.
	if errors.Is(err, ErrMenu) {
		return a.withoutMenu(ctx, branch)
	}
	if err != nil {
		return nil, err
	}
	counters, err := a.Counters.Counters(ctx, branch, menu.Branch.Calendar().BizDate(a.Now()))
	if err != nil {
		return nil, err
	}
	off, err := a.Store.OffItems(ctx, branch)
	if err != nil {
		return nil, err
	}
	options, err := a.Options.OffOptions(ctx, branch)
	return &CountedMenu{menu, seq.Index(counters, func(c Counter) int64 { return c.Item }), off, options}, err
}

// OffOption is an option that is off ("86") in a branch, like an OffItem.
type OffOption struct {
	Option int64
	Since  time.Time
	Until  time.Time // zero: until staff restore it
	By     string    // authz.Actor.String()
}

// OffOptionStore stores which options are off; catalogsql implements it.
type OffOptionStore interface {
	// AddUnavailableOption fails with ErrOptionMissing for an unknown option, and with ErrBranch for a branch that the
	// actor may not see.
	AddUnavailableOption(
		ctx context.Context, by authz.Actor, branch, option int64, until Until, now time.Time,
	) (OffOption, error)
	// RestoreOption puts an option back on sale. It does nothing for an option that is not off.
	RestoreOption(ctx context.Context, by authz.Actor, branch, option int64, now time.Time) error
	// RestoreDueOptions restores the options whose Until has passed and returns their branches.
	RestoreDueOptions(ctx context.Context, now time.Time) (branches []int64, err error)
	OffOptions(ctx context.Context, branch int64) (map[int64]OffOption, error)
}

// AddUnavailableOption stops the sale of an option in a branch. Orders placed before it returns keep it.
func (a *Availability) AddUnavailableOption(
	ctx context.Context, by authz.Actor, branch, option int64, until Until,
) (OffOption, error) {
	off, err := a.Options.AddUnavailableOption(ctx, by, branch, option, until, a.Now())
	a.Menus.changed(ctx, err, branch)
	return off, err
}

// RestoreOption puts an option back on sale.
func (a *Availability) RestoreOption(ctx context.Context, by authz.Actor, branch, option int64) error {
	err := a.Options.RestoreOption(ctx, by, branch, option, a.Now())
	a.Menus.changed(ctx, err, branch)
	return err
}

// OptionOff reports whether an option is off in the branch.
func (s *Snapshot) OptionOff(option int64) bool { return slices.Contains(s.OffOptions, option) }

// OptionLevel is the number under which Levels reports the units left of an option whose recipe consumes stock. It is
// negative, so it never equals the number of an item.
func OptionLevel(option int64) int64 { return -option }

// OptionAvailable reports whether an option can be ordered now: it is not off, its stock and the dish that it stands for
// are not sold out, and its own required groups can be met.
func (m *LiveMenu) OptionAvailable(o *MenuOption) bool {
	if m.OptionOff(o.ID) || m.soldOut(OptionLevel(o.ID)) || o.Component != 0 && m.soldOut(o.Component) {
		return false
	}
	return m.canChoose(o.Groups)
}

// soldOut does not account for the options of an item: a combo contains the dish without them.
func (m *LiveMenu) soldOut(level int64) bool {
	left, limited := m.counted(level)
	return limited && left == 0
}

// canChoose reports whether the available options of each group suffice for its minimum.
func (m *LiveMenu) canChoose(groups []OptionGroup) bool {
	for i := range groups {
		g := &groups[i]
		if g.Min == 0 {
			continue
		}
		var most int64
		for j := range g.Options {
			if m.OptionAvailable(&g.Options[j]) {
				most += g.MaxEach
			}
		}
		if most < g.Min {
			return false
		}
	}
	return true
}

// Unavailable returns the options of an item that cannot be ordered now, those of the second level included, each once and
// in menu order.
func (m *LiveMenu) Unavailable(it *Item) (options []int64) { return m.unavailable(nil, it.Groups) }

func (m *LiveMenu) unavailable(options []int64, groups []OptionGroup) []int64 {
	for i := range groups {
		for j := range groups[i].Options {
			o := &groups[i].Options[j]
			if !m.OptionAvailable(o) && !slices.Contains(options, o.ID) {
				options = append(options, o.ID)
			}
			options = m.unavailable(options, o.Groups)
		}
	}
	return options
}

// components adds the items for which options of the groups stand to items.
func components(items []int64, groups []OptionGroup) []int64 {
	for i := range groups {
		for j := range groups[i].Options {
			o := &groups[i].Options[j]
			if o.Component != 0 {
				items = append(items, o.Component)
			}
			items = components(items, o.Groups)
		}
	}
	return items
}
