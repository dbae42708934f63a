package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/demo"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// demoCore returns the services of the demo restaurant, without loops.
func demoCore(t *testing.T, db *sqldb.DB) *Core {
	t.Helper()
	testenv.NoError(t, demo.Load(t.Context(), db))
	c := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": dataDir(t)}, nil, "", nil))(t)
	k := testenv.Must(NewCore(t.Context(), Deps{
		Config: c, DB: db, Redis: redisdbtest.Embedded(t), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	}))(t)
	t.Cleanup(k.Close)
	return k
}

// A menu shows for a dish the lower of its remaining quota and the portions that the stock suffices for.
func TestMenu_followsStock(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		rooms, system := k.stockServices(), authz.System()
		left := func(item, want int64) {
			t.Helper()
			testenv.Eventually(t, 10*time.Second, func() bool {
				testenv.NoError(t, k.Syncer.ReplayAll(t.Context()))
				board := testenv.Must(k.LiveMenus.Get(t.Context(), 1))(t)
				n, limited := board.Left(item)
				return limited && n == want
			})
		}
		const phoBo, eggCoffee, cooler = 11, 20, 21 // quotas of 20 and 30, and none
		board := testenv.Must(k.LiveMenus.Get(t.Context(), 1))(t)
		if n, _ := board.Left(eggCoffee); n != 30 { // nothing is sold yet today, and the stock suffices for 1500
			t.Errorf("%d are left of the egg coffee", n)
		}
		left(cooler, 2000)
		testenv.Must(rooms.Items.SetAvailable(t.Context(), system, 1, "bones", 100))(t)
		testenv.NoError(t, rooms.Recipes.SetRecipe(t.Context(), system, phoBo, []stock.SKULine{{SKU: "bones", Qty: 4}}))
		left(phoBo, 20)
		testenv.Must(rooms.Items.SetAvailable(t.Context(), system, 1, "bones", 30))(t)
		left(phoBo, 7)
		request := stock.ReservationRequest{ID: "theirs", Branch: 1, Items: []stock.SKULine{{SKU: "bones", Qty: 27}}}
		testenv.Must2(rooms.Reservations.Reserve(t.Context(), system, request))(t)
		left(phoBo, 0)
		testenv.Must(rooms.Reservations.Cancel(t.Context(), system, "theirs"))(t)
		left(phoBo, 7)
		testenv.NoError(t, rooms.Recipes.SetRecipe(t.Context(), system, phoBo, nil))
		left(phoBo, 20)
	})
}

// The list of counters has today's quotas and the stock. A branch without a menu is no error.
func TestStockToday(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		items := k.stockServices().Items
		testenv.Must(items.SetAvailable(t.Context(), authz.System(), 1, "eggs", 60))(t)
		lines := testenv.Must(k.systemService().StockToday(t.Context(), 1))(t)
		var got []string
		for _, l := range lines {
			if l.ItemID == "11" || l.ItemID == "12" || l.Kind == "STOCK" {
				got = append(got, fmt.Sprintf("%s %s %s, limited %t, low %t", l.Kind, l.ItemID, l.Name, l.Left != nil && l.Cap != nil, l.Low))
			}
		}
		want := []string{
			"QUOTA 11 Phở bò, limited true, low false", "QUOTA 12 Phở gà, limited false, low false",
			"STOCK bia-hanoi Bia Hà Nội, limited true, low false", "STOCK coffee Cà phê, limited true, low false",
			"STOCK eggs Trứng gà, limited true, low true", "STOCK sau-syrup Sấu ngâm đường, limited true, low false",
		}
		testenv.Equal(t, want, got)
		if _, err := k.systemService().StockToday(t.Context(), 99); !errors.Is(err, catalog.ErrBranch) {
			t.Errorf("stock of an unknown branch: error %v, want branch_not_found", err)
		}
		testenv.Must(k.Branches.Create(t.Context(), authz.System(), catalog.NewBranchRequest{Name: "Without a menu", Country: "VN"}))(t)
		if all, err := k.systemService().StockToday(t.Context(), 0); err != nil || len(all) <= len(lines) {
			t.Errorf("%d lines of all branches, %v", len(all), err)
		}
	})
}

// A frequently read window is cached before the next read.
func TestWindow_isWarmed(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		system := authz.System()
		look := func() int64 {
			t.Helper()
			found, err := k.Snapshots.Snapshots(t.Context(), system, 2, []string{"oolong"})
			if err != nil || len(found) != 1 {
				t.Fatalf("Snapshots = %v, %v, want one of oolong", found, err)
			}
			return found[0].Available
		}
		look()
		for _, l := range k.snapshotLoops() {
			if l.Name == "hot_rank" {
				run(t, l.Run)
			}
		}
		testenv.Must(k.stockServices().Items.SetAvailable(t.Context(), system, 2, "oolong", 5))(t)
		if n := look(); n != 8000 {
			t.Errorf("%d: the copy was not used", n)
		}
		run(t, k.warmSnapshots)
		if n := look(); n != 5 {
			t.Errorf("%d after warming", n)
		}
	})
}

func run(t *testing.T, f func(context.Context) error) {
	t.Helper()
	testenv.NoError(t, f(t.Context()))
}
