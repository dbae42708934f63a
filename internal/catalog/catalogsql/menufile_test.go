package catalogsql_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/demo"
	"comanda/internal/fault"
	"comanda/internal/menufile"
	"comanda/internal/money"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// menuFiles imports menus whose pictures are already ids.
func menuFiles(s *catalogsql.Store) *catalog.MenuFiles {
	clock := func() time.Time { return now }
	return &catalog.MenuFiles{
		Store: s, Menus: catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock), Now: clock,
		Resize: func(_ context.Context, raw []byte) (catalog.Image, error) {
			if len(raw) != 1 {
				return catalog.Image{}, fault.New(fault.Invalid, "image_unreadable", "no picture")
			}
			return catalog.Image{
				ID: strings.Repeat(string(raw), 32), Sizes: map[int][]byte{catalog.Thumb: raw, catalog.Large: raw},
			}, nil
		},
	}
}

var publish = catalog.ImportOptions{Publish: true}

// mustImport imports a file that must have no problems, and returns the numbers of created and updated dishes.
func mustImport(t testing.TB, s *catalogsql.Store, by authz.Actor, branch int64, file string, o catalog.ImportOptions) [2]int {
	t.Helper()
	r, err := menuFiles(s).Import(t.Context(), by, branch, []byte(file), o)
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(r, err)
	}
	return [2]int{r.Created, r.Updated}
}

func state(t testing.TB, s *catalogsql.Store, branch int64) catalog.MenuState {
	t.Helper()
	return testenv.Must(s.MenuState(t.Context(), authz.System(), branch, 0))(t)
}

// itemNamed returns an item of a menu by its Vietnamese or first name.
func itemNamed(t testing.TB, st catalog.MenuState, name string) catalog.MenuItemState {
	t.Helper()
	for _, it := range st.Items {
		if it.Names[st.Branch.Locales[0]] == name {
			return it
		}
	}
	t.Fatalf("no item %q", name)
	return catalog.MenuItemState{}
}

// emptyBranch creates branch 4, in Hà Nội, without a menu.
func emptyBranch(t testing.TB, db *sqldb.DB) int64 {
	t.Helper()
	q := sqldb.Load(fstest.MapFS{"branch.sql": {Data: []byte(`-- name: branch_add
INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
VALUES (4, 'Quán Hoa', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi","en"]', 120, 0)`)}})
	testenv.Must(db.Exec(t.Context(), q.Must("branch_add")))(t)
	return 4
}

func sixty() string {
	var b strings.Builder
	b.WriteString("key,category,name,description,price,quota,image,category:en,name:en,description:en\n")
	for i := range 60 {
		fmt.Fprintf(&b, "k%d,Nhóm %d,Món %d,,%d.000,%s,,Group %d,Dish %d,Tasty %d\n", i, i%5, i, i+10, strings.Repeat("7", i%2), i%5, i, i)
	}
	return b.String()
}

func TestMenuFiles_first_menu_of_a_branch(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		dry := mustImport(t, s, authz.System(), branch, sixty(), catalog.ImportOptions{DryRun: true, Publish: true})
		if dry != [2]int{60, 0} || state(t, s, branch).MenuID != 0 {
			t.Fatalf("dry run = %v, menu %d, want [60 0] and no menu", dry, state(t, s, branch).MenuID)
		}
		if got := mustImport(t, s, authz.System(), branch, sixty(), catalog.ImportOptions{}); got != [2]int{60, 0} {
			t.Errorf("import = %v created and updated, want [60 0]", got)
		}
		if _, err := s.Content(t.Context(), branch); !errors.Is(err, catalog.ErrMenu) {
			t.Errorf("published without being asked to: error %v, want ErrMenu", err)
		}
		if got := mustImport(t, s, authz.System(), branch, sixty(), publish); got != [2]int{0, 0} {
			t.Errorf("the same file again = %v, want no change", got)
		}
		c, err := s.Content(t.Context(), branch)
		if err != nil || len(c.Edition.Items) != 60 || len(c.Edition.Categories) != 5 || len(c.Quotas) != 30 {
			t.Fatalf("%d items, %d categories, %d quotas, %v, want 60, 5, 30", len(c.Edition.Items), len(c.Edition.Categories), len(c.Quotas), err)
		}
		first := c.Edition.Items[0]
		want := catalog.Item{
			ID: first.ID, DishID: first.DishID, CategoryID: first.CategoryID, Price: 10_000, Active: true,
			Names:        catalog.Texts{"vi": "Món 0", "en": "Dish 0"},
			Descriptions: catalog.Texts{"en": "Tasty 0"},
		}
		testenv.Equal(t, want, first)
		entries, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{
			Action: audit.ActionMenuImported, EveryBranch: true, To: now.AddDate(1, 0, 0), Limit: 10,
		})
		if err != nil || len(entries) != 1 || entries[0].Branch != branch {
			t.Errorf("audit log = %v, %v, want one entry of the branch", entries, err)
		}
	})
}

