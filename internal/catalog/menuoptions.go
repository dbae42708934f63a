package catalog

import (
	"errors"
	"slices"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/menufile"
	"comanda/internal/seq"
)

// GroupWrite is an option group that an import uses, with the options that it uses of it.
type GroupWrite struct {
	ID      int64 // 0: new
	Kind    GroupKind
	Names   Texts
	Options []OptionWrite
}

// OptionWrite is an option of a GroupWrite.
type OptionWrite struct {
	ID    int64 // 0: new
	Names Texts
	Sort  int64 // of a new one
}

// GroupUse is a group of a dish in an import. The ids in it are set when the group is written.
type GroupUse struct {
	VersionGroup

	Group   int   // index in MenuChange.Groups
	Choices []int // indexes in the group's Options, of the options of VersionGroup
}

// optionsCell returns the groups of an item as files have them: the first level, with the options that are active.
func (s MenuState) optionsCell(groups []VersionGroup) (c menufile.OptionsCell) {
	for _, g := range groups {
		if g.ParentOptionID != 0 {
			continue
		}
		cell := menufile.OptionGroupCell{
			Kind: string(g.Kind), Name: g.Names.In(s.base()), Names: s.texts(g.Names), Min: g.Min, Max: g.Max,
			Free: g.Free, MaxEach: g.MaxEach, Credit: g.Credit, Included: !g.DefaultsCharge,
		}
		for _, o := range activeOf(g.Options) {
			cell.Options = append(cell.Options, menufile.OptionCell{
				Name: o.Names.In(s.base()), Names: s.texts(o.Names), Price: o.Price, Default: o.Default,
			})
		}
		c.Groups = append(c.Groups, cell)
	}
	c.Given = len(c.Groups) > 0
	return c
}

// options writes a row's options into an item and reports whether they changed. A cell names groups and options of the
// library; those that it lacks are created.
func (p *planner) options(row menufile.DishRow, it MenuItemState, w *ItemWrite) bool {
	if !row.Options.Given {
		return false
	}
	file, stored := fileOptions(p.Branch), p.optionsCell(it.Groups)
	if row.Options.Text(file) == stored.Text(file) {
		return false
	}
	combo := func(g menufile.OptionGroupCell) bool { return g.Kind == string(ComboGroup) }
	nested := slices.ContainsFunc(it.Groups, func(g VersionGroup) bool { return g.ParentOptionID != 0 })
	if nested || slices.ContainsFunc(stored.Groups, combo) || slices.ContainsFunc(row.Options.Groups, combo) {
		p.problem(row, "options", menufile.OptionsFixed,
			"Change combos and options of options in the console. Leave the cell empty to keep the options.")
		return false
	}
	uses := []GroupUse{}
	for _, g := range row.Options.Groups {
		uses = append(uses, p.use(g, it))
	}
	if problem := wrongUses(uses); problem != "" {
		p.problem(row, "options", menufile.OptionsWrong, problem)
		return false
	}
	w.Groups = &uses
	return true
}

// wrongUses returns a sentence about groups that no version can have; empty if there are none.
func wrongUses(uses []GroupUse) string {
	groups := seq.Map(uses, func(u GroupUse) VersionGroup {
		u.GroupID = int64(u.Group) + 1
		for i := range u.Options {
			u.Options[i].OptionID = int64(u.Choices[i]) + 1
		}
		return u.VersionGroup
	})
	err := checkGroups(groups)
	if err == nil {
		err = CheckKinds(groups)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok { // both return faults only
		return f.Detail
	}
	// No option of a file stands for a menu item, so no item contains itself.
	if problems := groupProblems(-1, groups); len(problems) > 0 {
		return ruleSentence(problems[0].Code)
	}
	return ""
}

// ruleSentence returns a sentence about a broken rule that a file can have. The others concern combos and second levels.
func ruleSentence(code string) string {
	switch code {
	case ProblemMin:
		return "A group asks for more options than it has."
	case ProblemDefaults:
		return "A group has more defaults than guests may choose."
	case ProblemFree:
		return "Options of a group with free ones need one price."
	case ProblemCredit:
		return "A group has either free options or a credit."
	default:
		return "A dish has one group of sizes."
	}
}

// use returns the use of a group of the file by an item.
func (p *planner) use(g menufile.OptionGroupCell, it MenuItemState) GroupUse {
	at := p.group(g, it)
	u := GroupUse{Group: at, VersionGroup: VersionGroup{
		Kind: GroupKind(g.Kind), Min: g.Min, Max: g.Max, Free: g.Free, MaxEach: g.MaxEach, Credit: g.Credit,
		DefaultsCharge: !g.Included,
	}}
	for _, o := range g.Options {
		u.Choices = append(u.Choices, p.choice(at, o))
		u.Options = append(u.Options, VersionOption{Price: o.Price, Default: o.Default, Active: true})
	}
	return u
}

// group returns the index of a group in change.Groups. It appends the group if it is missing. Of several groups of the
// library with the name, the item's own is taken, else the oldest.
func (p *planner) group(g menufile.OptionGroupCell, it MenuItemState) int {
	named := func(kind GroupKind, names Texts) bool {
		return kind == GroupKind(g.Kind) && menufile.Fold(strings.TrimSpace(names.In(p.base()))) == menufile.Fold(g.Name)
	}
	found := GroupWrite{Kind: GroupKind(g.Kind), Names: p.optionNames(g.Name, g.Names)}
	for _, l := range p.Library {
		own := slices.ContainsFunc(it.Groups, func(v VersionGroup) bool { return v.GroupID == l.ID })
		if !named(l.Kind, l.Names) || found.ID != 0 && !own {
			continue
		}
		found = GroupWrite{ID: l.ID, Kind: l.Kind, Names: l.Names}
	}
	at := slices.IndexFunc(p.change.Groups, func(w GroupWrite) bool {
		return w.ID == found.ID && (w.ID != 0 || named(w.Kind, w.Names))
	})
	if at < 0 {
		at = len(p.change.Groups)
		p.change.Groups = append(p.change.Groups, found)
	}
	return at
}

// optionNames returns the names of a new group or option. Those that exist keep their names: the library is edited in the
// console.
func (p *planner) optionNames(base string, further map[string]string) Texts {
	names := Texts{}
	for l, s := range further {
		names[Locale(l)] = s
	}
	names[p.base()] = base
	return names
}

// choice returns the index of an option in a group of change.Groups. It appends the option if it is missing.
func (p *planner) choice(group int, cell menufile.OptionCell) int {
	g := &p.change.Groups[group]
	folded := menufile.Fold(cell.Name)
	named := func(names Texts) bool { return menufile.Fold(strings.TrimSpace(names.In(p.base()))) == folded }
	if at := slices.IndexFunc(g.Options, func(o OptionWrite) bool { return named(o.Names) }); at >= 0 {
		return at
	}
	made := OptionWrite{Names: p.optionNames(cell.Name, cell.Names), Sort: int64(len(g.Options))}
	if i := slices.IndexFunc(p.Library, func(l LibraryGroup) bool { return g.ID != 0 && l.ID == g.ID }); i >= 0 {
		library := p.Library[i].Options
		made.Sort += int64(len(library))
		if o := slices.IndexFunc(library, func(o LibraryOption) bool { return !o.Retired && named(o.Names) }); o >= 0 {
			made = OptionWrite{ID: library[o].ID, Names: library[o].Names}
		}
	}
	g.Options = append(g.Options, made)
	return len(g.Options) - 1
}
