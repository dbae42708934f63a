package orderingsql_test

import (
	"regexp"
	"slices"
	"strings"
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

// deliver turns a command into a member's delivery order for the given receiver.
func deliver(c *ordering.Place, name, phone string) *ordering.Place {
	o := &c.Order
	o.Kind, o.VisitID, o.GuestHash, o.UserID = ordering.Delivery, "", "", 7
	o.ClientTxnID = "user:7:" + o.ClientTxnID
	o.Receiver = ordering.Receiver{Name: name, Phone: phone, Address: "12 Hàng Bạc"}
	return c
}

func TestOrders_Listed_search(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, stock.Unlimited)
		now := db.Now()
		for i, c := range []ordering.Command{
			r.Place("a", now, time.Hour, stock.Line{Item: 101, Qty: 1}),
			deliver(r.Place("b", now, time.Hour, stock.Line{Item: 101, Qty: 1}), "Nguyễn Thị Lan", "+84912345678"),
			deliver(r.Place("c", now, time.Hour, stock.Line{Item: 101, Qty: 1}), "Lan Đặng", "0905550678"),
			deliver(r.Place("d", now, time.Hour, stock.Line{Item: 101, Qty: 1}), "王小明", "0912000111"),
		} {
			if _, err := l.Do(t.Context(), c); err != nil {
				t.Fatal(i, err)
			}
		}
		other := orderingtest.Open(t, db, 2, stock.Unlimited)
		testenv.Must(l.Do(t.Context(),
			deliver(other.Place("e", now, time.Hour, stock.Line{Item: 201, Qty: 1}), "Lan", "0912345678")))(t)
		s := orderingsql.NewOrders(db)
		for range 2 { // the second call finds nothing to index
			testenv.NoError(t, s.IndexNames(t.Context()))
		}
		for search, want := range map[string][]int64{
			"1": {1}, "a-002": {2}, "B-001": nil, "T1": {1}, "t1": {1}, "T9": nil,
			"0912345678": {2}, "84 912 345 678": {2}, "0678": {3}, "678 ": nil, "5678": {2}, "111": nil, "0111": {4},
			"lan": {3, 2}, "LAN nguyen": {2}, "dang": {3}, "Đặng": {3}, "la": {3, 2}, "an": nil, "小明": {4}, "明": {4},
		} {
			terms := ordering.ParseSearch(search)
			page, total, err := s.Listed(t.Context(), ordering.OrderFilter{Branch: 1, Search: &terms, Limit: 9})
			if err != nil {
				t.Fatal(search, err)
			}
			var got []int64
			for _, o := range page {
				got = append(got, o.Number)
			}
			if diff := cmp.Diff(want, got); diff != "" || total != int64(len(want)) {
				t.Errorf("%s: %d in all (-want +got):\n%s", search, total, diff)
			}
		}
		terms := ordering.ParseSearch("lan")
		for name, c := range map[string]struct {
			f    ordering.OrderFilter
			want int64
		}{
			"another date":            {ordering.OrderFilter{Dates: ordering.Dates{From: "2026-02-27"}, Search: &terms}, 0},
			"another status":          {ordering.OrderFilter{PaymentStatus: ordering.Paid, Search: &terms}, 0},
			"a party":                 {ordering.OrderFilter{Visit: r.Visit}, 1},
			"another party":           {ordering.OrderFilter{Visit: other.Visit}, 0},
			"a page behind the first": {ordering.OrderFilter{Search: &terms, Offset: 1}, 2},
		} {
			c.f.Branch, c.f.Limit = 1, 9
			if _, total, err := s.Listed(t.Context(), c.f); err != nil || total != c.want {
				t.Errorf("%s: %d in all, %v", name, total, err)
			}
		}
	})
}

