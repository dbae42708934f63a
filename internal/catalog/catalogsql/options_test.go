package catalogsql_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// The items of the demo that have options.
const milkTea, lunchSet = 36, 37

func optionService(s *catalogsql.Store) *catalog.OptionService {
	clock := func() time.Time { return now }
	return &catalog.OptionService{Store: s, Menus: catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock), Now: clock}
}

func named(name string) catalog.Texts { return catalog.Texts{catalog.English: name} }

// library creates groups of each kind: sizes S and L, toppings pearls and jelly, drinks of a combo with dishes 5 and 6.
type library struct {
	sizes, toppings, drinks     int64
	small, large, pearls, jelly int64
	firstDrink, secondDrink     int64
}

func newLibrary(t *testing.T, o *catalog.OptionService) (l library) {
	t.Helper()
	group := func(kind catalog.GroupKind, name string) int64 {
		return testenv.Must(o.PutGroup(t.Context(), cook, 0, catalog.OptionGroupEdit{Kind: kind, Names: named(name)}))(t).ID
	}
	option := func(group int64, name string, dish int64) int64 {
		e := catalog.OptionEdit{Names: named(name), DishID: dish}
		return testenv.Must(o.PutOption(t.Context(), cook, group, 0, e))(t).ID
	}
	l.sizes, l.toppings, l.drinks = group(catalog.SizeGroup, "Size"), group(catalog.ChoiceGroup, "Toppings"), group(catalog.ComboGroup, "Drink")
	l.small, l.large = option(l.sizes, "S", 0), option(l.sizes, "L", 0)
	l.pearls, l.jelly = option(l.toppings, "Pearls", 0), option(l.toppings, "Jelly", 0)
	l.firstDrink, l.secondDrink = option(l.drinks, "Beer", 5), option(l.drinks, "Tea", 6)
	return l
}

func problem(item, group int64, code string) catalog.GroupProblem {
	return catalog.GroupProblem{ItemID: item, GroupID: group, Code: code}
}

func problems(all ...catalog.GroupProblem) []catalog.GroupProblem { return all }

func (l library) sizeGroup() catalog.VersionGroup {
	return catalog.VersionGroup{GroupID: l.sizes, Min: 1, Max: new(int64(1)), MaxEach: 1, DefaultsCharge: true, Options: []catalog.VersionOption{
		{OptionID: l.small, Price: 60000, Active: true, Default: true}, {OptionID: l.large, Price: 75000, Active: true},
	}}
}

func (l library) toppingGroup(parent int64) catalog.VersionGroup {
	return catalog.VersionGroup{GroupID: l.toppings, ParentOptionID: parent, MaxEach: 3, DefaultsCharge: true, Options: []catalog.VersionOption{
		{OptionID: l.pearls, Price: 5000, Active: true}, {OptionID: l.jelly, Price: 6000},
	}}
}

func (l library) drinkGroup() catalog.VersionGroup {
	return catalog.VersionGroup{GroupID: l.drinks, Min: 1, Max: new(int64(2)), MaxEach: 2, DefaultsCharge: true, Options: []catalog.VersionOption{
		{OptionID: l.firstDrink, Active: true}, {OptionID: l.secondDrink, Price: 10000, Active: true},
	}}
}

// declaredBy returns the declaration of a dish on menu 1.
func declaredBy(t *testing.T, s *catalogsql.Store, dish int64) catalog.Declaration {
	t.Helper()
	it, _ := content(t, s).Edition.OfDish(dish)
	return it.Declaration
}

// itemOfDish returns the menu item of a dish on menu 1.
func itemOfDish(t *testing.T, s *catalogsql.Store, dish int64) int64 {
	t.Helper()
	it, ok := content(t, s).Edition.OfDish(dish)
	if !ok {
		t.Fatalf("dish %d is not on the menu", dish)
	}
	return it.ID
}

