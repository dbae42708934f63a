package sqldb_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var stmts = sqldb.Load(fstest.MapFS{
	"number_upsert.sql": {Data: []byte(`
		INSERT INTO order_number (branch_id, biz_date, last)
		SELECT b, d, n FROM @rows($1: b int, d text, n int) AS r WHERE true
		ON CONFLICT (branch_id, biz_date) DO UPDATE SET last = order_number.last + excluded.last`)},
	"number_insert.sql": {Data: []byte(`INSERT INTO order_number (branch_id, biz_date, last) VALUES ($1, $2, $3)`)},
	"number_put.sql": {Data: []byte(`
		INSERT INTO order_number (branch_id, biz_date, last) SELECT r.b, r.d, r.n FROM @rows($1: b int, d text, n int) AS r`)},
	"number_put_new.sql": {Data: []byte(`
		INSERT INTO order_number (branch_id, biz_date, last) SELECT r.b, r.d, r.n FROM @rows($1: b int, d text, n int) AS r WHERE true
		ON CONFLICT (branch_id, biz_date) DO NOTHING`)},
	"number_put_back.sql": {Data: []byte(`
		INSERT INTO order_number (branch_id, biz_date, last) SELECT r.b, r.d, r.n FROM @rows($1: b int, d text, n int) AS r
		RETURNING branch_id, last`)},
	"number_add.sql": {Data: []byte(`
		UPDATE order_number SET last = order_number.last + r.n
		FROM @rows($1: b int, d text, n int) AS r
		WHERE order_number.branch_id = r.b AND order_number.biz_date = r.d
		RETURNING order_number.branch_id, order_number.last`)},
	"number_select.sql": {Data: []byte(`
		SELECT o.branch_id, o.last FROM order_number o
		JOIN @rows($1: b int) AS r ON r.b = o.branch_id ORDER BY o.branch_id /*pg: FOR UPDATE OF o*/`)},
	"number_look.sql": {Data: []byte(`SELECT branch_id, last FROM order_number ORDER BY branch_id`)},
	"counter_insert.sql": {Data: []byte(`
		INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap, held_qty, used_qty)
		VALUES ($1, '2026-02-26', 1, 1, $2, 0)`)},
	"table_insert.sql":   {Data: []byte(`INSERT INTO dining_table (branch_id, label) VALUES ($1, 'x')`)},
	"unknown_table.sql":  {Data: []byte(`DELETE FROM nowhere`)},
	"unknown_column.sql": {Data: []byte(`UPDATE order_number SET absent = 1`)},
	"kinds_select.sql": {Data: []byte(`SELECT id, at, flag, note, texts FROM (
		SELECT 1 AS id, CAST(1772107200005 AS BIGINT) AS at, 1 AS flag, CAST('dry' AS TEXT) AS note, CAST('{"en":"tea"}' AS TEXT) AS texts
		UNION ALL SELECT 2, NULL, 0, NULL, '{}'
		UNION ALL SELECT 3, 0, 0, '', '[') AS rows ORDER BY id`)},
	"nulls_select.sql": {Data: []byte(`
		SELECT r.n || ' ' || coalesce(r.a, '-') || ' ' || coalesce(r.b, '-') || ' ' || coalesce(CAST(r.c AS TEXT), '-')
		FROM @rows($1: a text, b text, c int, n int) AS r ORDER BY r.n`)},
	"no_sql.sql": {Data: []byte(`SELEKT 1`)},
	"idle_timeout.sql": {Data: []byte(`
		SELECT /*pg: current_setting('idle_in_transaction_session_timeout')*/ /*sqlite: ''*/`)},
	"statistics_gather.sql": {Data: []byte(`ANALYZE order_number`)},
	"statistics_flush.sql":  {Data: []byte(`SELECT 1 FROM (SELECT pg_stat_force_next_flush()) AS flush`)},
	"statistics_rows.sql": {Data: []byte(`
		SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = CAST('order_number' AS regclass)`)},
	"endless.sql": {Data: []byte(`
		WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 2000000000)
		SELECT n AS "endless of TestRows_connection_lost" FROM number`)},
})

func numbers(n ...int64) *sqldb.RowSet {
	return sqldb.NewRowSet(len(n)).
		Int("b", func(i int) int64 { return int64(i) + 1 }).
		Text("d", func(int) string { return "2026-02-26" }).
		Int("n", func(i int) int64 { return n[i] })
}

