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
// Neither does one read the rows of an argument, which SQLite parses as JSON, in an inner loop. SQLite has no statistics
// here, as in an installation, and chooses by the text alone. PostgreSQL reads a small table from its beginning whatever
// its indexes are, so it is told to prefer any other way.
func TestStatements_read_no_whole_table(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		db := testenv.Must(sql.Open("sqlite", strings.TrimPrefix(sqldbtest.SQLiteURL(t), "sqlite:")))(t)
		defer db.Close()
		byRow := 0
		explainText := func(ctx context.Context, s *sqldb.Stmt, text string) (steps []string, err error) {
			text = regexp.MustCompile(`\?\d*`).ReplaceAllString(text, "NULL")
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
				if outer[parent] && strings.HasPrefix(step, "SCAN json_each") && s.Name != "sales_cells" { // a few time zones' periods
					t.Errorf("%s parses its rows again for each row of another table", s.Name)
				}
				outer[parent] = outer[parent] || loop
			}
			return steps, rows.Err()
		}
		explain := func(ctx context.Context, s *sqldb.Stmt) ([]string, error) {
			steps, err := explainText(ctx, s, s.Text(sqldb.SQLite))
			if err != nil || s.RowText() == "" {
				return steps, err
			}
			byRow++
			more, err := explainText(ctx, s, s.RowText())
			return append(steps, more...), err
		}
		wantNoWholeTable(t, sqldb.SQLite, explain, regexp.MustCompile(`^SCAN (\w+)`))
		if byRow < 40 {
			t.Errorf("only %d statements run once per row", byRow)
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