func TestStore_groups_of_a_version(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		o := optionService(s)
		l := newLibrary(t, o)
		v := draft(t, s, 65000)
		line := testenv.Must(o.SetGroups(t.Context(), cook, v.ID, item, []catalog.VersionGroup{
			l.sizeGroup(), l.drinkGroup(), l.toppingGroup(l.secondDrink),
		}))(t)
		if len(line.Groups) != 3 || line.Groups[2].ParentOptionID != l.secondDrink || line.Groups[0].Kind != catalog.SizeGroup {
			t.Fatalf("the line's groups are %+v, want sizes, drinks and toppings of the second drink", line.Groups)
		}
		beer := itemOfDish(t, s, 5)
		preview := testenv.Must(menuEditor(s).Preview(t.Context(), cook, v.ID))(t)
		shown, _ := preview.Item(item)
		testenv.Must(s.Publish(t.Context(), cook, v.ID, now))(t)
		got, _ := content(t, s).Edition.Item(item)
		want := []catalog.OptionGroup{
			{ID: l.sizes, Kind: catalog.SizeGroup, Names: named("Size"), Min: 1, Max: new(int64(1)), MaxEach: 1, DefaultsCharge: true, Options: []catalog.MenuOption{
				{ID: l.small, Names: named("S"), Price: 60000, Default: true}, {ID: l.large, Names: named("L"), Price: 75000},
			}},
			{ID: l.drinks, Kind: catalog.ComboGroup, Names: named("Drink"), Min: 1, Max: new(int64(2)), MaxEach: 2, DefaultsCharge: true, Options: []catalog.MenuOption{
				{ID: l.firstDrink, Names: named("Beer"), DishID: 5, Component: beer, Declaration: declaredBy(t, s, 5)},
				{ID: l.secondDrink, Names: named("Tea"), Price: 10000, DishID: 6, Component: itemOfDish(t, s, 6), Declaration: declaredBy(t, s, 6), Groups: []catalog.OptionGroup{
					{ID: l.toppings, Kind: catalog.ChoiceGroup, Names: named("Toppings"), MaxEach: 3, DefaultsCharge: true, Options: []catalog.MenuOption{
						{ID: l.pearls, Names: named("Pearls"), Price: 5000},
					}},
				}},
			}},
		}
		testenv.Equal(t, want, got.Groups)
		testenv.Equal(t, want, shown.Groups)
		// The next draft starts with them, and what it changes leaves the published version (I13).
		next := testenv.Must(s.Draft(t.Context(), cook, menuID, now))(t)
		_, lines := testenv.Must2(s.Lines(t.Context(), cook, next.ID))(t)
		for _, l := range lines {
			if l.ItemID == item && cmp.Diff(line.Groups, l.Groups) != "" {
				t.Errorf("groups of the next draft (-published +draft):\n%s", cmp.Diff(line.Groups, l.Groups))
			}
		}
		testenv.NoError(t, s.RemoveLine(t.Context(), cook, next.ID, item, now))
		testenv.NoError(t, s.Discard(t.Context(), cook, next.ID, now))
		if again, _ := content(t, s).Edition.Item(item); cmp.Diff(want, again.Groups) != "" {
			t.Errorf("groups after another draft (-want +got):\n%s", cmp.Diff(want, again.Groups))
		}
		if _, err := o.SetGroups(t.Context(), cook, v.ID, item, nil); !errors.Is(err, catalog.ErrNotDraft) {
			t.Errorf("groups of a published version were changed: error %v, want ErrNotDraft", err)
		}
	})
}

