// Package sqldbtest provides each test with a migrated database of its own on either engine.
package sqldbtest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Each runs a test once on SQLite and once on PostgreSQL, each time on an empty database with the newest schema.
func Each(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// SQLite opens a new database file for the test.
func SQLite(t testing.TB) *sqldb.DB {
	t.Helper()
	return open(t, SQLiteURL(t))
}

// SQLiteURL returns the address of a new database file for the test. The file is in memory where possible: no test
// needs it to survive a crash of the machine.
func SQLiteURL(t testing.TB) string {
	t.Helper()
	path := filepath.Join(testenv.MemoryDir(t), "test.db")
	WriteSQLite(t, path)
	return "sqlite:" + path
}

// WriteSQLite writes an empty database with the newest schema to a file. It copies a file that is migrated once per
// process.
func WriteSQLite(t testing.TB, path string) {
	t.Helper()
	file := testenv.Must(migratedFile())(t)
	testenv.NoError(t, os.WriteFile(path, file, 0o600))
}

// migratedFile returns the bytes of an empty database with the newest schema.
var migratedFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "comanda-schema-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "schema.db")
	if err := migrate(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	return os.ReadFile(path) // closing the last connection has merged the write-ahead log into it
})

// Postgres opens a database for the test on the server that the environment names.
func Postgres(t testing.TB) *sqldb.DB {
	t.Helper()
	return open(t, Unsynced(PostgresURL(t)))
}

// MigrateBefore migrates a database back to the schema before a version.
func MigrateBefore(t testing.TB, db *sqldb.DB, version int64) {
	t.Helper()
	for _, m := range slices.Backward(testenv.Must(db.Migrations(t.Context()))(t)) {
		if m.Applied && m.Version >= version {
			testenv.NoError(t, db.MigrateDown(t.Context()))
		}
	}
}

// Unsynced returns the address with synchronous_commit off. Waiting for the disk takes most of the time of a small
// transaction, and only a crash of the server would show the difference.
func Unsynced(address string) string {
	u, _ := url.Parse(address) // valid: PostgresURL returned it
	q := u.Query()
	q.Set("synchronous_commit", "off")
	u.RawQuery = q.Encode()
	return u.String()
}

// PostgresURL returns the address of a database for the test's exclusive use until it ends.
func PostgresURL(t testing.TB) string {
	t.Helper()
	admin := testenv.Postgres(t)
	db := databases.take(t, admin)
	t.Cleanup(func() { databases.put(db) })
	return withDatabase(admin, db.name)
}

// open closes the database with the test, before a database of the pool goes to another test.
func open(t testing.TB, address string) *sqldb.DB {
	t.Helper()
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address, MaxConns: 8}))(t)
	t.Cleanup(db.Close)
	return db
}

// migrate opens a database of its own, so that no connection stays open: PostgreSQL copies only templates without
// connections.
func migrate(ctx context.Context, address string) error {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Migrate(ctx)
}

func withDatabase(address, name string) string {
	u, _ := url.Parse(address) // valid: testenv.Postgres has parsed it
	u.Path = "/" + name
	return u.String()
}

// PrepareAll compiles every statement of a package on both engines, so that a misspelt column fails a test instead of
// an order.
func PrepareAll(t *testing.T, stmts *sqldb.Stmts) {
	t.Helper()
	Each(t, func(t *testing.T, db *sqldb.DB) {
		stmts.All(func(s *sqldb.Stmt) {
			if err := db.Prepare(t.Context(), s); err != nil {
				t.Errorf("Prepare(%s) = %v", s.Name, err)
			}
		})
	})
}

var waiting = sqldb.Load(fstest.MapFS{"waiting.sql": {Data: []byte(`
	SELECT /*pg: count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' *//*sqlite: 1 */`)}})

// Waits reports whether a transaction waits for another one's lock. On SQLite it always returns true, because only one
// transaction writes at a time.
func Waits(ctx context.Context, db *sqldb.DB) (bool, error) {
	n, err := sqldb.Scalar[int64](ctx, db, waiting.Must("waiting"))
	return n > 0, err
}

var later = sqldb.Load(fstest.MapFS{
	"step.sql":  {Data: []byte(`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`)},
	"floor.sql": {Data: []byte(`INSERT INTO schema_floor (version, oldest) VALUES ($1, $2)`)},
})

// MigrateLater marks a schema as migrated to version by a later release, on which only binaries that know migration
// oldest may run.
func MigrateLater(t testing.TB, db *sqldb.DB, version, oldest int64) {
	t.Helper()
	testenv.Must(db.Exec(t.Context(), later.Must("step"), version))(t)
	testenv.Must(db.Exec(t.Context(), later.Must("floor"), version, oldest))(t)
}
