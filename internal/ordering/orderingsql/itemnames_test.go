package orderingsql_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var nameStmts = sqldb.Load(fstest.MapFS{
	"stored.sql": {Data: []byte(`SELECT n.id, n.name || n.names FROM item_name n`)},
	"holds.sql":  {Data: []byte(`SELECT o.id, o.hold_id FROM order_info o`)},
	"before.sql": {Data: []byte(`SELECT i.order_id || i.line, i.name_snapshot || i.names FROM order_item i`)},
	"single.sql": {Data: []byte(`UPDATE order_item SET names = '' WHERE line = 2`)},
})

// named builds an order of two lines. Its dishes have these names, as the menu of the moment names them.
func named(r *orderingtest.Restaurant, now time.Time, key string, names ...string) *ordering.Place {
	p := r.Place(key, now, time.Hour, stock.Line{Item: 101, Qty: 1}, stock.Line{Item: 102, Qty: 1})
	for i, name := range names {
		p.Order.Items[i].Name, p.Order.Items[i].Names = name, fmt.Sprintf(`{"en":%q}`, name)
	}
	return p
}

// Orders of two processes store each text once, and each line has the names it was ordered with: also after a dish has
// been renamed, and where two dishes have one name.
func TestLedger_names_once(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, first := restaurant(t, db, stock.Unlimited, stock.Unlimited)
		second := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		t.Cleanup(second.Stop)
		// The separator of a digest must not confuse a text with its neighbour.
		long := strings.Repeat("A very long name ", 200)
		menus := [][]string{{"Phở", "Bún"}, {"Phở", "Phở"}, {"Phở bò", "Bún"}, {"P", "hở"}, {long, "Bún"}}
		now := db.Now()
		var placing sync.WaitGroup
		for i := range 20 {
			for j, l := range []*orderingsql.Ledger{first, second} {
				placing.Go(func() {
					want := named(r, now, fmt.Sprint(i, "-", j), menus[(i+j)%len(menus)]...)
					o := testenv.Must(l.Do(t.Context(), want))(t).Order
					got, _, err := orderingsql.NewOrders(db).Order(t.Context(), o.ID)
					if diff := cmp.Diff(o.Items, got.Items); diff != "" || err != nil {
						t.Errorf("lines of an order (-want +got): %s %v", diff, err)
					}
				})
			}
		}
		placing.Wait()
		stored := testenv.Must(sqldb.Map[int64, string](t.Context(), db, nameStmts.Must("stored")))(t)
		texts := map[string]bool{}
		for _, text := range stored {
			texts[text] = true
		}
		if len(stored) != 6 || len(texts) != 6 {
			t.Errorf("%d rows with %d texts, want each of the 6 once", len(stored), len(texts))
		}
		for order, hold := range testenv.Must(sqldb.Map[string, string](t.Context(), db, nameStmts.Must("holds")))(t) {
			if hold != "" {
				t.Errorf("order %s names its first hold %q", order, hold)
			}
		}
	})
}

// Orders keep their names, lines and holds through a migration back to the release before and again to this one. Orders
// of that release may have a name in one language only.
func TestMigration_names_once(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, stock.Unlimited, stock.Unlimited)
		now := db.Now()
		ids := make([]string, 4)
		for i := range ids {
			ids[i] = testenv.Must(l.Do(t.Context(), named(r, now, fmt.Sprint(i), "Phở", fmt.Sprint("Bún ", i/2))))(t).Order.ID
		}
		orders := orderingsql.NewOrders(db)
		read := func() (all []ordering.Order) {
			for _, id := range ids {
				d, _, err := orders.Order(t.Context(), id)
				testenv.NoError(t, err)
				for i := range d.Items {
					d.Items[i].NameID = 0
				}
				all = append(all, d.Order)
			}
			return all
		}
		want := read()
		sqldbtest.MigrateBefore(t, db, 54)
		before := testenv.Must(sqldb.Map[string, string](t.Context(), db, nameStmts.Must("before")))(t)
		if len(before) != 8 || before[ids[3]+"2"] != `Bún 1{"en":"Bún 1"}` {
			t.Errorf("the release before reads %v", before)
		}
		for order, hold := range testenv.Must(sqldb.Map[string, string](t.Context(), db, nameStmts.Must("holds")))(t) {
			if hold != order {
				t.Errorf("the release before reads the hold %q of order %s", hold, order)
			}
		}
		testenv.Must(db.Exec(t.Context(), nameStmts.Must("single")))(t)
		testenv.NoError(t, db.Migrate(t.Context()))
		for i := range want {
			want[i].Items = slices.Clone(want[i].Items)
			want[i].Items[1].Names = ""
		}
		testenv.Equal(t, want, read())
		stored := testenv.Must(sqldb.Map[int64, string](t.Context(), db, nameStmts.Must("stored")))(t)
		testenv.Equal(t, 3, len(stored))
		// Later orders and payments go on, with holds that are named and such that are not.
		for _, id := range ids {
			if res := testenv.Must(l.Do(t.Context(), orderingtest.Pay(id, now)))(t); res.Order.PaymentStatus != ordering.Paid {
				t.Errorf("order %s is %s", id, res.Order.PaymentStatus)
			}
		}
		if found := testenv.Must(orders.Drift(t.Context(), "", now))(t); len(found) > 0 {
			t.Errorf("reconcile: %v", found)
		}
	})
}