func TestStore_Publish_refuses_incomplete_groups(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		o := optionService(s)
		l := newLibrary(t, o)
		v := draft(t, s, 65000)
		beer := itemOfDish(t, s, 5)
		for name, c := range map[string]struct {
			item   int64
			groups func() []catalog.VersionGroup
			want   []catalog.GroupProblem
		}{
			"minimum": {item, func() []catalog.VersionGroup {
				g := l.toppingGroup(0)
				g.Min = 4
				return []catalog.VersionGroup{g}
			}, problems(problem(item, l.toppings, "min_above_active"))},
			"defaults": {item, func() []catalog.VersionGroup {
				g, sizes := l.toppingGroup(0), l.sizeGroup()
				g.Max, g.Options[0].Default, g.Options[1].Default, g.Options[1].Active = new(int64(1)), true, true, false
				sizes.Options[0].Default, sizes.Options[1].Default = true, true
				return []catalog.VersionGroup{g, sizes} // an inactive default is not on phones
			}, problems(problem(item, l.sizes, "defaults_above_max"))},
			"free": {item, func() []catalog.VersionGroup {
				g := l.toppingGroup(0)
				g.Free, g.Credit, g.Options[1].Active = 1, true, true
				return []catalog.VersionGroup{g}
			}, problems(problem(item, l.toppings, "free_unequal_prices"), problem(item, l.toppings, "free_with_credit"))},
			"itself": {beer, func() []catalog.VersionGroup { return []catalog.VersionGroup{l.drinkGroup()} },
				problems(problem(beer, l.drinks, "combo_contains_itself"))},
			"too deep": {item, func() []catalog.VersionGroup {
				return []catalog.VersionGroup{l.sizeGroup(), l.toppingGroup(l.small), func() catalog.VersionGroup {
					g := l.drinkGroup()
					g.ParentOptionID = l.pearls
					return g
				}()}
			}, problems(problem(item, l.drinks, "too_deep"))},
		} {
			t.Run(name, func(t *testing.T) {
				testenv.Must(o.SetGroups(t.Context(), cook, v.ID, c.item, c.groups()))(t)
				_, err := s.Publish(t.Context(), cook, v.ID, now)
				var f *fault.Error
				if !errors.Is(err, catalog.ErrIncomplete) || !errors.As(err, &f) {
					t.Fatalf("Publish: error %v, want ErrIncomplete", err)
				}
				testenv.Equal[any](t, c.want, f.Extra["problems"])
				testenv.Must(o.SetGroups(t.Context(), cook, v.ID, c.item, nil))(t)
			})
		}
		second := testenv.Must(o.PutGroup(t.Context(), cook, 0, catalog.OptionGroupEdit{Kind: catalog.SizeGroup, Names: named("Glass")}))(t)
		glass := testenv.Must(o.PutOption(t.Context(), cook, second.ID, 0, catalog.OptionEdit{Names: named("Pint")}))(t)
		testenv.Must(o.SetGroups(t.Context(), cook, v.ID, item, []catalog.VersionGroup{l.sizeGroup(), {
			GroupID: second.ID, Max: new(int64(1)), MaxEach: 1, Options: []catalog.VersionOption{{OptionID: glass.ID, Active: true}},
		}}))(t)
		_, err := s.Publish(t.Context(), cook, v.ID, now)
		var f *fault.Error
		if want := problems(problem(item, second.ID, "size_twice")); !errors.As(err, &f) || cmp.Diff(want, f.Extra["problems"]) != "" {
			t.Errorf("two sizes: error %v, want size_twice", err)
		}
		// Items that are not sold do not keep the others from being published.
		testenv.NoError(t, s.EditDraft(t.Context(), cook, v.ID, item, catalog.Entry{Price: 65000}, now))
		testenv.Must(s.Publish(t.Context(), cook, v.ID, now))(t)
	})
}