func TestMenuFiles_dry_run_lists_changed_dishes_first(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		dry := func(file string) catalog.MenuImportResult {
			t.Helper()
			return testenv.Must(menuFiles(s).Import(t.Context(), authz.System(), branch, []byte(file), catalog.ImportOptions{DryRun: true}))(t)
		}
		all := dry(sixty())
		if len(all.Rows) != catalog.MaxPreviewRows || all.TotalRows != 60 || all.Rows[0].Change != catalog.RowCreated || all.Rows[0].PreviousPrice != nil {
			t.Fatalf("%d of %d rows, %+v", len(all.Rows), all.TotalRows, all.Rows[0])
		}
		mustImport(t, s, authz.System(), branch, sixty(), publish)
		// The last dish of the file is more expensive; a new dish follows it.
		got := dry(strings.Replace(sixty(), ",69.000,", ",70.000,", 1) + "new,Nhóm 1,Món mới,,5.000,,,,New dish,\n")
		want := []catalog.PreviewRow{
			{
				Key: "k59", Name: catalog.Texts{"vi": "Món 59", "en": "Dish 59"}, Category: catalog.Texts{"vi": "Nhóm 4", "en": "Group 4"},
				Price: 70_000, PreviousPrice: new(int64(69_000)), Change: catalog.RowUpdated,
			},
			{
				Key: "new", Name: catalog.Texts{"vi": "Món mới", "en": "New dish"}, Category: catalog.Texts{"vi": "Nhóm 1", "en": "Group 1"},
				Price: 5_000, Change: catalog.RowCreated,
			},
		}
		testenv.Equal(t, want, got.Rows[:2])
		if third := got.Rows[2]; got.TotalRows != 61 || third.Key != "k0" || third.Change != catalog.RowUnchanged || *third.PreviousPrice != third.Price {
			t.Errorf("%d rows, the third is %+v", got.TotalRows, third)
		}
		// A copy lists the dishes of the other menu.
		copied, err := menuFiles(s).Copy(t.Context(), authz.System(), catalog.MenuRef{BranchID: branch}, 1, catalog.ImportOptions{DryRun: true})
		if err != nil || copied.TotalRows != 60 || len(copied.Rows) != catalog.MaxPreviewRows || copied.Rows[0].Change != catalog.RowCreated {
			t.Errorf("copy: %+v, %v", copied, err)
		}
	})
}

// Imports of one branch at the same time apply one after the other, each to the menu that the one before has left: a file that
// arrives twice creates its dishes once.
func TestMenuFiles_imports_are_serialized(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		const imports = 4
		var group sync.WaitGroup
		results := make([]catalog.MenuImportResult, imports)
		for i := range results {
			files := menuFiles(s) // as of another process
			group.Go(func() {
				r, err := files.Import(t.Context(), authz.System(), branch, []byte(sixty()), publish)
				if results[i] = r; err != nil || len(r.Problems) > 0 {
					t.Error(r, err)
				}
			})
		}
		group.Wait()
		created, updated := 0, 0
		for _, r := range results {
			created, updated = created+r.Created, updated+r.Updated
		}
		if created != 60 || updated != 0 {
			t.Errorf("%d dishes created and %d updated, want 60 once", created, updated)
		}
		testenv.Equal(t, 60, len(state(t, s, branch).Items))
	})
}

func TestMenuFiles_updates_by_key(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		mustImport(t, s, authz.System(), branch, sixty(), publish)
		before := itemNamed(t, state(t, s, branch), "Món 3")
		file := "key,category,category:en,name,name:en,price,quota\nk3,Nhóm mới,New,Món ba,-,99k,\nk4,nhóm 4,,Món 4,,14k,-\nnew,Nhóm 1,,Món 61,,1k,5\n"
		if got := mustImport(t, s, authz.System(), branch, file, catalog.ImportOptions{}); got != [2]int{1, 1} {
			t.Errorf("import = %v created and updated, want [1 1]", got)
		}
		now := itemNamed(t, state(t, s, branch), "Món ba")
		want := before
		want.CategoryID, want.Names, want.Price = now.CategoryID, catalog.Texts{"vi": "Món ba"}, 99_000
		if d := cmp.Diff(want, now); d != "" || now.CategoryID == before.CategoryID {
			t.Error(d)
		}
		c, err := s.Content(t.Context(), branch)
		if it, ok := c.Edition.Item(before.ItemID); err != nil || !ok || it.Price != before.Price || len(c.Edition.Items) != 60 {
			t.Errorf("item of the published version = %v, %v, want its price from before", it, err)
		}
		mustImport(t, s, authz.System(), branch, file, publish)
		if c, err = s.Content(t.Context(), branch); err != nil || len(c.Edition.Items) != 61 {
			t.Errorf("%d items, %v, want 61", len(c.Edition.Items), err)
		}
	})
}

