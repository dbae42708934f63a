package catalogsql_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// lunchMenu publishes a second menu of branch 1, with the dish of item 11 for less and dish 7.
func lunchMenu(t *testing.T, s *catalogsql.Store, dishes ...int64) catalog.Menu {
	t.Helper()
	m := testenv.Must(s.AddMenu(t.Context(), cook, catalog.Menu{BranchID: branchID, Name: "Lunch"}, now))(t)
	v := testenv.Must(s.Draft(t.Context(), cook, m.ID, now))(t)
	for _, dish := range dishes {
		testenv.Must(s.AddLine(t.Context(), cook, v.ID, dish, catalog.Entry{Price: 50000, Active: true}, now))(t)
	}
	m.Published = testenv.Must(s.Publish(t.Context(), cook, v.ID, now))(t).ID
	return m
}

func TestStore_menus_together(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		before := content(t, s)
		dish, _ := before.Edition.Item(item)
		lunch := lunchMenu(t, s, dish.DishID)
		hours := catalog.MenuSchedule{
			Weekly:   map[catalog.Weekday][]catalog.Period{"thu": {{From: "11:00", To: "14:00"}}},
			FromDate: "2026-02-01", ThroughDate: "2026-03-31", Kinds: []catalog.OrderKind{catalog.DineIn}, Priority: 0,
		}
		set, err := s.SetSchedule(t.Context(), cook, lunch.ID, hours, now)
		if err != nil || set.BranchID != branchID || !cmp.Equal(set.Schedule, hours) {
			t.Fatalf("SetSchedule = %+v, %v", set, err)
		}
		after := content(t, s)
		want := []catalog.PublishedMenu{
			{MenuID: lunch.ID, VersionID: lunch.Published, Schedule: hours}, {MenuID: menuID, VersionID: versionID},
		}
		if d := cmp.Diff(want, after.Menus); d != "" || after.Revision <= before.Revision {
			t.Errorf("revision %d after %d; menus (-want +got):\n%s", after.Revision, before.Revision, d)
		}
		if got := len(after.Edition.Items); got != len(before.Edition.Items)+1 || !catalog.IsCombination(after.Edition.VersionID) {
			t.Errorf("%d items of version %d, want %d", got, after.Edition.VersionID, len(before.Edition.Items)+1)
		}

		// It is Thursday noon in Hà Nội: lunch is offered at the table, and its dish costs less there.
		cache := catalog.NewMenuCache(s, catalog.NoSharedCache{}, func() time.Time { return now })
		active := testenv.Must(cache.Active(t.Context(), branchID))(t)
		served := func(kind catalog.OrderKind) (prices []int64) {
			for _, it := range active.Items {
				if it.DishID == dish.DishID && it.Offered(kind) {
					prices = append(prices, it.Price)
				}
			}
			return prices
		}
		testenv.Equal(t, []int64{50000}, served(catalog.DineIn))
		testenv.Equal(t, []int64{65000}, served(catalog.PickUp))
		// Another process has not seen the combination, and finds it by its id.
		again := testenv.Must(s.Edition(t.Context(), active.VersionID))(t)
		testenv.Equal(t, active.Edition, again, cmp.AllowUnexported(catalog.Edition{}))
		// A single version keeps its own version.
		if plain := testenv.Must(s.Edition(t.Context(), versionID))(t); plain.VersionID != versionID || plain.Items[0].Version != 0 {
			t.Errorf("version %d, items of %d", plain.VersionID, plain.Items[0].Version)
		}
		if _, err := s.Edition(t.Context(), active.VersionID+1); !errors.Is(err, catalog.ErrVersion) {
			t.Errorf("an unknown combination: %v", err)
		}

		// A second publication of lunch closes its first one only.
		v := testenv.Must(s.Draft(t.Context(), cook, lunch.ID, now))(t)
		testenv.Must(s.Publish(t.Context(), cook, v.ID, now))(t)
		if got := content(t, s).Menus; len(got) != 2 || got[0].VersionID != v.ID || got[1].VersionID != versionID {
			t.Errorf("menus after the second publication: %+v", got)
		}
		withdrawn, err := s.Withdraw(t.Context(), cook, lunch.ID, now)
		if err != nil || withdrawn.Published != 0 {
			t.Errorf("Withdraw = %+v, %v", withdrawn, err)
		}
		if _, err := s.Withdraw(t.Context(), cook, lunch.ID, now); err != nil {
			t.Errorf("withdrawn twice: %v", err)
		}
		rest := content(t, s)
		testenv.Equal(t, before.Edition, rest.Edition, cmp.AllowUnexported(catalog.Edition{}))
		testenv.Must(s.Withdraw(t.Context(), cook, menuID, now))(t)
		testenv.ErrorIs(t, catalog.ErrMenu, testenv.Err(s.Content(t.Context(), branchID)), "without a menu")
	})
}

// auditTrail returns the newest entries of the audit log, newest first.
func auditTrail(t *testing.T, db *sqldb.DB) []audit.Entry {
	t.Helper()
	all, _ := testenv.Must2(auditsql.NewLog(db).Entries(t.Context(), audit.Filter{To: now.Add(time.Hour), Limit: 50, EveryBranch: true}))(t)
	return all
}

