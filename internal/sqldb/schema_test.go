package sqldb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// A binary runs on a later release's schema as long as the schema allows it, and reverts no migration.
func TestDB_Schema(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		want := func(newer bool, refusal error) {
			t.Helper()
			s, err := db.Schema(t.Context())
			if err != nil || s.Newer() != newer || !errors.Is(s.Check(), refusal) {
				t.Fatalf("%+v: newer %t, %v, %v; want %t, %v", s, s.Newer(), s.Check(), err, newer, refusal)
			}
		}
		want(false, nil)
		sqldbtest.MigrateLater(t, db, 9000, 20)
		testenv.NoError(t, db.Migrate(t.Context()))
		want(true, nil)
		sqldbtest.MigrateLater(t, db, 9001, 9000)
		testenv.NoError(t, db.Migrate(t.Context()))
		want(true, sqldb.ErrSchemaNewer)
		if s, _ := db.Schema(t.Context()); fault.KindOf(s.Check()) != fault.Unavailable {
			t.Errorf("%v is no 503", s.Check())
		}
	})
}

// Every migration records the oldest binary that may run after it, and its down migration removes the record.
func TestMigrations_stateTheOldestBinary(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) < 22 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(file), "%04d_", &n); err != nil || n != i+1 {
			t.Errorf("%s is file %d", file, i+1)
		}
		text := testenv.Must(os.ReadFile(file))(t)
		up, down, _ := strings.Cut(string(text), "-- +goose Down")
		if n <= 22 {
			continue // migration 22 creates the table and fills it
		}
		if !strings.Contains(up, fmt.Sprintf("INSERT INTO schema_floor (version, oldest) VALUES (%d, ", n)) ||
			!strings.Contains(down, fmt.Sprintf("DELETE FROM schema_floor WHERE version = %d;", n)) {
			t.Errorf("%s does not say which is the oldest binary that may run after it", file)
		}
	}
}

// The runbook names every migration that needs a stop of all servers: no binary without it may run after it.
func TestMigrations_runbook_names_those_that_need_a_stop(t *testing.T) {
	files := testenv.Must(filepath.Glob("migrations/*.sql"))(t)
	var stops []string
	for i, file := range files {
		text := string(testenv.Must(os.ReadFile(file))(t))
		if n := i + 1; strings.Contains(text, fmt.Sprintf("INSERT INTO schema_floor (version, oldest) VALUES (%d, %[1]d);", n)) {
			stops = append(stops, strconv.Itoa(n))
		}
	}
	last := len(stops) - 1
	want := "(migrations " + strings.Join(stops[:last], ", ") + " and " + stops[last] + ")"
	if runbook := string(testenv.Must(os.ReadFile("../../docs/runbook.md"))(t)); !strings.Contains(runbook, want) {
		t.Errorf("docs/runbook.md does not say %q", want)
	}
}
