package demo

import (
	"context"
	"errors"
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
	if len(r.branches) != 2 || len(r.dishes) != 28 || len(r.tables) != 12 {
		t.Errorf("%d branches, %d dishes, %d tables, want 2, 28, 12", len(r.branches), len(r.dishes), len(r.tables))
	}
	for _, b := range r.branches {
		if _, err := catalog.NewBranch(catalog.Branch{
			Name: b.Name, Currency: b.Currency, Timezone: b.Timezone, DayStart: b.DayStart, Locales: b.Locales,
			AutoClose: time.Duration(b.AutoCloseMinutes) * time.Minute,
		}); err != nil {
			t.Errorf("branch %s: %v", b.Name, err)
		}
	}
	if len(r.stock) != 8 || len(r.recipes) != 6 {
		t.Errorf("%d stock items, %d lines of recipes, want 8 and 6", len(r.stock), len(r.recipes))
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
	complete := func(what string, texts catalog.Texts, limit int) {
		if err := texts.Check(what, limit); err != nil || len(texts) != 3 {
			t.Errorf("%s in %d locales, %v, want 3", what, len(texts), err)
		}
	}
	for _, c := range r.categories {
		complete("category", c.Names, catalog.MaxName)
	}
	for _, d := range r.dishes {
		complete("dish", d.Names, catalog.MaxName)
		complete("dish", d.Descriptions, catalog.MaxDescription)
		if err := (catalog.Entry{Price: d.Price, Quota: d.Quota}).Check(); err != nil || d.Price == 0 {
			t.Errorf("%s: price %d, %v, want a valid one above 0", d.Names[catalog.English], d.Price, err)
		}
	}
}

// content is all rows of the demo in a database.
type content struct {
	Branches []string
	Menus    []catalog.Content
	Tables   []visit.Table
	Stock    []stock.Level
	Recipes  []map[int64][]stock.Line
}

func contentOf(t *testing.T, db *sqldb.DB) content {
	t.Helper()
	var c content
	store, book := catalogsql.New(db, nil), stocksql.New(db)
	branches := testenv.Must(store.Branches(t.Context()))(t)
	for _, b := range branches {
		menu := testenv.Must(store.Content(t.Context(), b.ID))(t)
		c.Branches, c.Menus = append(c.Branches, b.Name), append(c.Menus, menu)
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
		if q := first.Menus[0].Quotas[11]; q != 20 {
			t.Errorf("quota of item 11 = %d, want 20", q)
		}
		if got := first.Tables[2]; got.ID != 3 || got.Label != "A3" || len(got.QR) != 22 ||
			got.Place == nil || *got.Place != (visit.PlanCell{Column: 4}) || got.Shape != visit.ShapeRound {
			t.Errorf("third table = %v, want a round A3 with a code in column 4", got)
		}
		if len(first.Stock) != 8 || first.Stock[0].SKU != "bia-hanoi" || first.Stock[0].Available != 480 || len(first.Recipes[0]) != 2 {
			t.Errorf("stock %v, recipes %v, want 8 items and two lines of the first dish", first.Stock, first.Recipes)
		}
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
		if n := len(contentOf(t, db).Tables); n != 12 {
			t.Errorf("%d tables, want 12", n)
		}
	})
}

func TestLoad_refuses_another_restaurant(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		one := sqldb.NewRowSet(1).
			Int("id", func(int) int64 { return 2 }).Text("name", func(int) string { return "Chez Rémy" }).
			Text("currency", func(int) string { return "EUR" }).Text("timezone", func(int) string { return "Europe/Paris" }).
			Int("hour", func(int) int64 { return 5 }).Text("locales", func(int) string { return `["en"]` }).
			Int("minutes", func(int) int64 { return 60 })
		testenv.Must(db.Exec(t.Context(), stmt("branch_insert"), one, 0))(t)
		if err := Load(t.Context(), db); !errors.Is(err, ErrTaken) {
			t.Fatalf("the demo was loaded into another restaurant: error %v, want ErrTaken", err)
		}
		if all, err := catalogsql.New(db, nil).Branches(t.Context()); len(all) != 1 || err != nil {
			t.Errorf("%d branches, %v, want 1", len(all), err)
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
