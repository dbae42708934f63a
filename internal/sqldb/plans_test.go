package sqldb_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// growing are the tables that have rows for each order, hold, visit or event of the past.
var growing = []string{
	"order_info", "order_item", "order_step", "order_word", "order_mail", "hold", "payment_attempt", "payment_event", "refund",
	"event_log", "visit", "visit_guest", "member_history", "audit_log", "notice", "stock_adjustment",
}

// wholeTables are the statements that may read a growing table, or an index of it, from its beginning, by engine.
var wholeTables = map[sqldb.Engine][]string{
	sqldb.SQLite: {
		"drift_inventory", // is part of the reconciliation that a command requests
		"event_states",    // reads the newest rows only
	},
}

// open are indexes of the few rows that wait for something, so that reading one from its beginning is cheap.
var open = []string{
	"hold_due", "hold_reservation_due", "visit_open_seen", "visit_open_table", "visit_keys_left", "refund_open", "order_info_unnamed",
	"payment_mismatch_open",
}

// No statement reads all rows of a table that grows with the number of orders, because its time would grow with them.
// Neither does one read the rows of an argument in an inner loop on SQLite. SQLite has no statistics here, as in an
// installation, and chooses by the text alone. PostgreSQL reads a small table from its beginning whatever its indexes are, so
// it is told to prefer any other way.
func TestStatements_read_no_whole_table(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		db := sqldb.OpenConns(strings.TrimPrefix(sqldbtest.SQLiteURL(t), "sqlite:"), "")
		defer db.Close()
		read := 0
		explain := func(ctx context.Context, s *sqldb.Stmt) (steps []string, err error) {
			text := regexp.MustCompile(`\?\d*`).ReplaceAllString(s.InTx(), "NULL")
			rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text)
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			outer := map[int]bool{}
			for rows.Next() {
				var id, parent, unused int
				var step string
				if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
					return nil, err
				}
				steps = append(steps, step)
				// Loops of one parent are nested in their order.
				loop := strings.HasPrefix(step, "SCAN ") || strings.HasPrefix(step, "SEARCH ")
				if outer[parent] && strings.HasPrefix(step, "SCAN row_set") && s.Name != "sales_cells" { // a few time zones' periods
					t.Errorf("%s reads its rows again for each row of another table", s.Name)
				}
				outer[parent] = outer[parent] || loop
				if strings.HasPrefix(step, "SCAN row_set") {
					read++
				}
			}
			return steps, rows.Err()
		}
		wantNoWholeTable(t, sqldb.SQLite, explain, regexp.MustCompile(`^SCAN (\w+)`))
		if read < 100 {
			t.Errorf("only %d steps read the rows of an argument", read)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		db := testenv.Must(pgconn.Connect(t.Context(), sqldbtest.PostgresURL(t)))(t)
		defer func() { _ = db.Close(context.Background()) }()
		for _, set := range []string{"SET enable_seqscan = off", "SET plan_cache_mode = force_generic_plan"} {
			testenv.Must(db.Exec(t.Context(), set).ReadAll())(t)
		}
		explain := func(ctx context.Context, s *sqldb.Stmt) (steps []string, err error) {
			text := s.Text(sqldb.Postgres)
			d, err := db.Prepare(ctx, "", text, nil)
			if err != nil {
				return nil, err
			}
			arguments := ""
			if n := len(d.ParamOIDs); n > 0 {
				arguments = "(NULL" + strings.Repeat(", NULL", n-1) + ")"
			}
			results, err := db.Exec(ctx, "PREPARE it AS "+text+"; EXPLAIN EXECUTE it"+arguments+"; DEALLOCATE it").ReadAll()
			if err != nil {
				return nil, err
			}
			for _, row := range results[1].Rows {
				steps = append(steps, string(row[0]))
			}
			return steps, nil
		}
		wantNoWholeTable(t, sqldb.Postgres, explain, regexp.MustCompile(`Seq Scan on (\w+)`))
	})
}