func TestStore_SetGroups_refuses(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		o := optionService(s)
		l := newLibrary(t, o)
		v := draft(t, s, 65000)
		retired := testenv.Must(o.PutOption(t.Context(), cook, l.toppings, 0, catalog.OptionEdit{Names: named("Old")}))(t)
		testenv.NoError(t, o.RetireOption(t.Context(), cook, retired.ID))
		change := func(edit func(g *catalog.VersionGroup)) []catalog.VersionGroup {
			g := l.toppingGroup(0)
			edit(&g)
			return []catalog.VersionGroup{g}
		}
		for name, c := range map[string]struct {
			groups []catalog.VersionGroup
			want   string
		}{
			"a group twice":               {[]catalog.VersionGroup{l.toppingGroup(0), l.toppingGroup(0)}, "invalid"},
			"an option twice":             {change(func(g *catalog.VersionGroup) { g.Options = append(g.Options, g.Options[0]) }), "invalid"},
			"a negative minimum":          {change(func(g *catalog.VersionGroup) { g.Min = -1 }), "invalid"},
			"a maximum below the minimum": {change(func(g *catalog.VersionGroup) { g.Min, g.Max = 2, new(int64(1)) }), "invalid"},
			"maximum 0":                   {change(func(g *catalog.VersionGroup) { g.Max = new(int64(0)) }), "invalid"},
			"none of each":                {change(func(g *catalog.VersionGroup) { g.MaxEach = 0 }), "invalid"},
			"a negative price":            {change(func(g *catalog.VersionGroup) { g.Options[0].Price = -1 }), "invalid"},
			"two sizes of one group":      {[]catalog.VersionGroup{{GroupID: l.sizes, Max: new(int64(2)), MaxEach: 1}}, "invalid"},
			"any number of sizes":         {[]catalog.VersionGroup{{GroupID: l.sizes, MaxEach: 1}}, "invalid"},
			"an unknown group":            {[]catalog.VersionGroup{{GroupID: 999, MaxEach: 1}}, "option_group_not_found"},
			"an unknown option":           {change(func(g *catalog.VersionGroup) { g.Options[0].OptionID = 999 }), "option_unknown"},
			"an option of another group":  {change(func(g *catalog.VersionGroup) { g.Options[0].OptionID = l.small }), "option_unknown"},
			"an unknown parent":           {[]catalog.VersionGroup{l.toppingGroup(l.small)}, "option_unknown"},
			"a retired option": {change(func(g *catalog.VersionGroup) {
				g.Options[0].OptionID = retired.ID
			}), "option_retired"},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := o.SetGroups(t.Context(), cook, v.ID, item, c.groups)
				var f *fault.Error
				if !errors.As(err, &f) || f.PublicCode() != c.want {
					t.Errorf("SetGroups: error %v, want %s", err, c.want)
				}
			})
		}
		_, lines := testenv.Must2(s.Lines(t.Context(), cook, v.ID))(t)
		for _, l := range lines {
			if len(l.Groups) > 0 && l.ItemID != milkTea && l.ItemID != lunchSet {
				t.Errorf("a refused change left groups %v on item %d", l.Groups, l.ItemID)
			}
		}
		_, byOther := o.SetGroups(t.Context(), otherBranchActor, v.ID, item, nil)
		_, missing := o.SetGroups(t.Context(), cook, v.ID, 999, nil)
		if !errors.Is(byOther, catalog.ErrVersion) || !errors.Is(missing, catalog.ErrItem) {
			t.Errorf("by an actor of another branch: %v; for an unknown item: %v; want ErrVersion, ErrItem", byOther, missing)
		}
	})
}

func TestStore_AttachGroup(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		o := optionService(s)
		l := newLibrary(t, o)
		v := draft(t, s, 65000)
		testenv.Must(o.SetGroups(t.Context(), cook, v.ID, item, []catalog.VersionGroup{l.toppingGroup(0), l.sizeGroup()}))(t)
		g := l.toppingGroup(0)
		g.Max = new(int64(5))
		n := testenv.Must(o.Attach(t.Context(), cook, v.ID, []int64{12, item, 12}, g))(t)
		_, lines := testenv.Must2(s.Lines(t.Context(), cook, v.ID))(t)
		got := map[int64][]int64{}
		for _, l := range lines {
			if l.ItemID == milkTea || l.ItemID == lunchSet {
				continue
			}
			for _, g := range l.Groups {
				got[l.ItemID] = append(got[l.ItemID], g.GroupID)
				if g.Max != nil && *g.Max == 5 {
					got[l.ItemID] = append(got[l.ItemID], *g.Max)
				}
			}
		}
		want := map[int64][]int64{item: {l.toppings, 5, l.sizes}, 12: {l.toppings, 5}}
		if d := cmp.Diff(want, got); n != 2 || d != "" {
			t.Errorf("attached to %d items, groups and their maximum (-want +got):\n%s", n, d)
		}
		if _, err := o.Attach(t.Context(), cook, v.ID, []int64{13, 999}, g); !errors.Is(err, catalog.ErrItem) {
			t.Errorf("attached to an unknown item: error %v, want ErrItem", err)
		}
		if _, err := o.Attach(t.Context(), cook, v.ID, nil, g); fault.KindOf(err) != fault.Invalid {
			t.Errorf("attached to no item: error %v, want a refusal", err)
		}
	})
}

