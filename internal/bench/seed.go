package bench

import (
	"context"
	"encoding/json"
	"fmt"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
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
