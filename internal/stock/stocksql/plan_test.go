package stocksql_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// With statistics, SQLite prefers to read the counters of a date first, and all rows of the statement for each of them.
func TestCounter_lock_reads_the_rows_first(t *testing.T) {
	t.Parallel()
	db := sqldbtest.SQLite(t)
	_, text, _ := strings.Cut(string(testenv.Must(os.ReadFile("counter.sql"))(t)), "-- name: counter_lock\n")
	text, _, _ = strings.Cut(text, "-- name:")
	stmts := sqldb.Load(fstest.MapFS{
		"fill.sql": {Data: []byte(`
			INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, slot_key, cap)
			SELECT 1, '2026-02-26', r.item, 'ALL_DAY', 10 FROM @rows($1: item int) AS r`)},
		"analyze.sql": {Data: []byte(`ANALYZE`)},
		"explain.sql": {Data: []byte("EXPLAIN QUERY PLAN " + text[strings.Index(text, "SELECT"):])},
	})
	item := func(i int) int64 { return int64(i) }
	testenv.Must(db.Exec(t.Context(), stmts.Must("fill"), sqldb.NewRowSet(200).Int("item", item)))(t)
	testenv.Must(db.Exec(t.Context(), stmts.Must("analyze")))(t)
	keys := sqldb.NewRowSet(200).Int("branch_id", func(int) int64 { return 1 }).
		Text("stat_date", func(int) string { return "2026-02-26" }).Int("item", item)
	steps, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (step string, err error) {
		var id, parent, unused int64
		err = r.Scan(&id, &parent, &unused, &step)
		return step, err
	}, stmts.Must("explain"), keys)
	if err != nil || len(steps) == 0 || !strings.Contains(steps[0], "json_each") {
		t.Errorf("the plan is %q, %v; want json_each first", steps, err)
	}
}
