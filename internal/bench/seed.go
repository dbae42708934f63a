package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// The benchmark's restaurant. All ids are fixed and far from those of a real restaurant. Every item has the maximum
// quota, and the last one a quota of zero: an order takes three of 199 items in rotation, so a business day has room
// for sixty million orders.
const (
	branchID   = 9000
	branchName = "Comanda benchmark"
	firstID    = 9_000_001 // first id of categories, dishes, items and tables
	itemCount  = 200
	categories = 10
	tableCount = 64
	lineCount  = 3
	itemPrice  = 30_000
)

// Errors of Seed.
var (
	ErrConsent = fault.New(fault.Forbidden, "not_for_benchmarks",
		"A benchmark writes hundreds of thousands of orders. Confirm that this database is meant for it.")
	ErrTaken = fault.New(fault.Conflict, "branch_taken", "Branch 9000 belongs to another restaurant. Use a separate database.")
)

// Seed creates the benchmark's restaurant in a migrated database and returns the QR tokens of its tables. Data of an
// earlier run is reused. It fails unless the caller confirms that the database is for benchmarks (B2). Two calls at
// once are safe: the branch's row is inserted by one of them.
func Seed(ctx context.Context, db *sqldb.DB, forBenchmarks bool) (tokens []string, err error) {
	if !forBenchmarks {
		return nil, ErrConsent
	}
	now := db.Now().UnixMilli()
	err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		fresh, err := tx.Exec(ctx, stmt("branch_insert"), branchID, branchName, now)
		if err != nil {
			return err
		}
		if fresh == 0 {
			return checkBranch(ctx, tx)
		}
		queueRestaurant(tx, now)
		return nil
	})
	if err != nil {
		return nil, fault.Wrap("seed the benchmark", err)
	}
	return sqldb.Collect(ctx, db, sqldb.Value[string], stmt("qr_list"), branchID)
}

// checkBranch returns ErrTaken unless the branch with the benchmark's id was created by Seed.
func checkBranch(ctx context.Context, tx sqldb.Tx) error {
	name, err := sqldb.Scalar[string](ctx, tx, stmt("branch_select"), branchID)
	if err == nil && name != branchName {
		return ErrTaken
	}
	return err
}

// queueRestaurant queues all rows of the restaurant but the branch itself.
func queueRestaurant(tx sqldb.Tx, now int64) {
	id := func(i int) int64 { return int64(firstID + i) }
	tx.Queue(stmt("category_insert"), sqldb.NewRowSet(categories).Int("id", id).
		Text("names", func(i int) string { return texts("Nhóm %d", "Group %d", i) }))
	tx.Queue(stmt("dish_insert"), sqldb.NewRowSet(itemCount).Int("id", id).
		Int("category_id", func(i int) int64 { return id(i * categories / itemCount) }).
		Text("names", dishNames).
		Text("descriptions", func(i int) string {
			return texts("Món số %d, nấu theo công thức của quán, ăn kèm rau thơm",
				"Number %d, cooked the way of the house, with herbs", i)
		}))
	queueMenu(tx, now, branchID, branchName, firstID, "B")
}

// dishNames returns the names of a dish in both languages.
func dishNames(i int) string { return texts("Phở bò số %d", "Beef noodle soup no. %d", i) }

// texts returns a text in both languages of the branch in its stored form.
func texts(vietnamese, english string, i int) string {
	b, _ := json.Marshal(catalog.Texts{ // strings always marshal
		catalog.Vietnamese: fmt.Sprintf(vietnamese, i+1), catalog.English: fmt.Sprintf(english, i+1),
	})
	return string(b)
}

// The restaurants of a history, beside the one that is measured. A day has historyDaily orders in each branch, so a longer
// history has more business dates and not fuller ones.
const (
	MaxHistory      = 5_000_000 // orders; each takes some 4 kB in tables and indexes
	historyBranches = 50
	historyDishes   = 1000
	historyMenu     = 100 // dishes on the menu of a branch
	historyDaily    = 100 // orders of a branch on a business date
	historyPart     = 10  // branches whose orders of a date are one transaction, far below its time limit
	historyFirst    = 9100
)

// historyLog is how long events are kept, less a day: a run must not measure how they are purged.
const historyLog = 29 * 24 * time.Hour

