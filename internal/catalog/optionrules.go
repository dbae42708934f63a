package catalog

import (
	"cmp"
	"slices"

	"comanda/internal/fault"
	"comanda/internal/seq"
)

// maxItemGroups limits the groups of one item, those of its options included.
const maxItemGroups = 40

// VersionGroup is a group of a menu item in a version, as the staff edit it.
type VersionGroup struct {
	GroupID        int64
	ParentOptionID int64 // the option that the group belongs to; 0: the item
	Kind           GroupKind
	Names          Texts
	Sort           int64 // place within the item; set by the store
	Min            int64
	Max            *int64 // nil is no limit
	Free           int64
	MaxEach        int64
	Credit         bool
	DefaultsCharge bool
	Options        []VersionOption // in menu order
}

// VersionOption is an option of a group in a version.
type VersionOption struct {
	OptionID    int64
	Names       Texts
	ShortName   string
	DishID      int64
	Component   int64 // the menu's item of DishID; set by the store
	TaxClass    string
	Price       int64
	Sort        int64
	Default     bool
	Active      bool
	Declaration // COMBO: that of the dish; set by the store
}

// checkGroups returns an error if groups are not valid in any version. Rules that a draft may break until it is published
// are those of groupProblems.
func checkGroups(groups []VersionGroup) error {
	type place struct{ parent, group int64 }
	seen := map[place]bool{}
	if len(groups) > maxItemGroups {
		return invalid("A dish has at most %d groups of options.", maxItemGroups)
	}
	for _, g := range groups {
		p := place{g.ParentOptionID, g.GroupID}
		if seen[p] {
			return invalidIn("groupId", "A group is used twice.").With("groupId", decimal(g.GroupID))
		}
		seen[p] = true
		if err := g.check(); err != nil {
			return err
		}
	}
	return nil
}

// check refuses limits of a group that no choice can fulfil, and amounts out of range.
func (g VersionGroup) check() error {
	limit := int64(MaxChosen * MaxOptionQty)
	refuse := func(field, detail string) error {
		return invalidIn(field, detail).With("groupId", decimal(g.GroupID))
	}
	switch {
	case g.Min < 0 || g.Min > limit:
		return refuse("min", "The minimum of a group is out of range.")
	case g.Max != nil && (*g.Max < max(1, g.Min) || *g.Max > limit):
		return refuse("max", "The maximum of a group is at least 1 and not below its minimum.")
	case g.Free < 0 || g.Free > limit:
		return refuse("free", "The number of free units is out of range.")
	case g.MaxEach < 1 || g.MaxEach > MaxOptionQty:
		return refuse("maxEach", "The maximum of one option is out of range.")
	case len(g.Options) > MaxChoices:
		return refuse("options", "A group has too many options.")
	}
	seen := map[int64]bool{}
	for _, o := range g.Options {
		if seen[o.OptionID] {
			return refuse("optionId", "An option is used twice.")
		}
		seen[o.OptionID] = true
		if err := CheckPrice(o.Price); err != nil {
			return err
		}
	}
	return nil
}

// checkSize refuses limits of a SIZE group that leave open which option's price replaces that of the dish. The store
// calls it, because requests name groups by id.
func (g VersionGroup) checkSize() error {
	if g.Kind == SizeGroup && (g.Max == nil || *g.Max != 1 || g.Free != 0 || g.Credit) {
		return invalidIn("max", "A guest chooses one size, without free units and credits.").With("groupId", decimal(g.GroupID))
	}
	return nil
}

// GroupProblem is a rule about groups that a draft must meet before it is published.
type GroupProblem struct {
	ItemID  int64  `json:"itemId,string"`
	GroupID int64  `json:"groupId,string"`
	Code    string `json:"code"`
}

// The codes of problems.
const (
	ProblemMin      = "min_above_active"      // fewer units can be chosen than the minimum
	ProblemDefaults = "defaults_above_max"    // what phones choose beforehand would be refused
	ProblemFree     = "free_unequal_prices"   // which of the options are free would be open
	ProblemCredit   = "free_with_credit"      // as above
	ProblemItself   = "combo_contains_itself" // the item would take its own quota twice
	ProblemTooDeep  = "too_deep"              // a third level, or a size on the second one
	ProblemSize     = "size_twice"            // two prices would replace that of the dish
)