func branches(n int) *sqldb.RowSet {
	return sqldb.NewRowSet(n).Int("b", func(i int) int64 { return int64(i) + 1 })
}

func read(t *testing.T, db sqldb.Conn, n int) [][2]int64 {
	t.Helper()
	return testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Pair, stmts.Must("number_select"), branches(n)))(t)
}

func TestDB_rowSets(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for range 2 {
			testenv.Equal(t, 3, testenv.Must(db.Exec(t.Context(), stmts.Must("number_upsert"), numbers(10, 20, 30)))(t))
		}
		testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			added, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmts.Must("number_add"), numbers(1, 2))
			if len(added) != 2 {
				t.Errorf("returned %v", added)
			}
			return err
		}))
		testenv.Equal(t, [][2]int64{{1, 21}, {2, 42}, {3, 60}}, read(t, db, 3))
		testenv.Equal(t, 0, testenv.Must(db.Exec(t.Context(), stmts.Must("number_upsert"), numbers()))(t))
	})
}

// NULLs arrive in their rows, wherever in a column they are, and a row of NULLs alone is a row.
func TestRowSet_nulls(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, c := range []struct{ a, b, c, want string }{
			{"abc", "def", "ghi", "0 a d 103,1 b e 104,2 c f 105"},
			{"x-z", "-y-", "x--", "0 x - 120,1 - y -,2 z - -"},
			{"---", "---", "---", "0 - - -,1 - - -,2 - - -"},
			{"-", "-", "-", "0 - - -"},
			{"", "", "", ""},
		} {
			text := func(of string) func(int) (string, bool) {
				return func(i int) (string, bool) { return of[i : i+1], of[i] != '-' }
			}
			rows := sqldb.NewRowSet(len(c.a)).
				NullText("a", text(c.a)).
				NullText("b", text(c.b)).
				NullInt("c", func(i int) (int64, bool) { return int64(c.c[i]), c.c[i] != '-' }).
				Int("n", func(i int) int64 { return int64(i) })
			got := testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Value[string], stmts.Must("nulls_select"), rows))(t)
			testenv.Equal(t, c.want, strings.Join(got, ","))
		}
	})
}

// Rows that are copied into a table count and fail as one statement, although SQLite inserts them one by one.
func TestTx_inserts_rows(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		put, putNew := stmts.Must("number_put"), stmts.Must("number_put_new")
		testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			tx.QueueExactly(2, put, numbers(7, 8))
			tx.QueueExactly(0, put, numbers())
			n, err := tx.Exec(ctx, putNew, numbers(1, 2, 9))
			testenv.Equal(t, 1, n)
			return err
		}))
		want := [][2]int64{{1, 7}, {2, 8}, {3, 9}}
		testenv.Equal(t, want, read(t, db, 9))
		repeated := func() *sqldb.RowSet {
			return sqldb.NewRowSet(4).
				Int("b", func(i int) int64 { return 5 - int64(i) }). // 5, 4, and then 3, which exists
				Text("d", func(int) string { return "2026-02-26" }).
				Int("n", func(int) int64 { return 4 })
		}
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			tx.Queue(put, repeated())
			return nil
		})
		testenv.ErrorIs(t, sqldb.ErrUnique, err, "a repeated key")
		testenv.Equal(t, want, read(t, db, 9))
		err = db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			_, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmts.Must("number_put_back"), repeated())
			testenv.ErrorIs(t, sqldb.ErrUnique, err, "a repeated key of a statement that returns rows")
			return nil
		})
		if err == nil {
			t.Error("a transaction with a failed statement is committed")
		}
		testenv.Equal(t, want, read(t, db, 9))
		if n, err := db.Exec(t.Context(), put, numbers(1)); n != 0 || !errors.Is(err, sqldb.ErrUnique) {
			t.Errorf("outside a transaction: %d, %v", n, err)
		}
		err = db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			_, err := tx.Exec(ctx, put, branches(1))
			return err
		})
		if err == nil {
			t.Error("rows with other columns are accepted")
		}
	})
}