func TestMenuFiles_quotas_reach_the_counters(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, demo.Load(t.Context(), db))
		var calls caps
		s := catalogsql.New(db, calls.hook)
		file := "category,name,price,quota\nPhở,Phở bò,65k,33\n"
		if got := mustImport(t, s, cook, branchID, file, catalog.ImportOptions{}); got != [2]int{0, 1} {
			t.Fatal(got)
		}
		calls.want(t)
		mustImport(t, s, cook, branchID, file, publish)
		calls.want(t, "11=33")
		testenv.Equal(t, 33, content(t, s).Quotas[item])
	})
}

func TestMenuFiles_writes_all_or_nothing(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, demo.Load(t.Context(), db))
		broken := errors.New("broken")
		s := catalogsql.New(db, func(context.Context, sqldb.Tx, int64, int64, *int64) error { return broken })
		before, content0 := state(t, s, branchID), content(t, s)
		files := menuFiles(s)
		// The quota fails when the draft is published, after everything else was written.
		_, err := files.Import(t.Context(), cook, branchID, []byte("category,name,price,quota\nMới,Món mới,1k,\nPhở,Phở bò,1k,3\n"), publish)
		testenv.ErrorIs(t, broken, err)
		r, err := files.Import(t.Context(), cook, branchID, []byte("category,name,price\nMới,Món mới,1k\nPhở,Phở bò,x\n"), publish)
		want := []menufile.CellProblem{{Row: 3, Column: "price", Code: menufile.PriceUnreadable, Message: `"x": This is not a price.`}}
		if d := cmp.Diff(want, r.Problems); d != "" || err != nil || r.Created+r.Updated != 0 {
			t.Errorf("problems (-want +got):\n%s, error %v", d, err)
		}
		testenv.Equal(t, before, state(t, s, branchID), importedFields)
		testenv.Equal(t, content0, content(t, s), importedFields)
	})
}

func TestMenuFiles_belong_to_their_branch(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		files := menuFiles(s)
		_, in := files.Import(t.Context(), otherBranchActor, branchID, []byte(sixty()), publish)
		_, out := files.Export(t.Context(), otherBranchActor, branchID, 0, menufile.CSV)
		_, none := files.Export(t.Context(), authz.System(), 99, 0, menufile.CSV)
		_, from := files.Copy(t.Context(), otherBranchActor, catalog.MenuRef{BranchID: branchID}, branchID+1, publish)
		_, to := files.Copy(t.Context(), cook, catalog.MenuRef{BranchID: branchID}, branchID+1, publish)
		_, template := files.Template(t.Context(), otherBranchActor, branchID, menufile.CSV)
		for name, err := range map[string]error{"import": in, "export": out, "unknown": none, "copy from": from, "template": template} {
			if !errors.Is(err, catalog.ErrBranch) {
				t.Errorf("%s in another branch: error %v, want ErrBranch", name, err)
			}
		}
		testenv.ErrorIs(t, catalog.ErrBranch, to, "copy to")
		// Branch 4 shows dish 4 of branch 1 from now on.
		branch := emptyBranch(t, db)
		testenv.Must(files.Copy(t.Context(), authz.System(), catalog.MenuRef{BranchID: branchID}, branch, publish))(t)
		r, err := files.Import(t.Context(), cook, branchID, []byte("category,category:en,name,name:en,price\nPhở,Noodle soup,Phở bò,Other,65k\n"), publish)
		got := make([]string, len(r.Problems))
		for i, p := range r.Problems {
			got[i] = fmt.Sprint(p.Row, p.Column, p.Code)
		}
		if d := cmp.Diff([]string{"2categoryshared_with_others", "2nameshared_with_others"}, got); d != "" || err != nil {
			t.Errorf("problems (-want +got):\n%s, error %v", d, err)
		}
		// Prices are the branch's own.
		if got := mustImport(t, s, cook, branchID, "category,name,price\nPhở,Phở bò,66k\n", publish); got != [2]int{0, 1} {
			t.Errorf("import = %v created and updated, want [0 1]", got)
		}
		if it := itemNamed(t, state(t, s, branch), "Phở bò"); it.Price != 65_000 || it.DishID != 4 {
			t.Errorf("Phở bò = %+v, want dish 4 for 65000", it)
		}
	})
}

