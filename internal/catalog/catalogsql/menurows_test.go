package catalogsql_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

func written(t testing.TB, s *catalogsql.Store, branch int64, w catalog.MenuRows) catalog.MenuRowsResult {
	t.Helper()
	return testenv.Must(menuFiles(s).WriteRows(t.Context(), authz.System(), branch, w))(t)
}

// newRow is a dish that is on no menu.
func newRow(category int64) catalog.MenuRow {
	quota := int64(4)
	return catalog.MenuRow{
		CategoryID: &category, Names: catalog.Texts{"vi": "Phở trăng", "en": "Moon pho"}, Price: 99_000, Quota: &quota,
	}
}

func TestMenuRows_new_dish_with_price_in_one_step(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		w := catalog.MenuRows{Rows: []catalog.MenuRow{newRow(1)}}
		first := written(t, s, branch, w)
		if first.Created != 1 || first.VersionID == 0 {
			t.Fatalf("WriteRows = %+v, want one created in a draft", first)
		}
		if again := written(t, s, branch, w); again.Created+again.Updated != 0 || again.VersionID != first.VersionID {
			t.Errorf("the same request again: %+v", again)
		}
		if _, err := s.Content(t.Context(), branch); !errors.Is(err, catalog.ErrMenu) {
			t.Errorf("published without being asked to: error %v, want ErrMenu", err)
		}
		w.Publish = true
		written(t, s, branch, w)
		c, err := s.Content(t.Context(), branch)
		if err != nil || len(c.Edition.Items) != 1 || c.Edition.Items[0].Price != 99_000 || c.Quotas[c.Edition.Items[0].ID] != 4 {
			t.Fatalf("Content = %+v, %v, want one item for 99000 with quota 4", c, err)
		}
		if again := written(t, s, branch, w); again != (catalog.MenuRowsResult{}) {
			t.Errorf("a repetition after the publication: %+v", again)
		}
		// The published version never changes: the next price goes to a new draft (I13).
		next := catalog.MenuRow{DishID: c.Edition.Items[0].DishID, Price: 1_000}
		if r := written(t, s, branch, catalog.MenuRows{Rows: []catalog.MenuRow{next}}); r.Updated != 1 || r.VersionID == first.VersionID {
			t.Errorf("WriteRows = %+v, want one updated in a new draft", r)
		}
		if got := contentOf(t, s, branch); got.Edition.Items[0].Price != 99_000 {
			t.Errorf("published items = %+v, want the price 99000", got.Edition.Items)
		}
	})
}

func contentOf(t testing.TB, s *catalogsql.Store, branch int64) catalog.Content {
	t.Helper()
	return testenv.Must(s.Content(t.Context(), branch))(t)
}

func TestMenuRows_changes_prices_names_and_categories(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		pho, chicken := itemNamed(t, state(t, s, branchID), "Phở bò"), itemNamed(t, state(t, s, branchID), "Phở gà")
		other := state(t, s, branchID).Categories[1].ID
		r := written(t, s, branchID, catalog.MenuRows{Rows: []catalog.MenuRow{
			{DishID: pho.DishID, Price: 70_000, Quota: pho.Quota},
			{DishID: chicken.DishID, Price: chicken.Price, Quota: chicken.Quota, CategoryID: &other, Names: catalog.Texts{"en": "Hen pho"}},
		}})
		if r.Updated != 2 {
			t.Fatalf("WriteRows = %+v, want two updated", r)
		}
		st := state(t, s, branchID)
		if it := itemNamed(t, st, "Phở bò"); st.DraftID != r.VersionID || it.Price != 70_000 || it.Active != pho.Active {
			t.Errorf("Phở bò = %+v, want 70000 in the draft", it)
		}
		for _, it := range st.Items {
			if it.DishID == chicken.DishID && (it.CategoryID != other || it.Names["en"] != "Hen pho" || it.Price != chicken.Price) {
				t.Errorf("moved dish = %+v, want Hen pho in the other category at its price", it)
			}
		}
		for action, want := range map[string]int{audit.ActionMenuEdited: 1, audit.ActionDishEdited: 1, audit.ActionMenuImported: 0} {
			entries, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{
				Action: action, EveryBranch: true, To: now.AddDate(1, 0, 0), Limit: 10,
			})
			if err != nil || len(entries) != want {
				t.Errorf("audit entries of %s = %v, %v, want %d", action, entries, err, want)
			}
			if action == audit.ActionMenuEdited {
				wantPriceChange(t, entries[0], pho.Price, 70_000)
			}
		}
	})
}

