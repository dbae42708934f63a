package app

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/clock"
	"comanda/internal/document"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// shownDish is a dish as its document shows it.
type shownDish struct {
	Stock     *int64
	SoldToday *int64
	Available bool
	OnMenu    bool
	Version   int64
	Branches  catalog.DishSales
}

func readDish(t *testing.T, k *Core, id int64) (d shownDish) {
	t.Helper()
	doc, found, err := k.Documents.Get(t.Context(), document.Dish, fmt.Sprint(id))
	if err != nil || !found {
		t.Fatalf("dish %d: found %t, %v", id, found, err)
	}
	testenv.NoError(t, json.Unmarshal([]byte(doc.JSON), &d))
	return d
}

// restaurant-redis 000-A7: the document of a dish says what each branch has and can sell.
func TestDishSales(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		state := &dishSales{store: catalogsql.New(db, nil)}
		sync := func() {
			t.Helper()
			testenv.NoError(t, k.Syncer.ReplayAll(t.Context()), k.syncDishSales(t.Context(), state))
		}
		const phoBo = 11 // an item of branch 1 with a quota of 20
		menu := testenv.Must(k.LiveMenus.Get(t.Context(), 1))(t)
		var dish int64
		for _, it := range menu.Items {
			if it.ID == phoBo {
				dish = it.DishID
			}
		}
		if d := readDish(t, k, dish); !d.Available || !d.OnMenu || len(d.Branches) != 0 {
			t.Errorf("before the first round: %+v, want a dish that can be ordered", d)
		}
		sync()
		first := readDish(t, k, dish)
		if b := first.Branches[1]; !first.Available || !b.Available || b.Stock == nil || *b.Stock != 20 || b.SoldToday != 0 {
			t.Fatalf("on sale: %+v", first)
		}
		others := len(first.Branches) - 1

		// Nothing is written while nothing changes, whichever process looks.
		sync()
		again := &dishSales{store: catalogsql.New(db, nil)}
		testenv.NoError(t, k.syncDishSales(t.Context(), again))
		testenv.Equal(t, first, readDish(t, k, dish))

		// A dish that is taken off sale is written by the next round, without waiting for the figures.
		testenv.Must2(k.CatalogServices.Availability.TakeOff(t.Context(), authz.System(), phoBo, catalog.Until{}))(t)
		sync()
		off := readDish(t, k, dish)
		if b := off.Branches[1]; b.Available || b.Stock == nil || *b.Stock != 0 || off.Version <= first.Version || !off.OnMenu {
			t.Errorf("off sale: %+v", off)
		}
		if off.Available != (others > 0) {
			t.Errorf("available = %t with %d other branches", off.Available, others)
		}
		testenv.NoError(t, k.CatalogServices.Availability.Restore(t.Context(), authz.System(), phoBo))
		sync()
		if d := readDish(t, k, dish); !d.Branches[1].Available {
			t.Errorf("restored: %+v", d)
		}

		// A dish on no published menu is no longer sold, although its row stays.
		for _, m := range testenv.Must(k.Branches.Store.Branches(t.Context()))(t) {
			for _, p := range testenv.Must(k.Editor.MenusOf(t.Context(), authz.System(), m.ID))(t) {
				testenv.Must(k.Editor.Withdraw(t.Context(), authz.System(), p.ID))(t)
			}
		}
		sync()
		if d := readDish(t, k, dish); d.Available || d.OnMenu || len(d.Branches) != 0 || d.Stock != nil || d.SoldToday != nil {
			t.Errorf("on no menu: %+v", d)
		}
		fresh := &dishSales{store: catalogsql.New(db, nil)} // of a process that was started afterwards
		testenv.NoError(t, k.syncDishSales(t.Context(), fresh))
		testenv.Equal(t, 0, len(testenv.Must(state.store.DishesOnSale(t.Context()))(t)))
	})
}

// Paid units are counted, also of dishes without a quota. They are written with the next figures and not with each order.
func TestDishSales_soldToday(t *testing.T) {
	f := newFixture(t)
	k := f.core
	state := &dishSales{store: catalogsql.New(k.DB, nil)}
	sync := func() {
		t.Helper()
		testenv.NoError(t, k.syncDishSales(t.Context(), state))
	}
	sync()
	const dish = 5 // item 12
	if _, limited := testenv.Must(k.LiveMenus.Get(t.Context(), 1))(t).Quota(12); limited {
		t.Error("the dish has a quota")
	}
	sold := func() int64 { return readDish(t, k, dish).Branches[1].SoldToday }
	before := sold()
	f.make("{paidorder}")
	sync()
	testenv.Equal(t, before, sold())
	state.figures = clock.Stopwatch{}                   // as after dishFiguresPause
	testenv.Eventually(t, 10*time.Second, func() bool { // levels are a quarter of a second old
		sync()
		return sold() == before+1
	})
	var d struct {
		SoldToday int64
		Branches  map[string]struct{ SoldToday int64 }
	}
	f.must(f.ask("", "GET", "/dishes/5", "")).into(t, &d)
	if d.Branches["1"].SoldToday != before+1 || d.SoldToday < before+1 {
		t.Errorf("GET /dishes/5 = %+v", d)
	}
}

// In a running process with a Redis, the document follows within two seconds.
func TestDishSales_in_a_process(t *testing.T) {
	t.Parallel()
	h := newDocumentServer(t)
	k := h.p.core
	available := func() bool {
		var d struct {
			Branches map[string]struct{ Available bool }
		}
		h.get("/dishes/4", &d) // the dish of item 11
		return d.Branches["1"].Available
	}
	testenv.Eventually(t, 20*time.Second, available)
	testenv.Must2(k.CatalogServices.Availability.TakeOff(t.Context(), authz.System(), 11, catalog.Until{}))(t)
	begun := time.Now()
	testenv.Eventually(t, 20*time.Second, func() bool { return !available() })
	t.Logf("the document said so after %v; two seconds are promised on a machine that does nothing else",
		time.Since(begun).Round(time.Millisecond))
	doc, found, err := k.Documents.Get(t.Context(), document.Dish, "4")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	text, ok, err := k.Redis.Do(t.Context(), "GET", document.Dish.Keys.Key("4")).Text()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	testenv.Equal(t, doc.JSON, text)
}