func TestMenuFiles_copy(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		files, branch := menuFiles(s), emptyBranch(t, db)
		if _, err := files.Copy(t.Context(), authz.System(), catalog.MenuRef{BranchID: branchID}, branchID+1, publish); !errors.Is(err, catalog.ErrCurrencies) {
			t.Errorf("between currencies: error %v, want ErrCurrencies", err)
		}
		n := len(content(t, s).Edition.Items)
		for _, want := range [][2]int{{n, 0}, {0, 0}} {
			r, err := files.Copy(t.Context(), authz.System(), catalog.MenuRef{BranchID: branchID}, branch, publish)
			if err != nil || [2]int{r.Created, r.Updated} != want {
				t.Fatal(r, err)
			}
		}
		c, err := s.Content(t.Context(), branch)
		if err != nil || len(c.Edition.Items) != n || c.Edition.Items[0].DishID != content(t, s).Edition.Items[0].DishID {
			t.Errorf("copied menu = %v, %v, want %d items with the dishes of branch 1", c.Edition, err, n)
		}
		if got := exported(t, s, branch, menufile.CSV); !strings.Contains(got, "Phở bò") {
			t.Error(got)
		}
		entries, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{
			Action: audit.ActionMenuImported, EveryBranch: true, To: now.AddDate(1, 0, 0), Limit: 10,
		})
		if err != nil || len(entries) == 0 {
			t.Fatalf("audit log = %v, %v, want an entry of the copy", entries, err)
		}
		var note struct{ Source, SourceBranch, TargetBranch string }
		testenv.NoError(t, json.Unmarshal([]byte(entries[0].After), &note))
		if want := testenv.Must(s.Branch(t.Context(), branchID))(t).Name; note.Source != "branch 1" || note.SourceBranch != want || note.TargetBranch != "Quán Hoa" {
			t.Errorf("audit log = %+v, want from %s to Quán Hoa", note, want)
		}
	})
}

// A branch has several menus (decision 61): imports, exports and copies take any of them, and leave the others alone.
func TestMenuFiles_of_one_menu_of_several(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		files, by, branch := menuFiles(s), authz.System(), emptyBranch(t, db)
		lunch := lunchMenu(t, s, 4)
		of := func(branch, menu int64) string {
			t.Helper()
			return string(testenv.Must(files.Export(t.Context(), by, branch, menu, menufile.CSV))(t))
		}
		first := of(branchID, 0)
		testenv.Equal(t, first, of(branchID, menuID))
		file := of(branchID, lunch.ID)
		if !strings.Contains(file, "Phở bò") || strings.Count(file, "\n") != 2 {
			t.Fatalf("the lunch menu as a file is %s, want one dish", file)
		}

		cheaper := strings.Replace(file, "50000", "45000", 1)
		for _, o := range []catalog.ImportOptions{{MenuID: lunch.ID, DryRun: true}, {MenuID: lunch.ID, Publish: true}} {
			if got := mustImport(t, s, by, branchID, cheaper, o); got != [2]int{0, 1} {
				t.Errorf("import with %+v = %v created and updated, want [0 1]", o, got)
			}
		}
		testenv.Equal(t, cheaper, of(branchID, lunch.ID))
		testenv.Equal(t, first, of(branchID, 0))

		// The menu is copied to the second one of another branch, whose first one keeps its dishes.
		mustImport(t, s, by, branch, "category,name,price\nMới,Món mới,1k\n", publish)
		before := of(branch, 0)
		evening := testenv.Must(s.AddMenu(t.Context(), by, catalog.Menu{BranchID: branch, Name: "Evening"}, now))(t)
		from := catalog.MenuRef{BranchID: branchID, MenuID: lunch.ID}
		for _, o := range []catalog.ImportOptions{{MenuID: evening.ID, DryRun: true}, {MenuID: evening.ID, Publish: true}} {
			r := testenv.Must(files.Copy(t.Context(), by, from, branch, o))(t)
			testenv.Equal(t, [2]int{1, 0}, [2]int{r.Created, r.Updated})
		}
		if got := of(branch, evening.ID); !strings.Contains(got, "45000") || strings.Count(got, "\n") != 2 {
			t.Errorf("the copied menu as a file is %s, want one dish for 45000", got)
		}
		testenv.Equal(t, before, of(branch, 0))

		// A menu of another branch is none of this one.
		_, in := files.Import(t.Context(), by, branch, []byte(file), catalog.ImportOptions{MenuID: lunch.ID})
		_, out := files.Export(t.Context(), by, branch, lunch.ID, menufile.CSV)
		_, to := files.Copy(t.Context(), by, from, branch, catalog.ImportOptions{MenuID: lunch.ID})
		_, source := files.Copy(t.Context(), by, catalog.MenuRef{BranchID: branch, MenuID: lunch.ID}, branchID, publish)
		for name, err := range map[string]error{"import": in, "export": out, "copy to": to, "copy from": source} {
			if !errors.Is(err, catalog.ErrMenu) {
				t.Errorf("%s: error %v, want ErrMenu", name, err)
			}
		}
	})
}