func TestMenuRows_keep_concurrent_changes(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		pho, chicken := itemNamed(t, state(t, s, branchID), "Phở bò"), itemNamed(t, state(t, s, branchID), "Phở gà")
		stateOf := func(it catalog.MenuItemState) *catalog.RowState {
			return &catalog.RowState{CategoryID: it.CategoryID, Names: it.Names, Price: it.Price, Quota: it.Quota}
		}
		row := func(it catalog.MenuItemState, price int64) catalog.MenuRow {
			return catalog.MenuRow{DishID: it.DishID, Price: price, Quota: it.Quota, Before: stateOf(it)}
		}
		written(t, s, branchID, catalog.MenuRows{Rows: []catalog.MenuRow{row(pho, 70_000)}})
		draft := state(t, s, branchID).DraftID
		before := state(t, s, branchID)
		second := catalog.MenuRows{VersionID: draft, Rows: []catalog.MenuRow{row(chicken, 61_000), row(pho, 80_000)}}
		_, err := menuFiles(s).WriteRows(t.Context(), authz.System(), branchID, second)
		testenv.ErrorIs(t, catalog.ErrRowsChanged, err)
		changed := []catalog.ChangedRow{}
		if f, ok := errors.AsType[*fault.Error](err); ok {
			changed, _ = f.Extra["dishes"].([]catalog.ChangedRow)
		}
		if len(changed) != 1 || changed[0].DishID != pho.DishID || changed[0].Price != 70_000 {
			t.Errorf("changed rows = %+v, want Phở bò for 70000", changed)
		}
		if d := cmp.Diff(before, state(t, s, branchID), importedFields); d != "" {
			t.Errorf("content after a refused change (-before +after):\n%s", d)
		}
		// Values that are stored already are not a conflict, so a request whose response was lost can be repeated.
		second.Rows[1] = row(pho, 70_000)
		testenv.Equal(t, 1, written(t, s, branchID, second).Updated)
	})
}

