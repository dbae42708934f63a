package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// demoRows is the whole content of a PostgreSQL database after the first start with the demo. Loading it skips the
// hashing of nine passwords, which is most of that start.
type demoRows struct {
	tables []demoTable
	counts string // statements that set the sequences
}

type demoTable struct {
	name string
	rows []byte // as COPY writes them
}

// demoPostgres returns the rows of the demo, which are created once for all tests.
func (l *sharedResources) demoPostgres(t *testing.T) demoRows {
	t.Helper()
	return l.postgres.get(func() (d demoRows) {
		address := sqldbtest.PostgresURL(t)
		loadDemo(t, pooled(address))
		onPostgres(t, address, func(ctx context.Context, conn *pgx.Conn) error {
			names, err := strs(ctx, conn, `SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'`)
			if err != nil {
				return err
			}
			for _, name := range names {
				var rows bytes.Buffer
				if _, err := conn.PgConn().CopyTo(ctx, &rows, "COPY "+name+" TO STDOUT"); err != nil {
					return err
				}
				d.tables = append(d.tables, demoTable{name, rows.Bytes()})
			}
			counts, err := strs(ctx, conn, `SELECT format('SELECT setval(%L, %s)', quote_ident(sequencename), last_value)
				FROM pg_sequences WHERE last_value IS NOT NULL`)
			d.counts = strings.Join(counts, ";")
			return err
		})
		return d
	})
}

// load replaces the rows of a migrated database. It disables foreign keys meanwhile, because the tables are in no
// particular order.
func (d demoRows) load(t *testing.T, address string) {
	t.Helper()
	onPostgres(t, address, func(ctx context.Context, conn *pgx.Conn) error {
		statements := []string{"BEGIN", "SET LOCAL session_replication_role = replica"}
		for _, table := range d.tables {
			statements = append(statements, "DELETE FROM "+table.name)
		}
		if _, err := conn.PgConn().Exec(ctx, strings.Join(statements, ";")).ReadAll(); err != nil {
			return err
		}
		for _, table := range d.tables {
			if len(table.rows) == 0 {
				continue
			}
			if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(table.rows), "COPY "+table.name+" FROM STDIN"); err != nil {
				return fmt.Errorf("%s: %w", table.name, err)
			}
		}
		_, err := conn.PgConn().Exec(ctx, d.counts+";COMMIT").ReadAll()
		return err
	})
}

func onPostgres(t *testing.T, address string, do func(ctx context.Context, conn *pgx.Conn) error) {
	t.Helper()
	conn := testenv.Must(pgx.Connect(t.Context(), address))(t)
	defer func() { _ = conn.Close(context.Background()) }() // t's context may have ended
	testenv.NoError(t, do(t.Context(), conn))
}

func strs(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// demoSQLite returns the database file after the first start with the demo, which is created once for all tests.
func (l *sharedResources) demoSQLite(t *testing.T) []byte {
	t.Helper()
	return l.sqlite.get(func() []byte {
		path := filepath.Join(t.TempDir(), "comanda.db")
		loadDemo(t, "sqlite:"+path)
		// Closing the database merges the write-ahead log into the file.
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			t.Fatalf("a stopped server has left a write-ahead log of %d bytes", log.Size())
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return file
	})
}

// loadDemo starts a server with the demo on a database and stops it when the demo is complete.
func loadDemo(t *testing.T, address string) {
	t.Helper()
	s := bare(t, embedded, settings{"DATABASE_URL": address, "DEMO_PASSWORD": demoPassword})
	v := s.servers[0]
	v.start()
	v.awaitGreeting()
	v.stop()
}