// The kitchen takes a dish off all menus at once, also those that are not in force.
func TestStore_TakeOff_on_all_menus(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		dish, _ := content(t, s).Edition.Item(item)
		lunchMenu(t, s, dish.DishID)
		other := int64(0)
		for _, it := range content(t, s).Edition.Items {
			if it.DishID == dish.DishID && it.ID != item {
				other = it.ID
			}
		}
		testenv.Must2(s.TakeOff(t.Context(), cook, other, catalog.Until{DayEnd: true}, now))(t)
		off := testenv.Must(s.OffItems(t.Context(), branchID))(t)
		if len(off) != 2 || off[item].Until.IsZero() || !off[item].Until.Equal(off[other].Until) {
			t.Errorf("off are %+v, want items %d and %d with one end", off, item, other)
		}
		testenv.Must(s.Restore(t.Context(), cook, item, now))(t)
		if off = testenv.Must(s.OffItems(t.Context(), branchID))(t); len(off) != 0 {
			t.Errorf("off are %+v after one was restored", off)
		}
		testenv.Must2(s.TakeOff(t.Context(), cook, item, catalog.Until{At: now.Add(time.Hour)}, now))(t)
		branches := testenv.Must(s.RestoreDue(t.Context(), now.Add(2*time.Hour)))(t)
		if off = testenv.Must(s.OffItems(t.Context(), branchID))(t); len(off) != 0 || len(branches) != 1 {
			t.Errorf("off are %+v, restored in %v", off, branches)
		}
	})
}

// A dish that is off stays off on a menu that gets it meanwhile, until it is restored on all menus.
func TestStore_TakeOff_on_later_menus(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		dish, _ := content(t, s).Edition.Item(item)
		_, off, err := s.TakeOff(t.Context(), cook, item, catalog.Until{DayEnd: true}, now)
		testenv.NoError(t, err)
		lunchMenu(t, s, dish.DishID)
		c := content(t, s)
		if len(c.Off) != 2 || c.Off[0] != item {
			t.Fatalf("off are %v, want item %d and that of the later menu", c.Off, item)
		}
		later := c.Off[1]
		off.Item = later
		testenv.Equal(t, off, testenv.Must(s.OffItems(t.Context(), branchID))(t)[later])
		scope := stock.Scope{Branch: branchID, Date: "2026-02-26"}
		hold := stock.Hold{Scope: scope, Lines: []stock.Line{{Item: later, Qty: 1}}}
		testenv.NoError(t, stocksql.NewCounters(db).Ensure(t.Context(), hold)) // as an order does
		testenv.Equal(t, int64(0), capOf(t, db, scope, later))

		testenv.Must(s.RestoreDue(t.Context(), off.Until))(t)
		if c := content(t, s); len(c.Off) != 0 {
			t.Errorf("off are %v after the end", c.Off)
		}
	})
}

// A copied combo brings an item of its dish to the menu. It is off if the dish is off in the branch.
func TestMenuFiles_copy_of_a_combo_with_a_dish_that_is_off(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		l := newLibrary(t, optionService(s))
		v := draft(t, s, 65000)
		testenv.Must(optionService(s).SetGroups(t.Context(), cook, v.ID, item, []catalog.VersionGroup{l.drinkGroup()}))(t)
		testenv.NoError(t, s.RemoveLine(t.Context(), cook, v.ID, itemOfDish(t, s, 5), now)) // the combo keeps it
		testenv.Must(s.Publish(t.Context(), cook, v.ID, now))(t)

		by, branch := authz.System(), emptyBranch(t, db)
		var taken int64
		for _, dish := range []int64{7, 5} { // the first menu receives the copy
			m := testenv.Must(s.AddMenu(t.Context(), by, catalog.Menu{BranchID: branch, Name: "Menu"}, now))(t)
			v := testenv.Must(s.Draft(t.Context(), by, m.ID, now))(t)
			taken = testenv.Must(s.AddLine(t.Context(), by, v.ID, dish, catalog.Entry{Price: 50000, Active: true}, now))(t).ItemID
			testenv.Must(s.Publish(t.Context(), by, v.ID, now))(t)
		}
		testenv.Must2(s.TakeOff(t.Context(), by, taken, catalog.Until{}, now))(t)
		testenv.Must(menuFiles(s).Copy(t.Context(), by, catalog.MenuRef{BranchID: branchID}, branch, publish))(t)
		if off := testenv.Must(s.OffItems(t.Context(), branch))(t); len(off) != 2 {
			t.Errorf("off are %+v, want item %d and that of the copied combo", off, taken)
		}
	})
}

func TestStore_SetSchedule_refuses(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		before, entries := content(t, s), len(auditTrail(t, db))
		_, wrong := s.SetSchedule(t.Context(), cook, menuID, catalog.MenuSchedule{FromDate: "2026-13-01"}, now)
		_, foreign := s.SetSchedule(t.Context(), otherBranchActor, menuID, catalog.MenuSchedule{Priority: 1}, now)
		_, missing := s.SetSchedule(t.Context(), cook, 999, catalog.MenuSchedule{}, now)
		_, withdrawn := s.Withdraw(t.Context(), otherBranchActor, menuID, now)
		if wrong == nil || !errors.Is(foreign, catalog.ErrMenu) || !errors.Is(missing, catalog.ErrMenu) || !errors.Is(withdrawn, catalog.ErrMenu) {
			t.Errorf("a wrong date: %v; another branch: %v and %v; no menu: %v", wrong, foreign, withdrawn, missing)
		}
		if _, err := s.SetSchedule(t.Context(), cook, menuID, catalog.MenuSchedule{}, now); err != nil {
			t.Errorf("the same schedule: %v", err)
		}
		testenv.Equal(t, before, content(t, s), cmp.AllowUnexported(catalog.Edition{}))
		if got := len(auditTrail(t, db)); got != entries {
			t.Errorf("%d entries in the audit log, want %d", got, entries)
		}
		testenv.Must(s.SetSchedule(t.Context(), cook, menuID, catalog.MenuSchedule{Priority: 1}, now))(t)
		if trail := auditTrail(t, db); len(trail) != entries+1 || trail[0].Action != audit.ActionMenuScheduled {
			t.Errorf("audit log %+v", trail)
		}
	})
}
