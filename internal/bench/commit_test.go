package bench

import (
	"context"
	"testing"
	"time"

	"comanda/internal/ordering/orderingsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// prepareScratch prepares a database like the scratch database.
func prepareScratch(t testing.TB, db *sqldb.DB) *sqldb.DB {
	t.Helper()
	testenv.NoError(t, furnished(t.Context(), db))
	return db
}

// The raw rows equal those of real orders: the product's own checks find no difference, and the admission cache could
// be rebuilt from them.
func TestCommitLimit_writes_the_same_rows(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		prepareScratch(t, db)
		r, err := commitLimit(t.Context(), db, 7, 0, 50*time.Millisecond)
		if err != nil || r.PerSecond <= 0 || r.Batch != 7 {
			t.Fatalf("commitLimit = %+v, %v, want a rate in batches of 7", r, err)
		}
		stocks := stocksql.New(db)
		counters := testenv.Must(stocks.Drift(t.Context(), rawDate))(t)
		orders := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), rawDate, db.Now()))(t)
		for _, d := range append(counters, orders...) {
			t.Error(d)
		}
		entries := testenv.Must(stocks.Unapplied(t.Context(), db.Now(), "", 10_000))(t)
		scope, holds := stock.Scope{Branch: branchID, Date: rawDate}, 0
		testenv.NoError(t, stocks.ReadHolds(t.Context(), scope, db.Now(), func(page []stock.HoldState) error {
			holds += len(page)
			return nil
		}))
		queued := 0
		for _, e := range entries {
			for _, op := range e.Ops {
				if op.Kind == stock.OpHeld && len(op.Hold.Lines) == lineCount && op.Hold.Until.After(db.Now()) {
					queued++
				}
			}
		}
		if holds == 0 || queued != holds || queued != 7*len(entries) {
			t.Errorf("%d holds, %d of them in %d entries for the cache", holds, queued, len(entries))
		}
	})
}

func TestCommitLimit_stopsWithItsContext(t *testing.T) {
	db := prepareScratch(t, sqldbtest.SQLite(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := commitLimit(ctx, db, 10, 0, time.Minute); err == nil {
		t.Error("a canceled measurement returned a figure")
	}
}

// B3: the rows go elsewhere, and nothing is left of them, not even by a run that was killed.
func TestScratch(t *testing.T) {
	for name, address := range map[string]func(testing.TB) string{
		"sqlite": sqldbtest.SQLiteURL, "postgres": sqldbtest.PostgresURL,
	} {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: at}))(t)
			defer db.Close()
			testenv.NoError(t, db.Migrate(t.Context()))
			killed, _ := testenv.Must2(scratch(t.Context(), db, at))(t)
			killed.Close() // without drop, as if the process had ended
			own, drop := testenv.Must2(scratch(t.Context(), db, at))(t)
			if _, err := commitLimit(t.Context(), own, 5, 0, 10*time.Millisecond); err != nil {
				t.Error(err)
			}
			if left := backlog(t, own); left == 0 {
				t.Error("nothing was written")
			}
			if left := backlog(t, db); left != 0 {
				t.Error("the product's own tables were written into")
			}
			if err := drop(); err != nil {
				t.Error(err)
			}
			place, remove := testenv.Must2(scratchPlace(t.Context(), db, at))(t)
			fresh := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: place}))(t)
			if _, err := fresh.Query(t.Context(), stmt("backlog_check")); err == nil {
				t.Error("the tables are still there")
			}
			fresh.Close()
			if err := remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

func backlog(t *testing.T, db *sqldb.DB) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](t.Context(), db, stmt("backlog_check")))(t)
}

// BenchmarkPage measures the preparation of the next batch, which runs beside the writer and must be faster than a
// commit.
func BenchmarkPage(b *testing.B) {
	for i := range b.N {
		newPage(time.Now(), i*100, 100)
	}
	b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "orders/s")
}

func BenchmarkCommit(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{
		"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres,
	} {
		b.Run(name, func(b *testing.B) {
			db := prepareScratch(b, open(b))
			b.ResetTimer()
			for i := range b.N {
				if err := db.Write(b.Context(), newPage(db.Now(), i*100, 100).write); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "orders/s")
		})
	}
}
