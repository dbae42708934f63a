package demo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/menufile"
	"comanda/internal/money"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/visit"
	"comanda/internal/visit/visitsql"
)

func TestRestaurant_is_sound(t *testing.T) {
	r := testenv.Must(read())(t)
	if len(r.branches) != 3 || len(r.dishes) != 42 || len(r.tables) != 18 {
		t.Errorf("%d branches, %d dishes, %d tables, want 3, 42, 18", len(r.branches), len(r.dishes), len(r.tables))
	}
	for _, b := range r.branches {
		if _, err := catalog.NewBranch(catalog.Branch{
			Name: b.Name, Currency: b.Currency, Timezone: b.Timezone, DayStart: b.DayStart, Locales: b.Locales,
			AutoClose: time.Duration(b.AutoCloseMinutes) * time.Minute,
		}); err != nil {
			t.Errorf("branch %s: %v", b.Name, err)
		}
		// The branch has what a new branch in its country starts with.
		p, ok := b.Country.Profile()
		if !ok || p.Currency != b.Currency || !slices.Contains(p.Timezones, b.Timezone) {
			t.Errorf("branch %s: country %q with %+v, want its currency and time zone", b.Name, b.Country, p)
		}
		classes := []string{catalog.ClassFood, catalog.ClassSoftDrink, catalog.ClassAlcohol, catalog.ClassPackaging}
		if b.Pricing == nil {
			continue
		}
		testenv.NoError(t, b.Pricing.Check(classes))
		for _, d := range r.dishes {
			if d.branch.ID == b.ID && !b.Pricing.Taxes(d.TaxClass) {
				t.Errorf("%v has no tax rate", d.Names)
			}
		}
	}
	if len(r.stock) != 10 || len(r.recipes) != 8 {
		t.Errorf("%d stock items, %d lines of recipes, want 10 and 8", len(r.stock), len(r.recipes))
	}
	for _, th := range r.stock {
		if err := (stock.Item{SKU: th.SKU, Name: th.Name, Unit: th.Unit, LowAt: th.LowAt}).Validate(); err != nil || th.Available <= th.LowAt {
			t.Errorf("stock item %s: %d units, %v, want more than its threshold", th.SKU, th.Available, err)
		}
	}
	for _, l := range r.recipes {
		if l.item == 0 || l.qty < 1 {
			t.Errorf("a dish takes %d of stock item %d, want at least 1 of an item", l.qty, l.item)
		}
	}
	complete := func(what string, texts catalog.Texts, limit int, b branch) {
		if err := texts.Check(what, limit); err != nil || !slices.Equal(texts.Locales(), slices.Sorted(slices.Values(b.Locales))) {
			t.Errorf("%s %v, %v, want a text in each of %v", what, texts, err, b.Locales)
		}
	}
	for _, b := range r.branches {
		for _, c := range b.Categories {
			complete("category", c.Names, catalog.MaxName, b)
		}
		for _, g := range b.OptionGroups {
			complete("group", g.Names, catalog.MaxName, b)
			for _, o := range g.Options {
				complete("option", o.Names, catalog.MaxName, b)
			}
		}
	}
	for _, d := range r.dishes {
		complete("dish", d.Names, catalog.MaxName, d.branch)
		complete("dish", d.Descriptions, catalog.MaxDescription, d.branch)
		if err := (catalog.Entry{Price: d.Price, Quota: d.Quota}).Check(); err != nil || d.Price == 0 {
			t.Errorf("%s: price %d, %v, want a valid one above 0", d.Names[catalog.English], d.Price, err)
		}
	}
}

// content contains all rows of the demo in a database.
type content struct {
	Branches  []string
	Countries []catalog.Country
	Menus     []catalog.Content
	Tables    []visit.Table
	Stock     []stock.Level
	Recipes   []map[int64][]stock.Line
}

