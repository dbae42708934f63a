package reportsql_test

import (
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var interestStmts = sqldb.Load(fstest.MapFS{
	"views.sql": {Data: []byte(`
		INSERT INTO dish_view (branch_id, biz_date, dish_id, viewed, added)
		VALUES (1, '2026-02-26', 101, 10, 4), (1, '2026-02-27', 101, 5, 1), (1, '2026-02-26', 102, 40, 0),
		       (1, '2026-02-28', 101, 900, 900), (2, '2026-02-26', 101, 900, 900)`)},
	"pages.sql": {Data: []byte(`
		INSERT INTO page_view (branch_id, biz_date, page, opened)
		VALUES (1, '2026-02-26', 'menu', 7), (1, '2026-02-27', 'menu', 2), (1, '2026-02-28', 'menu', 900),
		       (2, '2026-02-26', 'cart', 900)`)},
	"begun.sql": {Data: []byte(`INSERT INTO cart_start (visit_id, branch_id, biz_date) VALUES ($1, $2, $3)`)},
	"role.sql":  {Data: []byte(`INSERT INTO role (id, name, created_at, updated_at) VALUES (900, 'GUESTS', 0, 0)`)},
	"user.sql": {Data: []byte(`
		INSERT INTO app_user (id, role_id, status, created_at, updated_at) VALUES ($1, 900, 'ACTIVE', 0, 0)`)},
	"cart.sql": {Data: []byte(`INSERT INTO cart (id, user_id, branch_id, created_at, updated_at) VALUES ($1, $1, $2, 0, $3)`)},
	"line.sql": {Data: []byte(`INSERT INTO cart_detail (cart_id, dish_id, quantity, price) VALUES ($1, $2, $3, 1000)`)},
})

// restaurantOfViews has two paid orders and an unpaid one. Dish 101 is in both paid orders, in one of them twice.
func restaurantOfViews(t *testing.T, db *sqldb.DB) (*orderingtest.Restaurant, report.Span, func(string, ...any)) {
	t.Helper()
	r := orderingtest.Open(t, db, 1, stock.Unlimited, stock.Unlimited, stock.Unlimited)
	orderingtest.Open(t, db, 2, stock.Unlimited)
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	ledger := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, func() time.Time { return now })
	t.Cleanup(ledger.Stop)
	for i, lines := range [][]stock.Line{
		{{Item: 101, Qty: 3}, {Item: 101, Qty: 1}}, {{Item: 101, Qty: 1}, {Item: 103, Qty: 9}}, {{Item: 102, Qty: 1}},
	} {
		p := r.Place([]string{"first", "second", "unpaid"}[i], now, time.Hour, lines...)
		testenv.Must(ledger.Do(t.Context(), p))(t)
		if i < 2 {
			testenv.Must(ledger.Do(t.Context(), orderingtest.Pay(p.Order.ID, now)))(t)
		}
	}
	b := testenv.Must(catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Test", Currency: "VND", Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []catalog.Locale{catalog.English}, AutoClose: time.Hour,
	}))(t)
	return r, report.Span{Branch: b, From: "2026-02-26", To: "2026-02-27"}, func(name string, args ...any) {
		t.Helper()
		testenv.Must(db.Exec(t.Context(), interestStmts.Must(name), args...))(t)
	}
}

func TestInterest(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		_, span, run := restaurantOfViews(t, db)
		run("views")
		run("pages")
		names := catalog.Texts{catalog.English: "Dish"}
		testenv.Equal(t, []report.DishInterest{
			{ID: 102, Names: names, Viewed: 40}, {ID: 101, Names: names, Viewed: 15, Added: 5, Orders: 2},
			{ID: 103, Names: names, Orders: 1},
		}, testenv.Must(reportsql.New(db).Interest(t.Context(), span))(t))
		testenv.Equal(t, map[string]int64{"menu": 9}, testenv.Must(reportsql.New(db).Pages(t.Context(), span))(t))
	})
}

// A visit whose cart began was ordered from, is open, or was abandoned. Members' carts count after a day without change.
func TestAbandonedCarts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, span, run := restaurantOfViews(t, db)
		s := report.NewService(reportsql.New(db), r.Catalog(t))
		run("role")
		run("begun", r.Visit, 1, "2026-02-26") // of the orders
		for range 3 {
			r.NextVisit(t)
			run("begun", r.Visit, 1, "2026-02-27")
		}
		r.NextVisit(t)
		run("begun", r.Visit, 1, "2026-02-27") // still open
		noon := time.Date(2026, 2, 27, 5, 0, 0, 0, time.UTC)
		for id, c := range []struct {
			branch  int64
			changed time.Time
			lines   []int64
		}{
			{1, noon, []int64{101, 102}},
			{1, noon.Add(-12 * time.Hour), []int64{101}}, // one o'clock at night, still the business date before
			{1, noon, nil},
			{2, noon, []int64{101}},
			{1, noon.AddDate(0, 0, 2), []int64{101}},
		} {
			run("user", id+1)
			run("cart", id+1, c.branch, c.changed.UnixMilli())
			for _, dish := range c.lines {
				run("line", id+1, dish, 2)
			}
		}
		testenv.Equal(t, []report.CartDay{
			{Date: "2026-02-26", Begun: 1, Ordered: 1, Members: 1, MembersAmount: 2000},
			{Date: "2026-02-27", Begun: 4, Abandoned: 3, Open: 1, Members: 1, MembersAmount: 4000},
		}, testenv.Must(s.AbandonedCarts(t.Context(), span))(t))
		today := span
		today.From, today.To = db.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly), db.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
		run("user", 9)
		run("cart", 9, 1, db.Now().Add(-23*time.Hour).UnixMilli())
		run("line", 9, 101, 1)
		if days := testenv.Must(s.AbandonedCarts(t.Context(), today))(t); len(days) > 0 {
			t.Errorf("a cart that changed 23 hours ago is abandoned: %v", days)
		}
	})
}