func TestStore_library(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		o := optionService(s)
		l := newLibrary(t, o)
		v := draft(t, s, 65000)
		testenv.Must(o.SetGroups(t.Context(), cook, v.ID, item, []catalog.VersionGroup{l.sizeGroup(), l.drinkGroup(), l.toppingGroup(0)}))(t)
		refused := func(want error, err error) {
			t.Helper()
			testenv.ErrorIs(t, want, err)
		}
		refused(catalog.ErrOptionGroupInUse, o.RetireGroup(t.Context(), cook, l.sizes))
		refused(catalog.ErrOptionInUse, o.RetireOption(t.Context(), cook, l.large))
		testenv.Must(s.Publish(t.Context(), cook, v.ID, now))(t)
		refused(catalog.ErrOptionGroupInUse, o.RetireGroup(t.Context(), cook, l.sizes))
		testenv.NoError(t, o.RetireOption(t.Context(), cook, l.jelly)) // inactive there

		before := content(t, s).Revision
		testenv.Must(o.PutOption(t.Context(), cook, 0, l.large, catalog.OptionEdit{Names: named("Large"), ShortName: new("LG")}))(t)
		testenv.Must(o.PutGroup(t.Context(), cook, l.sizes, catalog.OptionGroupEdit{Names: named("Sizes"), Note: new("cups")}))(t)
		after := content(t, s)
		it, _ := after.Edition.Item(item)
		if g := it.Groups[0]; after.Revision <= before || g.Names[catalog.English] != "Sizes" || g.Options[1].ShortName != "LG" {
			t.Errorf("revision %d became %d, group %+v, want new names in a later revision", before, after.Revision, g)
		}
		_, byOther := o.PutGroup(t.Context(), otherBranchActor, l.sizes, catalog.OptionGroupEdit{Names: named("x")})
		refused(catalog.ErrShared, byOther)

		groups, total := testenv.Must2(o.Groups(t.Context(), "SIZES", 10, 0))(t)
		if total != 1 || len(groups) != 1 || groups[0].UsedBy != 1 || groups[0].Note != "cups" || len(groups[0].Options) != 2 {
			t.Errorf("groups named size are %+v, %d, want one that one published dish has", groups, total)
		}
		drinks := testenv.Must(s.OptionGroups(t.Context()))(t)
		for _, g := range drinks {
			if g.ID == l.drinks && (g.Options[0].DishID != 5 || g.Options[1].Sort != 1) {
				t.Errorf("drinks are %+v, want the first to stand for dish 5 and the second in place 1", g.Options)
			}
		}
		// A dish that is part of a combo stays.
		refused(catalog.ErrDishInUse, s.Retire(t.Context(), cook, 5, now))

		_, kind := o.PutGroup(t.Context(), cook, 0, catalog.OptionGroupEdit{Kind: "NONE", Names: named("x")})
		_, nameless := o.PutGroup(t.Context(), cook, 0, catalog.OptionGroupEdit{Kind: catalog.ChoiceGroup})
		_, dish := o.PutOption(t.Context(), cook, l.sizes, 0, catalog.OptionEdit{Names: named("x"), DishID: 5})
		_, noDish := o.PutOption(t.Context(), cook, l.drinks, 0, catalog.OptionEdit{Names: named("x")})
		for name, err := range map[string]error{"an unknown kind": kind, "no name": nameless, "a size of a dish": dish, "a combo without a dish": noDish} {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: error %v, want a refusal as invalid", name, err)
			}
		}
		_, unknownDish := o.PutOption(t.Context(), cook, l.drinks, 0, catalog.OptionEdit{Names: named("x"), DishID: 999})
		refused(catalog.ErrDish, unknownDish)
		_, unknown := o.PutOption(t.Context(), cook, 0, 999, catalog.OptionEdit{})
		refused(catalog.ErrOptionMissing, unknown)
		_, archived := o.PutOption(t.Context(), cook, 0, l.jelly, catalog.OptionEdit{Names: named("x")})
		refused(catalog.ErrOptionRetired, archived)

		spare := testenv.Must(o.PutGroup(t.Context(), cook, 0, catalog.OptionGroupEdit{Kind: catalog.ChoiceGroup, Names: named("Spare")}))(t)
		testenv.NoError(t, o.RetireGroup(t.Context(), cook, spare.ID))
		refused(catalog.ErrOptionGroup, o.RetireGroup(t.Context(), cook, spare.ID))
		if again, _ := testenv.Must2(o.Groups(t.Context(), "spare", 10, 0))(t); len(again) != 0 {
			t.Errorf("a retired group is listed: %+v", again)
		}
	})
}