// filled inserts 20,000 orders of many dates in one branch.
var filled = sqldb.Load(fstest.MapFS{
	"orders.sql": {Data: []byte(`
		INSERT INTO order_info (id, branch_id, kind, visit_id, menu_version_id, hold_id, client_txn_id, biz_date, number, status,
			payment_status, payment_method, total_amount, currency, pay_by, expires_at, created_at, updated_at, receiver_name, receiver_phone)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
		SELECT 'o' || i, 1, 'DELIVERY', 'v' || i, 1, 'h' || i, 'c' || i,
			'2025-' || substr(CAST(101 + i % 12 AS TEXT), 2, 2) || '-' || substr(CAST(101 + i % 28 AS TEXT), 2, 2), i / 84, 'SERVED',
			'PAID', 'COUNTER', 1, 'VND', 0, 0, 0, 0, 'Lan ' || i, '09' || (10000000 + i) FROM n`)},
	"tables.sql": {Data: []byte(`
		INSERT INTO dining_table (id, branch_id, label)
		WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i, 1, 'T' || i FROM n`)},
	"visits.sql": {Data: []byte(`
		INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
		SELECT 'v' || i, 1, 2 + i % 39, '2025-01-01', 'CLOSED', 0, 0 FROM n`)},
	"numbers.sql": {Data: []byte(`
		INSERT INTO order_number (branch_id, biz_date, last) SELECT branch_id, biz_date, max(number) FROM order_info GROUP BY branch_id, biz_date`)},
	"words.sql": {Data: []byte(`INSERT INTO order_word (branch_id, word, biz_date, order_id) SELECT branch_id, lower(receiver_name), biz_date, id FROM order_info`)},
	"holds.sql": {Data: []byte(`
		INSERT INTO hold (id, branch_id, biz_date, state, digest, expires_at, created_at, updated_at)
		SELECT o.hold_id, 1, o.biz_date, CASE WHEN o.number = 7 THEN 'HELD' ELSE 'CONFIRMED' END, '', 0, 0, 0 FROM order_info o`)},
	"label.sql":   {Data: []byte(`UPDATE dining_table SET label = $1`)},
	"analyze.sql": {Data: []byte(`ANALYZE`)},
})

// planOf returns an engine's query plan for a statement. Row sets are passed as the engine receives them.
func planOf(t *testing.T, db *sqldb.DB, name string, args ...any) string {
	t.Helper()
	explain, text := "EXPLAIN ", orderingsql.Statements.Must(name).Text(db.Engine())
	if db.Engine() == sqldb.SQLite {
		explain, text = "EXPLAIN QUERY PLAN ", regexp.MustCompile(`\?(\d+)`).ReplaceAllString(text, "$$$1")
	}
	plan := sqldb.Load(fstest.MapFS{"plan.sql": {Data: []byte(explain + text)}})
	steps, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (s string, err error) {
		if db.Engine() == sqldb.Postgres {
			err = r.Scan(&s)
			return s, err
		}
		var id, parent, unused int
		err = r.Scan(&id, &parent, &unused, &s)
		return s, err
	}, plan.Must("plan"), args...)
	if err != nil {
		t.Fatal(name, err)
	}
	return strings.Join(steps, "\n")
}

// TestOrders_memberKeyIsFound checks that a member's idempotency key is found by both of its columns while the table has
// no statistics. With another index of the same condition PostgreSQL read all orders of members for each batch.
func TestOrders_memberKeyIsFound(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		testenv.Must(db.Exec(t.Context(), filled.Must("orders")))(t)
		keys := []any{[]int64{7}, []string{"m7:a"}}
		want := "Index Cond: ((user_id = u.user_id) AND (client_txn_id = (u.key)::text))"
		if db.Engine() == sqldb.SQLite {
			keys, want = []any{`[[7,"m7:a"]]`}, "SEARCH o USING INDEX order_info_member (user_id=? AND client_txn_id=?)"
		}
		if plan := planOf(t, db, "order_select_member_key", keys...); !strings.Contains(plan, want) {
			t.Errorf("the plan is\n%s\nwant %s", plan, want)
		}
	})
}