// A copy of a branch has the original's published menu, not its drafts. A menu that was never published is not
// published in the copy either.
func TestBranchAdmin_Copy_drafts(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		files, unpublished, by := menuFiles(s), emptyBranch(t, db), authz.System()
		admin := catalog.BranchAdmin{Store: s, Menus: files.Menus, Now: files.Now}
		copyOf := func(branch int64, name string) int64 {
			t.Helper()
			b := testenv.Must(admin.Copy(t.Context(), by, files, catalog.BranchCopy{From: branch, Name: name}))(t)
			return b.ID
		}
		before := content(t, s).Edition.Items
		v := testenv.Must(s.Draft(t.Context(), by, state(t, s, branchID).MenuID, now))(t)
		dear := catalog.Entry{Price: 999_000, Active: true}
		testenv.NoError(t, s.EditDraft(t.Context(), by, v.ID, before[0].ID, dear, now))
		branch := copyOf(branchID, "Quán Hoa 2")
		testenv.Equal(t, 0, state(t, s, branch).DraftID)
		c, err := s.Content(t.Context(), branch)
		if err != nil || len(c.Edition.Items) != len(before) {
			t.Fatalf("menu = %+v, %v, want the %d items from before", c.Edition, err, len(before))
		}
		for i, it := range c.Edition.Items {
			if it.DishID != before[i].DishID || it.Price != before[i].Price {
				t.Errorf("%+v, want %+v", it, before[i])
			}
		}
		testenv.Equal(t, v.ID, state(t, s, branchID).DraftID)

		mustImport(t, s, by, unpublished, sixty(), catalog.ImportOptions{})
		branch = copyOf(unpublished, "Quán Hoa 3")
		st := state(t, s, branch)
		if c, err := s.Content(t.Context(), branch); st.DraftID == 0 || len(st.Items) != 60 || err == nil && len(c.Edition.Items) > 0 {
			t.Errorf("draft %d of %d dishes, in force %+v, %v, want a draft of 60 and nothing in force", st.DraftID, len(st.Items), c.Edition, err)
		}
	})
}

// A copy of a branch has all its published menus, with their names and schedules. A repeated request creates none twice.
func TestBranchAdmin_Copy_menus(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		files, by := menuFiles(s), authz.System()
		admin := catalog.BranchAdmin{Store: s, Menus: files.Menus, Now: files.Now}
		lunch := lunchMenu(t, s, 4)
		hours := catalog.MenuSchedule{
			Weekly: map[catalog.Weekday][]catalog.Period{"thu": {{From: "11:00", To: "14:00"}}},
			Kinds:  []catalog.OrderKind{catalog.DineIn}, Priority: 2,
		}
		testenv.Must(s.SetSchedule(t.Context(), by, lunch.ID, hours, now))(t)
		testenv.Must(s.AddMenu(t.Context(), by, catalog.Menu{BranchID: branchID, Name: "Later"}, now))(t)
		menusOf := func(branch int64) (all []catalog.Menu) {
			for _, m := range testenv.Must(s.MenusOf(t.Context(), branch))(t) {
				if m.Published != 0 {
					all = append(all, catalog.Menu{Name: m.Name, Schedule: m.Schedule})
				}
			}
			return all
		}
		for range 2 {
			b := testenv.Must(admin.Copy(t.Context(), by, files, catalog.BranchCopy{From: branchID, Name: "Quán Hoa 2", ClientTxnID: "k"}))(t)
			testenv.Equal(t, menusOf(branchID), menusOf(b.ID))
			served := func(branch int64) (all []string) {
				for _, it := range testenv.Must(s.Content(t.Context(), branch))(t).Edition.Items {
					all = append(all, fmt.Sprint(it.DishID, it.Price))
				}
				return all
			}
			testenv.Equal(t, served(branchID), served(b.ID))
		}
	})
}

func TestMenuFiles_pictures(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		file := "category,name,price,image\nPhở,Phở bò,65k,a.jpg\nPhở,Phở gà,60k,a.jpg\nMới,Món mới,1k,b.jpg\n"
		raw := archive(t, map[string]string{"menu.csv": file, "a.jpg": "a", "b.jpg": "b"})
		if got := mustImport(t, s, authz.System(), branchID, raw, publish); got != [2]int{1, 2} {
			t.Fatal(got)
		}
		a, b := strings.Repeat("a", 32), strings.Repeat("b", 32)
		for name, want := range map[string]string{"Phở bò": a, "Phở gà": a, "Món mới": b} {
			if got := itemNamed(t, state(t, s, branchID), name).ImageURL; got != catalog.ImageURL(want) {
				t.Errorf("image of %s = %s, want %s", name, got, catalog.ImageURL(want))
			}
		}
		if _, found, err := s.Image(t.Context(), b, catalog.Large); err != nil || !found {
			t.Error(found, err)
		}
		if got := mustImport(t, s, authz.System(), branchID, raw, publish); got != [2]int{0, 0} {
			t.Errorf("the same file again = %v, want no change", got)
		}
		file = "category,name,price,image\nPhở,Phở bò,65k,-\nPhở,Phở gà,60k," + catalog.ImageURL(b) + "\n"
		if got := mustImport(t, s, authz.System(), branchID, file, publish); got != [2]int{0, 2} {
			t.Errorf("import of a stored image and of none = %v, want two updated", got)
		}
		for image, want := range map[string]menufile.ProblemCode{
			"x.jpg": menufile.ImageUnreadable, catalog.ImageURL(strings.Repeat("c", 32)): menufile.ImageMissing,
			"https://example.org/x.jpg": menufile.ImageMissing,
		} {
			raw := archive(t, map[string]string{"menu.csv": "category,name,price,image\nPhở,Phở bò,65k," + image + "\n", "x.jpg": "torn"})
			r, err := menuFiles(s).Import(t.Context(), authz.System(), branchID, []byte(raw), publish)
			if err != nil || len(r.Problems) != 1 || r.Problems[0].Code != want || r.Problems[0].Row != 2 {
				t.Errorf("import of image %s = %v, %v, want problem %s in row 2", image, r, err, want)
			}
		}
		// A picture that cannot be read is tried once, and reported for each row that names it.
		files, tries := menuFiles(s), 0
		resize := files.Resize
		files.Resize = func(ctx context.Context, raw []byte) (catalog.Image, error) {
			tries++
			return resize(ctx, raw)
		}
		raw = archive(t, map[string]string{
			"menu.csv": "category,name,price,image\nPhở,Một,65k,x.jpg\nPhở,Hai,60k,x.jpg\n", "x.jpg": "torn",
		})
		r, err := files.Import(t.Context(), authz.System(), branchID, []byte(raw), publish)
		if err != nil || len(r.Problems) != 2 || tries != 1 {
			t.Errorf("import of a torn picture in two rows = %v, %v after %d tries, want two problems after one", r, err, tries)
		}
	})
}