// History describes the orders that were in the database before a run.
type History struct {
	Orders    int     `json:"orders"`
	Branches  int     `json:"branches"`
	Dishes    int     `json:"dishes"`
	Dates     int     `json:"businessDates"`
	Bytes     int64   `json:"databaseBytes"`
	Seconds   float64 `json:"fillSeconds"`
	Start     float64 `json:"startSeconds"`    // of the server, until it was ready
	Documents float64 `json:"documentSeconds"` // after the server's start, until its documents were complete
}

// ErrHistory refuses a history in a database that has orders.
var ErrHistory = fault.New(fault.Conflict, "orders_exist",
	"The database already has orders. Use a new benchmark database.")

// ValidateHistory returns an error unless a history may have that many orders.
func ValidateHistory(orders int) error {
	if orders < 0 || orders > MaxHistory {
		return fmt.Errorf("bench: a history has 0 to %d orders, not %d", MaxHistory, orders)
	}
	return nil
}

// FillHistory writes orders that have ended into a migrated database that has none: three lines each, paid and served,
// in 50 branches on the business dates before today, with every row that such an order leaves except those of the
// kitchen's steps and the audit log. It fails unless the caller confirms that the database is for benchmarks (B2).
func FillHistory(ctx context.Context, databaseURL string, orders int, forBenchmarks bool) (h History, err error) {
	if !forBenchmarks {
		return h, ErrConsent
	}
	if err := ValidateHistory(orders); err != nil {
		return h, err
	}
	begin := time.Now()
	address, err := unhurried(databaseURL)
	if err != nil {
		return h, err
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address, MaxConns: 2})
	if err != nil {
		return h, err
	}
	defer db.Close()
	h = History{Orders: orders, Branches: historyBranches, Dishes: historyDishes}
	if h.Dates, err = fill(ctx, db, orders); err != nil {
		return h, fault.Wrap("fill the history", err)
	}
	if _, err = db.Exec(ctx, stmt("history_vacuum")); err != nil {
		return h, err
	}
	// Otherwise the first measurements would include this work. An account may lack the right to a checkpoint; the
	// error is ignored.
	_, _ = db.Exec(ctx, stmt("history_checkpoint"))
	h.Bytes, err = sqldb.Scalar[int64](ctx, db, stmt("history_size"))
	h.Seconds = time.Since(begin).Seconds()
	return h, err
}

// unhurried returns an address for writing a history. On PostgreSQL nothing waits for the disk, and a statement may take
// longer than a request's.
func unhurried(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("bench: the database's address is malformed")
	}
	if u.Scheme == string(sqldb.SQLite) {
		return address, nil
	}
	q := u.Query()
	q.Set("statement_timeout", "0")
	q.Set("synchronous_commit", "off")
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// fill writes one business date after the other, the oldest first, and returns how many there are.
func fill(ctx context.Context, db *sqldb.DB, orders int) (dates int, err error) {
	switch n, err := sqldb.Scalar[int64](ctx, db, stmt("history_order_exists")); {
	case err != nil:
		return 0, err
	case n > 0:
		return 0, ErrHistory
	}
	const daily = historyBranches * historyDaily
	dates = (orders + daily - 1) / daily
	now := db.Now()
	if err := db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		queueRestaurants(tx, now.UnixMilli())
		return nil
	}); err != nil {
		return 0, err
	}
	var ids uid.Source // not the shared one, which has issued newer ids
	for part := 0; orders > 0; part++ {
		p := historyOrders{n: min(historyPart*historyDaily, orders), branch: historyFirst + part*historyPart%historyBranches}
		orders -= p.n
		daysAgo := dates - part/(historyBranches/historyPart)
		p.date = now.Truncate(24*time.Hour).AddDate(0, 0, -daysAgo)
		// From 10:00 to 22:00 in Vietnam.
		p.from = p.date.Add(3*time.Hour + time.Duration(p.branch-historyFirst)*historyDay/historyBranches)
		if err := db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
			p.queue(tx, &ids, now)
			return nil
		}); err != nil {
			return 0, err
		}
	}
	return dates, nil
}

// historyDay is the time between the first and the last order of a business date.
const historyDay = 12 * time.Hour