func contentOf(t *testing.T, db *sqldb.DB) content {
	t.Helper()
	var c content
	store, book := catalogsql.New(db, nil), stocksql.New(db)
	branches := testenv.Must(store.Branches(t.Context()))(t)
	for _, b := range branches {
		menu := testenv.Must(store.Content(t.Context(), b.ID))(t)
		c.Branches, c.Countries, c.Menus = append(c.Branches, b.Name), append(c.Countries, b.Country), append(c.Menus, menu)
		levels, _ := testenv.Must2(book.Levels(t.Context(), stock.LevelFilter{Branch: b.ID, Limit: 100}))(t)
		recipes := testenv.Must(book.Recipes(t.Context(), b.ID))(t)
		c.Stock, c.Recipes = append(c.Stock, levels...), append(c.Recipes, recipes)
	}
	c.Tables = testenv.Must(visitsql.New(db).Tables(t.Context(), 0))(t)
	return c
}

var inside = cmp.AllowUnexported(catalog.Edition{})

func TestLoad(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, Load(t.Context(), db))
		first := contentOf(t, db)
		pho, ok := first.Menus[0].Edition.Item(11)
		if !ok || pho.Price != 65000 || pho.Names[catalog.Vietnamese] != "Phở bò" || pho.DishID != 4 {
			t.Errorf("item 11 = %v, want Phở bò for 65000", pho)
		}
		testenv.Equal(t, 20, first.Menus[0].Quotas[11])
		if got := first.Tables[2]; got.ID != 3 || got.Label != "A3" || len(got.QR) != 22 ||
			got.Place == nil || *got.Place != (visit.PlanCell{Column: 4}) || got.Shape != visit.ShapeRound {
			t.Errorf("third table = %v, want a round A3 with a code in column 4", got)
		}
		if len(first.Stock) != 10 || first.Stock[0].SKU != "bia-hanoi" || first.Stock[0].Available != 480 || len(first.Recipes[0]) != 2 {
			t.Errorf("stock %v, recipes %v, want 10 items and two lines of the first dish", first.Stock, first.Recipes)
		}
		testenv.Equal(t, []catalog.Country{"VN", "TW", "DE"}, first.Countries)
		if drift, err := stocksql.New(db).Drift(t.Context(), "2000-01-01"); err != nil || len(drift) != 0 {
			t.Errorf("Drift = %v, %v, want none", drift, err)
		}
		testenv.NoError(t, Load(t.Context(), db))
		if d := cmp.Diff(first, contentOf(t, db), inside); d != "" {
			t.Errorf("content after a second load (-first +second):\n%s", d)
		}
	})
}

func TestLoad_keeps_edited_rows(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, Load(t.Context(), db))
		now := db.Now()
		store := catalogsql.New(db, nil)
		draft, err := store.Draft(t.Context(), authz.System(), 1, now) // also proves that ids continue after the fixed ones
		if err != nil {
			t.Fatal(err)
		}
		testenv.NoError(t, store.EditDraft(t.Context(), authz.System(), draft.ID, 11,
			catalog.Entry{Price: 70000, Active: true}, now))
		testenv.Must(store.Publish(t.Context(), authz.System(), draft.ID, now))(t)
		testenv.Must2(visitsql.New(db).RotateQR(t.Context(), authz.System(), 3, visit.NewQRToken(), now))(t)
		edited := contentOf(t, db)
		testenv.NoError(t, Load(t.Context(), db))
		if d := cmp.Diff(edited, contentOf(t, db), inside); d != "" {
			t.Errorf("content after a second load (-edited +loaded):\n%s", d)
		}
	})
}