// An archived dish is not restored; its key is assigned to the new one.
func TestMenuFiles_retired_dishes(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		mustImport(t, s, authz.System(), branch, "key,category,name,price\na,Phở,Một,1k\nb,Phở,Hai,2k\n", publish)
		before := itemNamed(t, state(t, s, branch), "Một")
		v, err := s.Draft(t.Context(), authz.System(), state(t, s, branch).MenuID, now)
		if err == nil {
			err = s.RemoveLine(t.Context(), authz.System(), v.ID, before.ItemID, now)
		}
		if err == nil {
			_, err = s.Publish(t.Context(), authz.System(), v.ID, now)
		}
		if err == nil {
			err = s.Retire(t.Context(), authz.System(), before.DishID, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := mustImport(t, s, authz.System(), branch, "key,category,name,price\na,Phở,Một,1k\n", publish); got != [2]int{1, 0} {
			t.Errorf("import = %v created and updated, want [1 0]", got)
		}
		if it := itemNamed(t, state(t, s, branch), "Một"); it.DishID == before.DishID || it.ImportKey != "a" {
			t.Errorf("Một = %+v, want a new dish with key a", it)
		}
	})
}

// A file of one menu of a branch shares its dishes when it is imported to another menu of the branch. A row whose key is on
// no dish is the dish with its name in its category; a dish of another branch, or of another category, is another one.
func TestMenuFiles_dishes_of_other_menus(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		mustImport(t, s, authz.System(), branch, "key,category,name,description,price\n1,Trà,Trà sữa,Ngọt,30k\n2,Trà,Trà đào,,35k\n3,Bánh,Bánh mì,,20k\n", publish)
		first := state(t, s, branch)
		second := testenv.Must(s.AddMenu(t.Context(), authz.System(), catalog.Menu{BranchID: branch, Name: "Mang đi"}, now))(t).ID
		to := catalog.ImportOptions{MenuID: second, Publish: true}
		dry := to
		dry.DryRun = true
		onSecond := func() catalog.MenuState {
			t.Helper()
			return testenv.Must(s.MenuState(t.Context(), authz.System(), branch, second))(t)
		}
		want := func(name string, file string, o catalog.ImportOptions, counts [2]int) {
			t.Helper()
			if got := mustImport(t, s, authz.System(), branch, file, o); got != counts {
				t.Errorf("%s: %v created and updated, want %v", name, got, counts)
			}
		}
		file := exported(t, s, branch, menufile.CSV)
		want("dry run of an export", file, dry, [2]int{3, 0})
		want("export to the second menu", file, to, [2]int{3, 0})
		want("the same again", file, to, [2]int{0, 0})
		for i, it := range onSecond().Items {
			if at := first.Items[i]; it.DishID != at.DishID || it.ItemID == at.ItemID || it.Price != at.Price || it.ImportKey != at.ImportKey {
				t.Errorf("item %d of the second menu = %+v, want dish, price and key of %+v", i, it, at)
			}
		}

		// Other keys, or none.
		want("without keys", "category,name,price\nTRÀ,trà sữa,31k\n", to, [2]int{0, 1})
		want("other keys", "key,category,name,price\nx,Trà,Trà sữa,31k\ny,Trà,Trà đào,36k\n", to, [2]int{0, 1})
		want("two of one name", "key,category,name,price\n1,Trà,Trà sữa,31k\nz,Trà,Trà sữa,50k\n", to, [2]int{1, 0})
		want("another category", "key,category,name,price\nw,Bánh,Trà đào,36k\n", to, [2]int{1, 0})
		if got := len(onSecond().Items); got != 5 {
			t.Errorf("%d dishes on the second menu, want 5", got)
		}
		// A key of another menu does not rename its dish, and neither does another spelling.
		third := testenv.Must(s.AddMenu(t.Context(), authz.System(), catalog.Menu{BranchID: branch, Name: "Trưa"}, now))(t).ID
		want("other dishes with the same keys", "key,category,name,price\n1,Trà,Trà chanh,15k\n", catalog.ImportOptions{MenuID: third}, [2]int{1, 0})
		want("another spelling", "category,name,price\nTRÀ,TRÀ SỮA,31k\n", catalog.ImportOptions{MenuID: third}, [2]int{1, 0})
		if it := itemNamed(t, state(t, s, branch), "Trà sữa"); it.DishID != first.Items[0].DishID {
			t.Errorf("Trà sữa on the first menu = %+v, want dish %d", it, first.Items[0].DishID)
		}
		// A changed text belongs to the dish, so both menus show it.
		want("a description", "category,name,description,price\nTrà,Trà đào,Chua,36k\n", to, [2]int{0, 1})
		if it := itemNamed(t, state(t, s, branch), "Trà đào"); it.Descriptions.In(catalog.Vietnamese) != "Chua" || it.Price != 35_000 {
			t.Errorf("Trà đào on the first menu = %+v, want the new description at the old price", it)
		}

		// Another branch has its own dishes.
		before := content(t, s).Edition.Items
		want("dishes of another branch", "category,name,price\nPhở,Phở bò,65k\n", publish, [2]int{1, 0})
		if it := itemNamed(t, state(t, s, branch), "Phở bò"); slices.ContainsFunc(before, func(o catalog.Item) bool { return o.DishID == it.DishID }) {
			t.Errorf("Phở bò = %+v, want a dish of its own", it)
		}
	})
}

