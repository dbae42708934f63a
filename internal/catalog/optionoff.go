package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
)

// OffOption is an option that is off ("86") in a branch, like an OffItem.
type OffOption struct {
	Option int64
	Since  time.Time
	Until  time.Time // zero: until staff restore it
	By     string    // authz.Actor.String()
}

// OffOptionStore stores which options are off; catalogsql implements it.
type OffOptionStore interface {
	// TakeOptionOff fails with ErrOptionMissing for an unknown option, and with ErrBranch for a branch that the actor may
	// not see.
	TakeOptionOff(ctx context.Context, by authz.Actor, branch, option int64, until Until, now time.Time) (OffOption, error)
	// RestoreOption puts an option back on sale. It does nothing for an option that is not off.
	RestoreOption(ctx context.Context, by authz.Actor, branch, option int64, now time.Time) error
	// RestoreDueOptions restores the options whose Until has passed and returns their branches.
	RestoreDueOptions(ctx context.Context, now time.Time) (branches []int64, err error)
	OffOptions(ctx context.Context, branch int64) (map[int64]OffOption, error)
}

// TakeOptionOff stops the sale of an option in a branch. Orders placed before it returns keep it.
func (a *Availability) TakeOptionOff(
	ctx context.Context, by authz.Actor, branch, option int64, until Until,
) (OffOption, error) {
	off, err := a.Options.TakeOptionOff(ctx, by, branch, option, until, a.Now())
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