func TestDB_Write(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		t.Run("commits what is queued and what is asked", func(t *testing.T) {
			testenv.NoError(t, db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
				tx.QueueExactly(2, stmts.Must("number_upsert"), numbers(1, 2))
				got, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmts.Must("number_select"), branches(2))
				if err != nil || len(got) != 2 {
					t.Errorf("inside: %v, %v", got, err)
				}
				tx.Queue(stmts.Must("number_upsert"), numbers(5))
				return nil
			}))
			testenv.Equal(t, [][2]int64{{1, 6}, {2, 2}}, read(t, db, 9))
		})
		t.Run("an error undoes all", func(t *testing.T) {
			boom := errors.New("boom")
			err := db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
				if _, err := tx.Exec(ctx, stmts.Must("number_upsert"), numbers(100, 100)); err != nil {
					return err
				}
				return boom
			})
			testenv.ErrorIs(t, boom, err)
			testenv.Equal(t, [][2]int64{{1, 6}, {2, 2}}, read(t, db, 9))
		})
		t.Run("another number of rows undoes all", func(t *testing.T) {
			err := db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
				tx.QueueExactly(1, stmts.Must("number_upsert"), numbers(7, 7))
				return nil
			})
			testenv.ErrorIs(t, sqldb.ErrAffected, err)
			testenv.Equal(t, [][2]int64{{1, 6}, {2, 2}}, read(t, db, 9))
		})
		t.Run("asks to run again are followed", func(t *testing.T) {
			runs := 0
			err := db.Write(ctx, func(context.Context, sqldb.Tx) error {
				if runs++; runs < 3 {
					return sqldb.ErrRetry
				}
				return nil
			})
			if err != nil || runs != 3 {
				t.Errorf("%d runs, %v", runs, err)
			}
		})
		t.Run("an ended context changes nothing", func(t *testing.T) {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if err := db.Write(ended, func(context.Context, sqldb.Tx) error { t.Error("ran"); return nil }); err == nil {
				t.Error("no error")
			}
		})
	})
}

func TestDB_Snapshot(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		put := func(t *testing.T, n int64) {
			t.Helper()
			testenv.Must(db.Exec(ctx, stmts.Must("number_upsert"), numbers(n)))(t)
		}
		same := func(t *testing.T, at sqldb.Reader, want int64) {
			t.Helper()
			got, err := sqldb.Collect(ctx, at, sqldb.Pair, stmts.Must("number_look"))
			if diff := cmp.Diff([][2]int64{{1, want}}, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		}
		put(t, 10)
		t.Run("answers are of the moment of the first", func(t *testing.T) {
			testenv.NoError(t, db.Snapshot(ctx, func(_ context.Context, at sqldb.Reader) error {
				put(t, 1)
				same(t, at, 11)
				put(t, 1)
				same(t, db, 12)
				same(t, at, 11)
				return db.Snapshot(ctx, func(_ context.Context, later sqldb.Reader) error {
					same(t, later, 12)
					same(t, at, 11)
					return nil
				})
			}))
			same(t, db, 12)
		})
		t.Run("nothing can be written", func(t *testing.T) {
			err := db.Snapshot(ctx, func(ctx context.Context, at sqldb.Reader) error {
				_, err := sqldb.Collect(ctx, at, sqldb.Pair, stmts.Must("number_add"), numbers(5))
				return err
			})
			if err == nil {
				t.Error("no error")
			}
			same(t, db, 12)
		})
		t.Run("connections come back clean", func(t *testing.T) {
			boom := errors.New("boom")
			for range 20 { // more than there are connections
				err := db.Snapshot(ctx, func(_ context.Context, at sqldb.Reader) error {
					same(t, at, 12)
					return boom
				})
				testenv.ErrorIs(t, boom, err)
			}
			put(t, 1)
			for range 20 {
				same(t, db, 13)
			}
			put(t, -1)
		})
		t.Run("also when its context ends", func(t *testing.T) {
			for range 20 {
				ending, cancel := context.WithCancel(ctx)
				err := db.Snapshot(ending, func(ctx context.Context, at sqldb.Reader) error {
					same(t, at, 12)
					cancel()
					_, err := at.Query(ctx, stmts.Must("number_look"))
					return err
				})
				if err == nil {
					t.Fatal("no error")
				}
			}
			put(t, 1)
			same(t, db, 13)
		})
	})
}