// The demo of an earlier release had two branches. It stays as it is, even if a branch was added that has the id of the
// demo's third one.
func TestLoad_keeps_an_earlier_demo(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := testenv.Must(read())(t)
		r.branches = r.branches[:firstBranches]
		insert := func() { testenv.Must(db.Exec(t.Context(), stmt("branch_insert"), r.branchRows(), 0))(t) }
		for range 2 {
			insert()
			testenv.NoError(t, Load(t.Context(), db))
			all := testenv.Must(catalogsql.New(db, nil).Branches(t.Context()))(t)
			if len(all) != len(r.branches) {
				t.Fatalf("%d branches, want %d", len(all), len(r.branches))
			}
			r.branches = append(r.branches, r.branches[0])
			r.branches[firstBranches].ID, r.branches[firstBranches].Name = 3, "Huế"
		}
		if tables := testenv.Must(visitsql.New(db).Tables(t.Context(), 0))(t); len(tables) != 0 {
			t.Errorf("a load of the demo that existed inserted %d tables", len(tables))
		}
	})
}

func TestLoad_at_once(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := Load(context.WithoutCancel(t.Context()), db); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		testenv.Equal(t, 18, len(contentOf(t, db).Tables))
	})
}

func TestLoad_refuses_another_restaurant(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		one := sqldb.NewRowSet(1).
			Int("id", func(int) int64 { return 2 }).Text("name", func(int) string { return "Chez Rémy" }).
			Text("country", func(int) string { return "FR" }).Text("currency", func(int) string { return "EUR" }).Text("timezone", func(int) string { return "Europe/Paris" }).
			Int("hour", func(int) int64 { return 5 }).Text("locales", func(int) string { return `["en"]` }).
			Int("minutes", func(int) int64 { return 60 }).Text("pricing", func(int) string { return "" })
		testenv.Must(db.Exec(t.Context(), stmt("branch_insert"), one, 0))(t)
		testenv.ErrorIs(t, ErrTaken, Load(t.Context(), db), "the demo was loaded into another restaurant")
		testenv.Equal(t, 1, len(testenv.Must(catalogsql.New(db, nil).Branches(t.Context()))(t)))
	})
}

// The options of the demo could be published as they are, and its new dishes can be ordered.
func TestLoad_options(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, Load(t.Context(), db))
		store := catalogsql.New(db, nil)
		_, lines := testenv.Must2(store.Lines(t.Context(), authz.System(), 5))(t)
		testenv.NoError(t, catalog.CheckLines(lines))
		edition := testenv.Must(store.Content(t.Context(), 1))(t).Edition
		for item, c := range map[int64]struct {
			chosen []catalog.ChosenOption
			want   int64
		}{
			36: {[]catalog.ChosenOption{{OptionID: 2, Qty: 1}, {OptionID: 4, Qty: 1}, {OptionID: 6, Qty: 2}}, 61000},
			37: {[]catalog.ChosenOption{{OptionID: 11, Qty: 1}, {OptionID: 14, Qty: 1, Options: []catalog.ChosenOption{{OptionID: 8, Qty: 1}}}}, 117000},
		} {
			it, _ := edition.Item(item)
			if got, err := it.Configure(c.chosen, nil); err != nil || got.Price != c.want {
				t.Errorf("item %d costs %d, %v, want %d", item, got.Price, err, c.want)
			}
			if _, err := it.Configure(nil, nil); !errors.Is(err, catalog.ErrOptions) {
				t.Errorf("item %d without options: error %v, want ErrOptions", item, err)
			}
		}
	})
}

// The demo's menus can be imported in every currency of the country profiles.
func TestMenuTemplates(t *testing.T) {
	for _, m := range MenuTemplates() {
		own := map[money.Currency]int{}
		for _, p := range catalog.CountryProfiles() {
			rows := testenv.Must(m.Rows(menufile.Options{Currency: p.Currency, Locales: []string{"en", "vi", "zh-TW"}}))(t)
			own[p.Currency] = len(rows)
			for _, r := range rows {
				if r.Price <= 0 || len(r.Name) != 3 || len(r.Category) != 3 || r.Key == "" {
					t.Errorf("%s in %s: row %+v, want a price, a key and names in three locales", m.Name, p.Currency, r)
				}
			}
		}
		for c, n := range own {
			if n != 14 && c != money.SAR || n < 7 {
				t.Errorf("%s in %s has %d dishes, want 14, or at least 7 in SAR", m.Name, c, n)
			}
		}
	}
}