func TestMenuRows_refuse_invalid_rows(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		testenv.Must(menuFiles(s).Copy(t.Context(), authz.System(), catalog.MenuRef{BranchID: branchID}, branch, publish))(t)
		pho := itemNamed(t, state(t, s, branchID), "Phở bò")
		d, _, err := s.PutDish(t.Context(), authz.System(), 0, now, func(catalog.Dish) (catalog.Dish, error) {
			return catalog.Dish{CategoryID: 1, Names: catalog.Texts{"en": "Old"}}, nil
		})
		if err == nil {
			err = s.Retire(t.Context(), authz.System(), d.ID, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		live := contentOf(t, s, branchID).Edition.VersionID
		otherVersion := written(t, s, branch, catalog.MenuRows{Rows: []catalog.MenuRow{newRow(1)}}).VersionID
		before := state(t, s, branchID)
		unknown, bad := int64(999), "nothing"
		one := func(r catalog.MenuRow) catalog.MenuRows { return catalog.MenuRows{Rows: []catalog.MenuRow{r}} }
		renamed := catalog.MenuRow{DishID: pho.DishID, Price: pho.Price, Names: catalog.Texts{"en": "x"}}
		withImage := newRow(1)
		withImage.Image = &bad
		for name, c := range map[string]struct {
			by   authz.Actor
			w    catalog.MenuRows
			want error // nil: any invalid-input error
		}{
			"another branch":        {otherBranchActor, one(newRow(1)), catalog.ErrBranch},
			"a dish of two":         {cook, one(renamed), catalog.ErrShared},
			"unknown category":      {cook, one(newRow(unknown)), catalog.ErrCategory},
			"unknown picture":       {cook, one(withImage), catalog.ErrImageUnknown},
			"unknown dish":          {cook, one(catalog.MenuRow{DishID: unknown, Price: 1}), catalog.ErrDish},
			"texts of another menu": {cook, one(catalog.MenuRow{DishID: d.ID, Names: catalog.Texts{"en": "x"}}), catalog.ErrItem},
			"retired":               {cook, one(catalog.MenuRow{DishID: d.ID, Price: 1}), catalog.ErrDishRetired},
			"published version":     {cook, catalog.MenuRows{VersionID: live, Rows: one(newRow(1)).Rows}, catalog.ErrNotDraft},
			"a draft elsewhere":     {cook, catalog.MenuRows{VersionID: otherVersion, Rows: one(newRow(1)).Rows}, catalog.ErrVersion},
			"negative price":        {cook, one(catalog.MenuRow{DishID: pho.DishID, Price: -1}), nil},
			"twice":                 {cook, catalog.MenuRows{Rows: []catalog.MenuRow{{DishID: 4}, {DishID: 4}}}, nil},
			"nothing":               {cook, catalog.MenuRows{}, nil},
			"too many":              {cook, catalog.MenuRows{Rows: make([]catalog.MenuRow, catalog.MaxMenuRows+1)}, nil},
		} {
			_, err := menuFiles(s).WriteRows(t.Context(), c.by, branchID, c.w)
			if c.want == nil {
				if fault.KindOf(err) != fault.Invalid {
					t.Errorf("WriteRows with %s: error %v, want Invalid", name, err)
				}
			} else if !errors.Is(err, c.want) {
				t.Errorf("WriteRows with %s: error %v, want %v", name, err, c.want)
			}
		}
		testenv.Equal(t, before, state(t, s, branchID), importedFields)
	})
}

func TestMenuRows_500_dishes(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch, w := emptyBranch(t, db), catalog.MenuRows{Publish: true}
		for i := range catalog.MaxMenuRows {
			r := newRow(1)
			r.Names = catalog.Texts{"en": fmt.Sprintf("Dish %d", i)}
			w.Rows = append(w.Rows, r)
		}
		testenv.Equal(t, catalog.MaxMenuRows, written(t, s, branch, w).Created)
		testenv.Equal(t, catalog.MaxMenuRows, len(contentOf(t, s, branch).Edition.Items))
	})
}

// wantPriceChange checks that an audit entry names the dish and has its price before and after.
func wantPriceChange(t testing.TB, e audit.Entry, from, to int64) {
	t.Helper()
	var before, after struct {
		Names catalog.Texts
		Price int64
	}
	if errors.Join(json.Unmarshal([]byte(e.Before), &before), json.Unmarshal([]byte(e.After), &after)) != nil ||
		before.Price != from || after.Price != to || after.Names["en"] == "" || before.Names["en"] != after.Names["en"] {
		t.Errorf("the audit log has %s and %s", e.Before, e.After)
	}
}

func TestEditDraft_audits_the_price_before_and_after(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		v := draft(t, s, 71_000)
		testenv.NoError(t, s.EditDraft(t.Context(), authz.System(), v.ID, item, catalog.Entry{Price: 72_000, Active: true},
			now))
		entries, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{
			Action: audit.ActionMenuEdited, EveryBranch: true, To: now.AddDate(1, 0, 0), Limit: 1,
		})
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		wantPriceChange(t, entries[0], 71_000, 72_000)
	})
}
