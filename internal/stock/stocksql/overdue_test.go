package stocksql_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

var levels = sqldb.Load(fstest.MapFS{
	"thing.sql": {Data: []byte(`
		INSERT INTO stock_item (id, branch_id, sku, low_at, created_at, updated_at) VALUES ($1, $2, $3, $4, 0, 0)`)},
	"level.sql": {Data: []byte(`INSERT INTO inventory (branch_id, item_id, available) VALUES ($1, $2, $3)`)},
	"hold.sql": {Data: []byte(`
		INSERT INTO hold (id, branch_id, biz_date, state, digest, expires_at, created_at, updated_at)
		VALUES ($1, 1, $2, $3, '', $4, 0, 0)`)},
	"line.sql":  {Data: []byte(`UPDATE hold SET lines = 's' || CAST($2 AS BIGINT) || ':1' WHERE id = $1`)},
	"early.sql": {Data: []byte(`INSERT INTO early_confirm (hold_id, created_at) VALUES ($1, $2)`)},
	"noted.sql": {Data: []byte(`SELECT hold_id FROM early_confirm ORDER BY hold_id`)},
})

func put(t *testing.T, db *sqldb.DB, name string, args ...any) {
	t.Helper()
	testenv.Must(db.Exec(t.Context(), levels.Must(name), args...))(t)
}

// An item is low at or below its threshold; one without a threshold never is.
func TestStore_LowItems(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		orderingtest.Open(t, db, 2)
		for i, l := range []struct {
			branch    int64
			mark      any
			available int64
		}{{1, int64(5), 6}, {1, int64(5), 5}, {1, int64(5), 0}, {1, int64(0), 0}, {1, nil, 0}, {2, int64(5), 6}} {
			put(t, db, "thing", int64(i+1), l.branch, strings.Repeat("x", i+1), l.mark)
			put(t, db, "level", l.branch, int64(i+1), l.available)
		}
		testenv.Equal(t, map[int64]int64{1: 3, 2: 0}, testenv.Must(stocksql.New(db).LowItems(t.Context()))(t))
	})
}

// Overdue holds are counted separately for orders and for reservations, and only while they are held.
func TestStore_OverdueOrders(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		reservations := stocksql.NewReservations(db, orderingtest.NoAdmission{}, func() time.Time { return now })
		defer reservations.Stop()
		late := func() [4]int64 {
			t.Helper()
			n, by, err := stocksql.New(db).OverdueOrders(t.Context(), now)
			m, than, also := reservations.OverdueReservations(t.Context(), now)
			testenv.NoError(t, errors.Join(err, also))
			return [4]int64{n, int64(by.Seconds()), m, int64(than.Seconds())}
		}
		if got := late(); got != [4]int64{} {
			t.Errorf("nothing is held, and late are %v", got)
		}
		for i, h := range []struct {
			date  string
			state stock.State
			by    time.Duration
		}{
			{scope.Date, stock.Held, time.Minute}, {scope.Date, stock.Held, -time.Minute},
			{scope.Date, stock.Confirmed, time.Hour}, {"", stock.Held, 2 * time.Second}, {"", stock.Held, 3 * time.Second},
			{"", stock.Released, time.Hour},
		} {
			put(t, db, "hold", strings.Repeat("h", i+1), h.date, string(h.state), now.Add(-h.by).UnixMilli())
		}
		if got := late(); got != [4]int64{1, 60, 2, 3} {
			t.Errorf("late are %v", got)
		}
	})
}

// This is the only check that finds hold lines of an item that the branch does not have.
func TestStore_Drift_finds_orphan_holds(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		put(t, db, "hold", "released", "", string(stock.Released), 0)
		put(t, db, "line", "released", 7)
		if found, err := stocksql.New(db).Drift(t.Context(), scope.Date); len(found) != 0 || err != nil {
			t.Errorf("what was released counts: %v, %v", found, err)
		}
		put(t, db, "hold", "held", "", string(stock.Held), 0)
		put(t, db, "line", "held", 7)
		found, err := stocksql.New(db).Drift(t.Context(), scope.Date)
		want := []string{"branch 1, stock item number 7: 1 holds and no such item"}
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func TestStore_PurgeEarlyConfirms(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		put(t, db, "early", "old", now.Add(-time.Second).UnixMilli())
		put(t, db, "early", "young", now.UnixMilli())
		testenv.NoError(t, stocksql.New(db).PurgeEarlyConfirms(t.Context(), now))
		left, err := sqldb.Collect(t.Context(), db, sqldb.Value[string], levels.Must("noted"))
		if diff := cmp.Diff([]string{"young"}, left); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

var errRefused = errors.New(strings.Repeat("Redis says no. ", 100))

// An attempt counts once, even if several processes record it. A dead letter is not retried before an operator requests
// it.
func TestStore_RecordFailures(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10).SetQuota(t, 101, 2, scope.Date, now)
		l := stocksql.New(db)
		at := func(after time.Duration) []stock.OutboxEntry {
			t.Helper()
			return testenv.Must(l.Unapplied(t.Context(), now.Add(after), "", 10))(t)
		}
		fail := func(e stock.OutboxEntry, due time.Duration, dead bool) {
			t.Helper()
			failed := queue.Failure{
				ID: e.ID, Read: e.Attempts, Attempts: e.Attempts + 1, Due: now.Add(due), Dead: dead, Reason: errRefused.Error(),
			}
			testenv.NoError(t, l.RecordFailures(t.Context(), now, failed))
		}
		first := at(0)[0]
		fail(first, time.Minute, false)
		fail(first, time.Hour, true) // by a slower process
		if n := len(at(59 * time.Second)); n != 0 {
			t.Error("it is tried before it is due")
		}
		again := at(time.Minute)
		if len(again) != 1 || again[0].Attempts != 1 || len(again[0].Ops) != 1 {
			t.Fatalf("after a minute: %+v", again)
		}
		fail(again[0], 0, true)
		b, err := l.Backlog(t.Context(), now.Add(time.Hour))
		if b != (queue.Backlog{Dead: 1, DeadAge: time.Hour}) || err != nil || len(at(time.Hour)) != 0 {
			t.Errorf("Backlog = %+v, %v, want one dead letter, one hour old", b, err)
		}
		testenv.Equal(t, 1, testenv.Must(l.RetryDead(t.Context(), ""))(t))
		if due := at(0); len(due) != 1 || due[0].Attempts != 0 {
			t.Errorf("revived: %+v", due)
		}
	})
}