// ErrIncomplete refuses to publish a draft. It carries problems.
var ErrIncomplete = fault.New(fault.Conflict, "version_incomplete", "Some dishes have options that need attention.")

// groupProblems returns what keeps an item with these groups from being published.
func groupProblems(item int64, groups []VersionGroup) (problems []GroupProblem) {
	top := map[int64]bool{} // options of the first level
	for _, g := range groups {
		for _, o := range g.Options {
			if g.ParentOptionID == 0 {
				top[o.OptionID] = true
			}
		}
	}
	sizes := 0
	for _, g := range groups {
		add := func(code string) { problems = append(problems, GroupProblem{item, g.GroupID, code}) }
		active := activeOf(g.Options)
		if int64(len(active))*g.MaxEach < g.Min {
			add(ProblemMin)
		}
		defaults := seq.Filter(active, func(o VersionOption) bool { return o.Default })
		if g.Max != nil && int64(len(defaults)) > *g.Max {
			add(ProblemDefaults)
		}
		if g.Free > 0 && slices.ContainsFunc(active, func(o VersionOption) bool { return o.Price != active[0].Price }) {
			add(ProblemFree)
		}
		if g.Free > 0 && g.Credit {
			add(ProblemCredit)
		}
		if slices.ContainsFunc(active, func(o VersionOption) bool { return o.Component == item }) {
			add(ProblemItself)
		}
		nested := g.ParentOptionID != 0
		if nested && (!top[g.ParentOptionID] || g.Kind == SizeGroup) {
			add(ProblemTooDeep)
		}
		if g.Kind == SizeGroup && !nested {
			if sizes++; sizes > 1 {
				add(ProblemSize)
			}
		}
	}
	return problems
}

func activeOf(options []VersionOption) []VersionOption {
	return slices.DeleteFunc(slices.Clone(options), func(o VersionOption) bool { return !o.Active })
}

// CheckLines returns ErrIncomplete if active items of a draft break rules about groups.
func CheckLines(lines []Line) error {
	problems := []GroupProblem{}
	for _, l := range lines {
		if l.Active {
			problems = append(problems, groupProblems(l.ItemID, l.Groups)...)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return ErrIncomplete.With("problems", problems)
}

// CheckKinds returns an error if a group breaks a rule of its kind. The store calls it with the kinds of the library.
func CheckKinds(groups []VersionGroup) error {
	for _, g := range groups {
		if err := g.checkSize(); err != nil {
			return err
		}
	}
	return nil
}

// GroupsOf returns the groups of a version's item as readers use them: nested, in menu order and without inactive options.
func GroupsOf(groups []VersionGroup) []OptionGroup { return groupsBelow(groups, 0, 1) }

// groupsBelow returns the groups of a dish or, from the second level on, of an option. The depth is bounded because rows
// could form a cycle.
func groupsBelow(groups []VersionGroup, parent int64, depth int) (below []OptionGroup) {
	bySort := func(a, b VersionGroup) int { return cmp.Compare(a.Sort, b.Sort) }
	for _, g := range slices.SortedStableFunc(slices.Values(groups), bySort) {
		if g.ParentOptionID != parent {
			continue
		}
		out := OptionGroup{
			ID: g.GroupID, Kind: g.Kind, Names: g.Names, Min: g.Min, Max: g.Max, Free: g.Free, MaxEach: g.MaxEach,
			Credit: g.Credit, DefaultsCharge: g.DefaultsCharge, Options: []MenuOption{},
		}
		for _, o := range activeOf(g.Options) {
			option := MenuOption{
				ID: o.OptionID, Names: o.Names, ShortName: o.ShortName, Price: o.Price, Default: o.Default, DishID: o.DishID,
				Component: o.Component, TaxClass: o.TaxClass, Declaration: o.Declaration,
			}
			if depth < maxDepth {
				option.Groups = groupsBelow(groups, o.OptionID, depth+1)
			}
			out.Options = append(out.Options, option)
		}
		below = append(below, out)
	}
	return below
}