// TestOrders_Listed_searchIsFound checks that a search scans no large table on either engine: with 20,000 orders, each
// of its parts uses an index.
func TestOrders_Listed_searchIsFound(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		for _, name := range []string{"tables", "visits", "orders", "numbers", "words", "analyze"} {
			if _, err := db.Exec(t.Context(), filled.Must(name)); err != nil {
				t.Fatal(name, err)
			}
		}
		args := []any{int64(1), "", "9999", "", "", "", int64(0), int64(0)}
		if db.Engine() == sqldb.SQLite {
			args = append(args, `[[42],[1041]]`, `[[2],[3]]`, "5678", "%5678", `[["lan","lao"]]`, 1, "v7", 20, 0)
		} else {
			args = append(args, []int64{42, 1041}, []int64{2, 3}, "5678", "%5678", []string{"lan 77"}, []string{"lan 78"}, 1, "v7", 20, 0)
		}
		found := planOf(t, db, "listing_found", args...)
		for _, index := range []string{"order_info_day", "order_info_visit", "order_info_phone", "visit_table"} {
			if !strings.Contains(found, index) {
				t.Errorf("%s is not used:\n%s", index, found)
			}
		}
		if regexp.MustCompile(`Seq Scan on (order_info|order_word|visit)|SCAN [ow]\b`).MatchString(found) {
			t.Errorf("it walks through a table:\n%s", found)
		}
	})
}

// TestOverdue_isFound checks that the sweeper, which runs every second, finds the orders of overdue holds by an index:
// most of 20,000 orders ended long ago.
func TestOverdue_isFound(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		for _, name := range []string{"orders", "holds", "analyze"} {
			if _, err := db.Exec(t.Context(), filled.Must(name)); err != nil {
				t.Fatal(name, err)
			}
		}
		found := planOf(t, db, "overdue_select", int64(1000), int64(100))
		for _, index := range []string{"order_info_hold", "hold_due"} {
			if !strings.Contains(found, index) {
				t.Errorf("%s is not used:\n%s", index, found)
			}
		}
		if regexp.MustCompile(`Seq Scan on order_info|SCAN o\b`).MatchString(found) {
			t.Errorf("it walks through all orders:\n%s", found)
		}
		// The holds of these orders have other ids than the orders, as in earlier releases.
		overdue, err := orderingsql.NewOrders(db).Overdue(t.Context(), time.UnixMilli(1000), 100)
		if err != nil || len(overdue) != 84 || slices.ContainsFunc(overdue, func(id string) bool { return id[0] != 'o' }) {
			t.Errorf("%d of 84 overdue orders are found, %v: %v", len(overdue), err, overdue)
		}
	})
}

// Labels match in any case and without accents on both engines, although SQLite's lower converts only A to Z.
func TestOrders_Listed_label(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, stock.Unlimited)
		testenv.Must(l.Do(t.Context(), r.Place("a", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})))(t)
		for label, searches := range map[string][]string{
			"BÀN ĐÔI Ở SÂN": {"bàn đôi ở sân", "Bàn Đôi Ở Sân", "BÀN ĐÔI Ở SÂN", "ban doi o san", " bàn đôi ở sân "},
			"ÔNG 1":         {"ông 1", "Ông 1", "ong 1"}, "露臺 a": {"露臺 A"},
		} {
			testenv.Must(db.Exec(t.Context(), filled.Must("label"), label))(t)
			for search, want := range map[string]int{"bàn": 0, "1": 1} { // no part of a label; a number is one of the order
				searches := ordering.ParseSearch(search)
				if _, total, err := orderingsql.NewOrders(db).Listed(t.Context(), ordering.OrderFilter{Branch: 1, Search: &searches, Limit: 9}); err != nil || total != int64(want) {
					t.Errorf("%s: %q finds %d, %v", label, search, total, err)
				}
			}
			for _, search := range searches {
				s := ordering.ParseSearch(search)
				page, total, err := orderingsql.NewOrders(db).Listed(t.Context(), ordering.OrderFilter{Branch: 1, Search: &s, Limit: 9})
				if err != nil || total != 1 || len(page) != 1 || page[0].Table != label {
					t.Errorf("%s: %q finds %d, %v", label, search, total, err)
				}
			}
			other := ordering.ParseSearch(searches[0])
			if _, total, err := orderingsql.NewOrders(db).Listed(t.Context(), ordering.OrderFilter{Branch: 2, Search: &other, Limit: 9}); err != nil || total != 0 {
				t.Errorf("%s: in another branch %d, %v", label, total, err)
			}
		}
	})
}