// The inserts of an order copy no pages and fill no tables of their own: no CHECK has an IN, which needs such a table for each
// statement, and no index a function, which could fail after some rows (migration 55).
func TestStatements_insert_orders_without_copies(t *testing.T) {
	db := sqldb.OpenConns(strings.TrimPrefix(sqldbtest.SQLiteURL(t), "sqlite:"), "")
	defer db.Close()
	for dir, names := range map[string][]string{
		"../ordering/orderingsql": {"order_insert", "item_insert"},
		"../stock/stocksql":       {"hold_insert"},
		"../event/outbox":         {"event_append"},
	} {
		for _, name := range names {
			wantPlainInsert(t, db, name, sqldb.Load(os.DirFS(dir)).Must(name).InTx())
		}
	}
}

// wantPlainInsert fails unless a statement inserts rows without copies of pages.
func wantPlainInsert(t *testing.T, db *sql.DB, name, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "INSERT OR FAIL") {
		t.Errorf("%s begins with %.20s", name, text)
	}
	rows := testenv.Must(db.QueryContext(t.Context(), "EXPLAIN "+regexp.MustCompile(`\?\d*`).ReplaceAllString(text, "NULL")))(t)
	defer rows.Close()
	inserts := 0
	for rows.Next() {
		var opcode string
		var rest sql.RawBytes
		testenv.NoError(t, rows.Scan(&rest, &opcode, &rest, &rest, &rest, &rest, &rest, &rest))
		switch opcode {
		case "Insert":
			inserts++
		case "OpenEphemeral", "OpenAutoindex", "Function", "PureFunc":
			t.Errorf("%s uses %s", name, opcode)
		}
	}
	testenv.NoError(t, rows.Err())
	if inserts == 0 {
		t.Errorf("%s inserts nothing", name)
	}
}

// wantNoWholeTable fails for each statement of the program with a step that reads a whole table, and for each exception that
// is not needed.
func wantNoWholeTable(
	t *testing.T, e sqldb.Engine, explain func(context.Context, *sqldb.Stmt) ([]string, error), whole *regexp.Regexp,
) {
	t.Helper()
	var found []string
	for _, dir := range folders(t) {
		sqldb.Load(os.DirFS(dir)).All(func(s *sqldb.Stmt) {
			steps, err := explain(t.Context(), s)
			if err != nil {
				t.Errorf("%s cannot be explained: %v", s.Name, err)
			}
			for _, step := range steps {
				m := whole.FindStringSubmatch(step)
				if m == nil || !slices.Contains(growing, tableOf(s, m[1])) ||
					slices.ContainsFunc(open, func(index string) bool { return strings.HasSuffix(step, " INDEX "+index) }) {
					continue
				}
				if found = append(found, s.Name); !slices.Contains(wholeTables[e], s.Name) {
					t.Errorf("%s reads a whole table: %s", s.Name, step)
				}
			}
		})
	}
	for _, name := range wholeTables[e] {
		if !slices.Contains(found, name) {
			t.Errorf("%s needs no exception", name)
		}
	}
}

// tableOf returns the table of an alias in a statement, and a table as it is.
func tableOf(s *sqldb.Stmt, alias string) string {
	named := regexp.MustCompile(`(?i)\b(\w+)\s+(?:AS\s+)?` + alias + `\b`)
	for _, m := range named.FindAllStringSubmatch(s.Text(sqldb.SQLite), -1) {
		if slices.Contains(growing, m[1]) {
			return m[1]
		}
	}
	return alias
}

// folders returns the folders with statements of the program. Those of package queuesql are templates, and their tables
// have rows for waiting work only.
func folders(t *testing.T) []string {
	t.Helper()
	var dirs []string
	testenv.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && slices.Contains([]string{"migrations", "queuesql", "bench", "testdata"}, d.Name()) || strings.HasSuffix(path, "test") {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".sql" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	}))
	return slices.Compact(dirs)
}
