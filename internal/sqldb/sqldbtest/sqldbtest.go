// Package sqldbtest gives tests a migrated database of their own on each engine.
package sqldbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Each runs a test once on SQLite and once on PostgreSQL, each time on a fresh database with the newest schema.
func Each(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// SQLite opens a fresh database file.
func SQLite(t testing.TB) *sqldb.DB {
	t.Helper()
	return open(t, SQLiteURL(t))
}

// SQLiteURL names a database file that does not exist yet.
func SQLiteURL(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") }

// Postgres creates a database on the server that the environment names, and drops it after the test.
func Postgres(t testing.TB) *sqldb.DB {
	t.Helper()
	return open(t, PostgresURL(t))
}

// PostgresURL creates a database for the test alone. It is a copy of a migrated template, made once per process, because
// a copy takes a tenth of the time that the migrations take.
func PostgresURL(t testing.TB) string {
	t.Helper()
	admin := testenv.Postgres(t)
	template := postgresTemplate(t, admin)
	name := "comanda_test_" + random()
	execute(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template)
	t.Cleanup(func() { execute(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return withDatabase(t, admin, name)
}

var template struct {
	sync.Mutex
	name string
}

// postgresTemplate makes the template on first use. It is dropped by the next process that finds it older than an hour,
// since no test knows that it is the last.
func postgresTemplate(t testing.TB, admin string) string {
	t.Helper()
	template.Lock()
	defer template.Unlock()
	if template.name != "" {
		return template.name
	}
	dropOld(t, admin)
	name := "comanda_template_" + time.Now().UTC().Format("20060102150405") + "_" + random()
	execute(t, admin, "CREATE DATABASE "+name)
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: withDatabase(t, admin, name)})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Migrate(t.Context())
	db.Close()
	if err != nil {
		t.Fatal(err)
	}
	template.name = name
	return name
}

func dropOld(t testing.TB, admin string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	before := "comanda_template_" + time.Now().UTC().Add(-time.Hour).Format("20060102150405")
	rows, err := conn.Query(t.Context(),
		`SELECT datname FROM pg_database WHERE datname LIKE 'comanda\_template\_%' AND datname < $1`, before)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		_, _ = conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+name) // another process may be dropping it too
	}
}

func open(t testing.TB, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: address, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func withDatabase(t testing.TB, admin, name string) string {
	t.Helper()
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func execute(t testing.TB, admin, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

func random() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// PrepareAll has both engines compile every statement of a package, so that a misspelt column fails a test and not an
// order.
func PrepareAll(t *testing.T, stmts *sqldb.Stmts) {
	t.Helper()
	Each(t, func(t *testing.T, db *sqldb.DB) {
		stmts.All(func(s *sqldb.Stmt) {
			if err := db.Prepare(t.Context(), s); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		})
	})
}

var waiting = sqldb.Load(fstest.MapFS{"waiting.sql": {Data: []byte(`
	SELECT /*pg: count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' *//*sqlite: 1 */`)}})

// Waits tells whether a transaction waits for another one's lock. On SQLite it always does: whoever writes is alone.
func Waits(ctx context.Context, db *sqldb.DB) (bool, error) {
	rows, err := db.Query(ctx, waiting.Must("waiting"))
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	return n > 0, err
}