// queueRestaurants queues branches, dishes and menus. A dish is on the menus of five branches.
func queueRestaurants(tx sqldb.Tx, now int64) {
	dish := func(i int) int64 { return int64(historyFirst*historyDishes + i) }
	tx.Queue(stmt("category_insert"), sqldb.NewRowSet(1).Int("id", dish).
		Text("names", func(i int) string { return texts("Món cũ %d", "Former dishes %d", i) }))
	tx.Queue(stmt("dish_insert"), sqldb.NewRowSet(historyDishes).Int("id", dish).
		Int("category_id", func(int) int64 { return dish(0) }).
		Text("names", dishNames).Text("descriptions", dishNames))
	branches := sqldb.NewRowSet(historyBranches).Int("id", func(i int) int64 { return int64(historyFirst + i) }).
		Text("name", func(i int) string { return fmt.Sprintf("%s, history %d", branchName, i+1) })
	tx.Queue(stmt("history_branch_insert"), branches, now)
	tx.Queue(stmt("history_table_insert"), branches)
	tx.Queue(stmt("history_menu_insert"), branches)
	tx.Queue(stmt("history_version_insert"), branches, now)
	// history_item_insert computes the same ids.
	items := sqldb.NewRowSet(historyBranches*historyMenu).
		Int("id", func(i int) int64 { return int64((historyFirst+i/historyMenu)*1000 + i%historyMenu) }).
		Int("branch_id", func(i int) int64 { return int64(historyFirst + i/historyMenu) }).
		Int("dish_id", func(i int) int64 {
			return dish((i/historyMenu*historyDishes/historyBranches + i%historyMenu) % historyDishes)
		})
	tx.Queue(stmt("history_menu_item_insert"), items)
	tx.Queue(stmt("history_item_name_insert"))
	tx.Queue(stmt("history_version_item_insert"), items)
}

// historyOrders are the orders of some branches on a business date, which they receive in turn.
type historyOrders struct {
	n      int
	branch int // first of historyPart
	date   time.Time
	from   time.Time // first order
}

// queue queues the orders. The other rows are made from the orders' by the database, so that little is sent to it. Ids
// of one part are all greater than those of the parts before, because the statements select a part by its ids.
func (p historyOrders) queue(tx sqldb.Tx, source *uid.Source, now time.Time) {
	at := func(i int) time.Time {
		return p.from.Add(time.Duration(i) * historyDay * historyPart / historyBranches / time.Duration(p.n))
	}
	ids := make([]string, p.n)
	for i := range ids {
		ids[i] = source.New(at(i))
	}
	first, last := ids[0], ids[p.n-1]
	tx.Queue(stmt("history_order_insert"), sqldb.NewRowSet(p.n).Text("id", func(i int) string { return ids[i] }).
		Int("branch_id", func(i int) int64 { return int64(p.branch + i%historyPart) }).
		Int("number", func(i int) int64 { return int64(i/historyPart + 1) }).
		Int("at", func(i int) int64 { return at(i).UnixMilli() }), p.date.Format(time.DateOnly))
	inserts := []*sqldb.Stmt{
		stmt("history_item_insert"), stmt("history_hold_insert"), stmt("history_attempt_insert"),
		stmt("history_report_insert"), stmt("history_visit_insert"), stmt("history_guest_insert"),
		stmt("history_counter_insert"), stmt("history_number_insert"), stmt("history_daybook_insert"),
	}
	if now.Sub(p.from) < historyLog {
		inserts = append(inserts, stmt("history_event_insert"))
	}
	for _, s := range inserts {
		tx.Queue(s, first, last)
	}
	tx.Queue(stmt("history_cursor_move"))
}

// historyLimit is how long a server may take to rebuild the documents of the longest history.
const historyLimit = 30 * time.Minute

// waitDocuments waits until the server has rebuilt its documents, because the rebuild would otherwise run during
// measurements.
func (s *session) waitDocuments(ctx context.Context) error {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for {
		ready, err := sqldb.Scalar[int64](ctx, s.db, stmt("documents_ready"))
		if err != nil {
			return err
		}
		if ready > 0 {
			s.report.History.Documents = time.Since(begin).Seconds()
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the server has not rebuilt its documents: %w", ctx.Err())
		}
	}
}