func TestDB_errorsAreNeutral(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		insert := func() error {
			_, err := db.Exec(t.Context(), stmts.Must("number_insert"), 1, "2026-02-26", 1)
			return err
		}
		testenv.NoError(t, insert())
		testenv.ErrorIs(t, sqldb.ErrUnique, insert(), "twice")
		if _, err := db.Exec(t.Context(), stmts.Must("counter_insert"), 1, -1); !errors.Is(err, sqldb.ErrCheck) {
			t.Errorf("negative: %v", err)
		}
		if _, err := db.Exec(t.Context(), stmts.Must("table_insert"), 404); !errors.Is(err, sqldb.ErrForeignKey) {
			t.Errorf("orphan: %v", err)
		}
		for _, name := range []string{"unknown_table", "unknown_column", "no_sql"} {
			_, err := db.Exec(t.Context(), stmts.Must(name))
			if err == nil || errors.Is(err, sqldb.ErrSchema) != (name != "no_sql") {
				t.Errorf("Exec(%s) = %v, want ErrSchema %t", name, err, name != "no_sql")
			}
		}
	})
}

// A database that refuses the connection is ErrUnavailable, whatever its reason.
func TestOpen_refused_connection(t *testing.T) {
	address := testenv.Must(url.Parse(testenv.Postgres(t)))(t)
	address.Path = "/no_such_database_of_comanda"
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: address.String()})
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, sqldb.ErrUnavailable) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a database that does not exist: %v, want ErrUnavailable with its cause", err)
	}
}

// The driver tries a server with and without TLS. The reason of both attempts is in the error once, in one line, and the
// password is not.
func TestOpen_reason_once(t *testing.T) {
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: "postgres://u:hunter2@" + testenv.FreeAddr(t) + "/d"})
	if err == nil {
		db.Close()
		t.Fatal("a server that does not run is opened")
	}
	if text := err.Error(); strings.Count(text, "refused") != 1 || strings.Contains(text, "\n") || strings.Contains(text, "hunter2") {
		t.Errorf("the error is %q, want the reason once, in one line, without the password", text)
	}
	testenv.ErrorIs(t, sqldb.ErrUnavailable, err)
}