func exported(t testing.TB, s *catalogsql.Store, branch int64, f menufile.Format) string {
	t.Helper()
	raw := testenv.Must(menuFiles(s).Export(t.Context(), authz.System(), branch, 0, f))(t)
	return string(raw)
}

// Importing an export changes nothing: neither the demo's menus nor any that were imported.
func TestMenuFiles_round_trip(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		unchanged := func(t testing.TB, branch int64) {
			t.Helper()
			for _, f := range []menufile.Format{menufile.CSV, menufile.XLSX} {
				before := state(t, s, branch)
				if got := mustImport(t, s, authz.System(), branch, exported(t, s, branch, f), catalog.ImportOptions{}); got != [2]int{} {
					t.Fatalf("import of an exported %s file = %v created and updated, want [0 0]", f, got)
				}
				after := state(t, s, branch)
				for i := range before.Items { // the first import stores keys
					before.Items[i].ImportKey = after.Items[i].ImportKey
				}
				before.Branch.Revision = after.Branch.Revision
				testenv.Equal(t, before, after, importedFields)
			}
		}
		unchanged(t, branchID)
		unchanged(t, branchID+1)
		branch := emptyBranch(t, db)
		o := menufile.Options{Currency: money.VND, Locales: []string{"vi", "en"}}
		menus := rapid.Custom(func(r *rapid.T) []menufile.DishRow {
			var rows []menufile.DishRow
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "=c", "-", "Phở", "9"}), 1, 4, rapid.ID[string]).Draw(r, "keys") {
				name := rapid.SampledFrom([]string{"Phở", "=1+1", "-", "'x", "Bún, chả", "a\"b"})
				group := rapid.SampledFrom([]string{"Một", "Hai", "+3"}).Draw(r, "category")
				row := menufile.DishRow{
					Key: key, Category: map[string]string{"vi": group, "en": group + " en"},
					Name: map[string]string{"vi": name.Draw(r, "name")}, Description: map[string]string{"en": name.Draw(r, "description")},
					Price: rapid.Int64Range(0, menufile.MaxPrice).Draw(r, "price"),
				}
				if rapid.Bool().Draw(r, "quota") {
					row.Quota = menufile.QuotaCell{Given: true, Units: new(rapid.Int64Range(0, 9).Draw(r, "units"))}
				}
				row.TaxClass = rapid.SampledFrom([]string{"", "FOOD", "ALCOHOL"}).Draw(r, "tax class")
				row.Allergens = rapid.SampledFrom([]menufile.AllergensCell{
					{}, {Given: true, Declared: true}, {Given: true, Declared: true, Contains: []string{"AN"}, MayContain: []string{"AW", "NL"}},
				}).Draw(r, "allergens")
				row.Diets = rapid.SampledFrom([]menufile.DietsCell{{}, {Given: true, Codes: []string{"VEGAN"}}}).Draw(r, "diets")
				rows = append(rows, row)
			}
			return rows
		})
		// Each file changes the menu of the one before.
		for n := range testenv.Size(6, 300) {
			raw := testenv.Must(menufile.Write(menufile.XLSX, o, menus.Example(n)))(t)
			mustImport(t, s, authz.System(), branch, string(raw), catalog.ImportOptions{Publish: n%3 > 0})
			if got := mustImport(t, s, authz.System(), branch, string(raw), catalog.ImportOptions{}); got != [2]int{} {
				t.Fatalf("file %d again = %v, want no change", n, got)
			}
			unchanged(t, branch)
		}
	})
}

