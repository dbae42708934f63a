package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var rowStmts = sqldb.Load(fstest.MapFS{
	"cells_select.sql": {Data: []byte(`SELECT r.a, r.b, coalesce(r.c, 'none'), coalesce(r.d, -1)
		FROM @rows($1: a text, b int, c text, d int) AS r ORDER BY r.b`)},
	"pairs_select.sql": {Data: []byte(`SELECT x.a, y.b FROM @rows($1: a int) AS x, @rows($2: b int) AS y WHERE y.b > $3 ORDER BY x.a, y.b`)},
})

// Cells arrive as they are, whatever characters and numbers they have.
func TestRowSet_cells(t *testing.T) {
	type cell struct {
		A string
		B int64
		C string
		D int64
	}
	texts := []string{"plain", "q\"\\\n phở 😀 ' %", "", "[1, null]", "007", strings.Repeat("long ", 5000)}
	numbers := []int64{-1 << 63, -1, 0, 7, 1<<53 + 1, 1<<63 - 1}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var want []cell
		for i := range texts {
			c := cell{texts[i], numbers[i], "none", -1}
			if i%2 == 0 {
				c.C = texts[i]
			} else {
				c.D = numbers[i]
			}
			want = append(want, c)
		}
		rows := sqldb.NewRowSet(len(texts)).
			Text("a", func(i int) string { return texts[i] }).
			Int("b", func(i int) int64 { return numbers[i] }).
			NullText("c", func(i int) (string, bool) { return texts[i], i%2 == 0 }).
			NullInt("d", func(i int) (int64, bool) { return numbers[i], i%2 == 1 })
		got, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (c cell, err error) {
			err = r.Scan(&c.A, &c.B, &c.C, &c.D)
			return c, err
		}, rowStmts.Must("cells_select"), rows)
		testenv.NoError(t, err)
		testenv.Equal(t, want, got)
	})
}

// A statement may read several row sets, also one of them for each row of another.
func TestRowSet_several(t *testing.T) {
	column := func(name string, values ...int64) *sqldb.RowSet {
		return sqldb.NewRowSet(len(values)).Int(name, func(i int) int64 { return values[i] })
	}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		got := testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Pair, rowStmts.Must("pairs_select"),
			column("a", 1, 2), column("b", 3, 4, 5), 3))(t)
		testenv.Equal(t, [][2]int64{{1, 4}, {1, 5}, {2, 4}, {2, 5}}, got)
	})
}

// After its end, no statement refers to a row set: neither one that read all rows, nor one that failed, was cut off or was
// refused.
func TestRowSet_is_released(t *testing.T) {
	db := sqldbtest.SQLite(t)
	before := sqldb.Registered()
	testenv.Must(db.Exec(t.Context(), stmts.Must("number_put"), numbers(1, 2)))(t)
	if _, err := db.Exec(t.Context(), stmts.Must("number_put"), numbers(1)); !errors.Is(err, sqldb.ErrUnique) {
		t.Errorf("a second row of one key: %v", err)
	}
	rows := testenv.Must(db.Query(t.Context(), stmts.Must("number_select"), branches(2)))(t)
	if rows.Next(); sqldb.Registered() != before+1 {
		t.Errorf("%d row sets while rows are read, want 1", sqldb.Registered()-before)
	}
	rows.Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, try := range map[string]func() error{
		"canceled": func() error {
			_, err := sqldb.Collect(canceled, db, sqldb.Pair, stmts.Must("number_select"), branches(2))
			return err
		},
		"other columns": func() error {
			_, err := sqldb.Collect(t.Context(), db, sqldb.Pair, rowStmts.Must("pairs_select"), branches(1), branches(1), 3)
			return err
		},
		"too few": func() error {
			_, err := sqldb.Collect(t.Context(), db, sqldb.Pair, rowStmts.Must("pairs_select"), branches(1))
			return err
		},
	} {
		if try() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	testenv.Equal(t, before, sqldb.Registered())
}

// A statement whose last row is refused changes nothing: alone, and in a transaction, which is rolled back.
func TestRowSet_refused_row(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.Must(db.Exec(t.Context(), stmts.Must("number_insert"), 3, "2026-02-26", 30))(t)
		if _, err := db.Exec(t.Context(), stmts.Must("number_put"), numbers(1, 2, 3)); !errors.Is(err, sqldb.ErrUnique) {
			t.Errorf("alone: %v", err)
		}
		err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			tx.Queue(stmts.Must("number_put"), numbers(1, 2, 3))
			return tx.Flush(ctx)
		})
		testenv.ErrorIs(t, sqldb.ErrUnique, err, "in a transaction")
		err = db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			if _, err := tx.Exec(ctx, stmts.Must("number_put"), numbers(1, 2, 3)); !errors.Is(err, sqldb.ErrUnique) {
				t.Errorf("at once: %v", err)
			}
			return nil // the transaction must not be committed all the same
		})
		if err == nil {
			t.Error("a transaction with a refused row was committed")
		}
		testenv.Equal(t, [][2]int64{{3, 30}}, read(t, db, 3))
	})
}

// Statements of many goroutines read their own rows.
func TestRowSet_concurrent(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var all errgroup.Group
		for g := range int64(16) {
			all.Go(func() error {
				for i := range int64(50) {
					one := sqldb.NewRowSet(1).Int("a", func(int) int64 { return g })
					many := sqldb.NewRowSet(3).Int("b", func(j int) int64 { return i + int64(j) })
					got, err := sqldb.Collect(t.Context(), db, sqldb.Pair, rowStmts.Must("pairs_select"), one, many, i)
					if err != nil {
						return err
					}
					if want := fmt.Sprint([][2]int64{{g, i + 1}, {g, i + 2}}); fmt.Sprint(got) != want {
						return fmt.Errorf("%v, want %s", got, want)
					}
				}
				return nil
			})
		}
		testenv.NoError(t, all.Wait())
	})
}