// A connection lost between two rows is ErrUnavailable, wherever the rows are read.
func TestRows_connection_lost(t *testing.T) {
	db := sqldbtest.Postgres(t)
	endless := stmts.Must("endless")
	admin := testenv.Must(pgx.Connect(t.Context(), testenv.Postgres(t)))(t)
	defer admin.Close(context.Background())
	// lost terminates the connection of a query at its first row.
	lost := func() func(sqldb.Rows) error {
		first := true
		return func(sqldb.Rows) error {
			if !first {
				return nil
			}
			first = false
			testenv.Must(admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname <> current_database() AND query LIKE '%endless of TestRows_connection_lost%'`))(t)
			return nil
		}
	}
	query := func(on sqldb.Reader) error { return sqldb.Each(t.Context(), on, lost(), endless) }
	for name, read := range map[string]func() error{
		"alone": func() error { return query(db) },
		"collected": func() error {
			read := lost()
			_, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (int, error) { return 0, read(r) }, endless)
			return err
		},
		"in a transaction": func() error {
			return db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error { return query(tx) })
		},
		"queued": func() error {
			return db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
				tx.QueueQuery(lost(), endless)
				return tx.Flush(ctx)
			})
		},
		"in a snapshot": func() error {
			return db.Snapshot(t.Context(), func(_ context.Context, at sqldb.Reader) error { return query(at) })
		},
	} {
		if err := read(); !sqldb.IsUnavailable(err) {
			t.Errorf("read %s = %v, want unavailable", name, err)
		}
	}
}

// A table's statistics are gathered when it has more than four times as many rows as at the last time, and not before.
func TestDB_RefreshStatistics(t *testing.T) {
	db := sqldbtest.Postgres(t)
	// grow inserts rows and has PostgreSQL count them at the end of the transaction, not up to ten seconds later.
	grow := func(from, to int) {
		testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			tx.Queue(stmts.Must("number_put"), sqldb.NewRowSet(to-from).
				Int("b", func(i int) int64 { return int64(from + i) }).
				Text("d", func(int) string { return "2026-02-26" }).
				Int("n", func(int) int64 { return 1 }))
			_, _, err := sqldb.One(ctx, tx, sqldb.Value[int], stmts.Must("statistics_flush"))
			return err
		}))
	}
	// The database may have been used by an earlier run.
	testenv.Must(db.Exec(t.Context(), stmts.Must("statistics_gather")))(t)
	for _, step := range []struct {
		from, to int
		want     int64 // rows in the planner's statistics
	}{
		{0, 100, 0}, {100, 101, 101}, {101, 404, 101}, {404, 405, 405},
	} {
		grow(step.from, step.to)
		testenv.NoError(t, db.RefreshStatistics(t.Context()))
		if got := testenv.Must(sqldb.Scalar[int64](t.Context(), db, stmts.Must("statistics_rows")))(t); got != step.want {
			t.Errorf("with %d rows, the statistics have %d, want %d", step.to, got, step.want)
		}
	}
	testenv.NoError(t, sqldbtest.SQLite(t).RefreshStatistics(t.Context())) // does nothing
}

// A query whose rows arrive after the reader's deadline fails in the same way.
func TestRows_deadline(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := sqldb.Collect(ctx, db, sqldb.Value[int], stmts.Must("endless")); !sqldb.IsUnavailable(err) {
			t.Error(err)
		}
	})
}

// Only the owner can read a SQLite database and the files that SQLite keeps beside it. Opening files of an older
// version removes the permissions of others.
func TestOpen_private(t *testing.T) {
	modes := func(dir string) string {
		var all []string
		for _, name := range []string{"", "comanda.db", "comanda.db-wal", "comanda.db-shm"} {
			info := testenv.Must(os.Stat(filepath.Join(dir, name)))(t)
			all = append(all, info.Mode().Perm().String())
		}
		return strings.Join(all, " ")
	}
	dir := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(dir, "comanda.db")
	open := func() {
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + path}))(t)
		t.Cleanup(db.Close)
		testenv.NoError(t, db.Migrate(t.Context()))
		if _, err := db.Exec(t.Context(), stmts.Must("number_add"), numbers(1)); err != nil { // creates the other files
			t.Fatal(err)
		}
	}
	open()
	const private = "-rwx------ -rw------- -rw------- -rw-------"
	testenv.Equal(t, private, modes(dir))
	for _, name := range []string{"", "-wal", "-shm"} { // the permissions of older versions
		testenv.NoError(t, os.Chmod(path+name, 0o644))
	}
	open()
	testenv.Equal(t, private, modes(dir))
}

func TestOpen_unreachable(t *testing.T) {
	_, err := sqldb.Open(t.Context(), sqldb.Config{URL: "postgres://nobody:secret@127.0.0.1:1/none"})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
	if _, err := sqldb.Open(t.Context(), sqldb.Config{URL: "mysql://x"}); err == nil {
		t.Error("an unknown engine was accepted")
	}
}

func TestDB_Migrate(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		if err := db.Migrate(ctx); err != nil {
			t.Fatalf("again: %v", err)
		}
		all, err := db.Migrations(ctx)
		if err != nil || len(all) == 0 {
			t.Fatalf("Migrations = %v, %v, want at least one", all, err)
		}
		for range all {
			testenv.NoError(t, db.MigrateDown(ctx))
		}
		if err := db.Migrate(ctx); err != nil {
			t.Fatalf("up after down: %v", err)
		}
	})
}

func TestDB_Now(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if d := time.Since(db.Now()).Abs(); d > 5*time.Second {
			t.Errorf("the deciding clock is %v away on one machine", d)
		}
		if now := db.Now(); now.Location() != time.UTC || now.Nanosecond()%1e6 != 0 {
			t.Errorf("%v is not UTC in whole milliseconds", now)
		}
	})
}

func TestDB_versionAndDurability(t *testing.T) {
	test := func(t *testing.T, url string) {
		t.Helper()
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: url}))(t)
		t.Cleanup(db.Close)
		if v, err := db.Version(t.Context()); err != nil || v == "" {
			t.Errorf("version %q, %v", v, err)
		}
		testenv.NoError(t, db.Durable(t.Context()))
	}
	t.Run("sqlite", func(t *testing.T) { test(t, sqldbtest.SQLiteURL(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, sqldbtest.PostgresURL(t)) })
}