func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	testenv.NoError(t, z.Close())
	return out.String()
}

// importedFields compares an edition's fields, and of branches only those that an import could change.
var importedFields = cmp.Options{
	cmp.AllowUnexported(catalog.Edition{}),
	cmp.Comparer(func(a, b catalog.Branch) bool { return a.ID == b.ID && a.Revision == b.Revision }),
}

// A file creates the groups and options that the library lacks, and sets those of dishes. What it does not name stays.
func TestMenuFiles_options(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		branch := emptyBranch(t, db)
		before := len(testenv.Must(s.OptionGroups(t.Context()))(t))
		const head = "key,category,name,price,options\n"
		size, toppings := `Khổ (size): M = 45k; L = 55k *`, `Thêm (0-2): Trân châu = 8k; Pudding = 10k`
		file := head + "tea,Trà,Trà sữa,45k," + size + " | " + toppings + "\nmatcha,Trà,Matcha,50k,Thêm: Trân châu = 9k\n"
		if got := mustImport(t, s, authz.System(), branch, file, publish); got != [2]int{2, 0} {
			t.Fatalf("import = %v, want 2 created", got)
		}
		prices := func(name string) (all []int64) {
			t.Helper()
			c := contentOf(t, s, branch)
			for _, it := range c.Edition.Items {
				for _, g := range it.Groups {
					for _, o := range g.Options {
						if it.Names["vi"] == name {
							all = append(all, o.Price)
						}
					}
				}
			}
			return all
		}
		testenv.Equal(t, []int64{45000, 55000, 8000, 10000}, prices("Trà sữa"))
		testenv.Equal(t, []int64{9000}, prices("Matcha"))
		library := testenv.Must(s.OptionGroups(t.Context()))(t)
		testenv.Equal(t, before+2, len(library))
		again := func(what, file string, want [2]int) {
			t.Helper()
			if got := mustImport(t, s, authz.System(), branch, file, publish); got != want {
				t.Errorf("%s: import = %v, want %v", what, got, want)
			}
		}
		again("the same file", file, [2]int{0, 0})
		again("a file without options", "key,category,name,price\ntea,Trà,Trà sữa,45k\n", [2]int{0, 0})
		again("another price", strings.Replace(file, "L = 55k *", "L = 56k *", 1), [2]int{0, 1})
		testenv.Equal(t, []int64{45000, 56000, 8000, 10000}, prices("Trà sữa"))
		again("one more option", head+"matcha,Trà,Matcha,50k,Thêm: trân châu = 9k; Thạch\n", [2]int{0, 1})
		testenv.Equal(t, []int64{9000, 0}, prices("Matcha"))
		again("no options", head+"matcha,Trà,Matcha,50k,-\n", [2]int{0, 1})
		if left := prices("Matcha"); len(left) != 0 {
			t.Errorf("options %v are left", left)
		}
		if now := testenv.Must(s.OptionGroups(t.Context()))(t); len(now) != len(library) || len(now[len(now)-1].Options) != 3 {
			t.Errorf("%d groups in the library, %+v last", len(now), now[len(now)-1])
		}

		// The export of the demo has combos and options of options, and an import of it changes nothing.
		export := testenv.Must(menuFiles(s).Export(t.Context(), cook, branchID, 0, menufile.CSV))(t)
		if got := mustImport(t, s, cook, branchID, string(export), catalog.ImportOptions{}); got != [2]int{} {
			t.Errorf("import of an export = %v", got)
		}
		for text, want := range map[string]menufile.ProblemCode{
			"Món chính (combo): Phở bò = 1k": menufile.OptionsFixed, "A (3): B": menufile.OptionsWrong,
			"A (size): M = 1k | B (size): L = 2k": menufile.OptionsWrong, "A (1, free 1): B = 1k; C = 2k": menufile.OptionsWrong,
			"A (0-1): B *; C *": menufile.OptionsWrong, "A (each 21): B": menufile.OptionsWrong,
			"A": menufile.OptionsUnreadable,
		} {
			r, err := menuFiles(s).Import(t.Context(), authz.System(), branch, []byte(head+`tea,Trà,Trà sữa,45k,"`+text+"\"\n"), publish)
			if err != nil || len(r.Problems) != 1 || r.Problems[0].Code != want || r.Problems[0].Column != "options" {
				t.Errorf("%q: %+v, %v, want %s", text, r.Problems, err, want)
			} else if strings.Contains(r.Problems[0].Message, "invalid") {
				t.Errorf("%q: message %q has the code of a problem of the API", text, r.Problems[0].Message)
			}
		}
		testenv.Equal(t, []int64{45000, 56000, 8000, 10000}, prices("Trà sữa"))
	})
}