func TestStore_options_off(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		l := newLibrary(t, optionService(s))
		until := testenv.Must(catalog.ParseUntil(now.Add(time.Hour).Format(time.RFC3339)))(t)
		before := content(t, s)
		off := testenv.Must(s.AddUnavailableOption(t.Context(), cook, branchID, l.pearls, until, now))(t)
		if !off.Until.Equal(now.Add(time.Hour)) || !off.Since.Equal(now) || off.By != cook.String() {
			t.Errorf("taken off as %+v, want for an hour by %s", off, cook)
		}
		after := content(t, s)
		if d := cmp.Diff([]int64{l.pearls}, after.OffOptions); d != "" || after.Revision <= before.Revision {
			t.Errorf("revision %d became %d, options off (-want +got):\n%s", before.Revision, after.Revision, d)
		}
		later := testenv.Must(s.AddUnavailableOption(t.Context(), authz.System(), branchID, l.pearls, catalog.Until{}, now.Add(time.Minute)))(t)
		if !later.Since.Equal(now) {
			t.Errorf("taken off again since %v, want the first time", later.Since)
		}
		testenv.Must(s.AddUnavailableOption(t.Context(), cook, branchID, l.pearls, until, now))(t)
		if branches, err := s.RestoreDueOptions(t.Context(), now.Add(time.Hour-time.Millisecond)); err != nil || branches != nil {
			t.Errorf("restored %v, %v before the end", branches, err)
		}
		testenv.Equal(t, []int64{branchID}, testenv.Must(s.RestoreDueOptions(t.Context(), now.Add(time.Hour)))(t))
		testenv.Must(s.AddUnavailableOption(t.Context(), cook, branchID, l.pearls, catalog.Until{}, now))(t)
		testenv.NoError(t, s.RestoreOption(t.Context(), cook, branchID, l.pearls, now))
		testenv.NoError(t, s.RestoreOption(t.Context(), cook, branchID, l.pearls, now))
		if got := content(t, s).OffOptions; len(got) != 0 {
			t.Errorf("options %v are off, want none", got)
		}
		_, foreign := s.AddUnavailableOption(t.Context(), otherBranchActor, branchID, l.pearls, catalog.Until{}, now)
		_, unknown := s.AddUnavailableOption(t.Context(), cook, branchID, 999, catalog.Until{}, now)
		if !errors.Is(foreign, catalog.ErrBranch) || !errors.Is(unknown, catalog.ErrOptionMissing) {
			t.Errorf("in a foreign branch: %v; an unknown option: %v; want ErrBranch, ErrOptionMissing", foreign, unknown)
		}
	})
}

// A copy of a branch's menu has its options, and its combos take the dishes of the copy.
func TestMenuFiles_copy_options(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		clock := func() time.Time { return now }
		menus := catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock)
		files := &catalog.MenuFiles{Store: s, Menus: menus, Now: clock}
		admin := &catalog.BranchAdmin{Store: s, Menus: menus, Now: clock}
		b := testenv.Must(admin.Copy(t.Context(), authz.System(), files, catalog.BranchCopy{From: branchID, Name: "Phố Huế", ClientTxnID: "1"}))(t)
		original, copied := content(t, s).Edition, testenv.Must(s.Content(t.Context(), b.ID))(t).Edition
		for _, dish := range []int64{29, 30} { // the demo's milk tea and lunch set
			from, _ := original.OfDish(dish)
			to, ok := copied.OfDish(dish)
			if !ok || len(to.Groups) == 0 {
				t.Fatalf("dish %d has groups %v in the copy, %t, want those of the original", dish, to.Groups, ok)
			}
			for i := range from.Groups {
				for j := range from.Groups[i].Options {
					o, c := &from.Groups[i].Options[j], &to.Groups[i].Options[j]
					if o.Component != 0 {
						item, _ := copied.OfDish(o.DishID)
						o.Component = item.ID
					}
					if d := cmp.Diff(o, c); d != "" {
						t.Errorf("option %d of dish %d in the copy (-want +got):\n%s", o.ID, dish, d)
					}
				}
			}
		}
	})
}
