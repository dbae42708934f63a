package visitsql

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// TestStore_UpdateLastSeen_no_deadlocks checks that two processes that have seen the same visits lock them in one order. The
// test counts PostgreSQL's deadlocks, because a deadlocked statement is repeated and still succeeds. A third transaction
// holds one of the visits until both wait, so that they are certain to overlap. The plan reads the visits in the order of the
// arguments, as it does in a large table.
func TestStore_UpdateLastSeen_no_deadlocks(t *testing.T) {
	t.Parallel()
	const rounds, visits = 4, 40
	address, name := sqldbtest.Unsynced(sqldbtest.PostgresURL(t)), testenv.Name(t)
	openURL := func(address string) *sqldb.DB {
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address, MaxConns: 2}))(t)
		t.Cleanup(db.Close)
		return db
	}
	testenv.NoError(t, openURL(address).Migrate(t.Context()))
	third := testenv.Must(pgx.Connect(t.Context(), address))(t)
	defer third.Close(context.Background())
	number := func(query string, args ...any) (n int64) {
		t.Helper()
		testenv.NoError(t, third.QueryRow(t.Context(), query, args...).Scan(&n))
		return n
	}
	for _, statement := range []string{
		`INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
			VALUES (1, 'Test', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi"]', 60, 0)`,
		`INSERT INTO dining_table (id, branch_id, label) SELECT n, 1, n FROM generate_series(1, 40) n`,
		`INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at)
			SELECT to_char(n, 'FM00'), 1, n, '2026-02-26', 'OPEN', 0, 0 FROM generate_series(1, 40) n`,
	} {
		testenv.Must(third.Exec(t.Context(), statement))(t)
	}
	const deadlocks = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
	before := number(deadlocks)

	processes := make([]*sqldb.DB, 2)
	for i := range processes {
		processes[i] = openURL(address + "&application_name=" + name +
			"&enable_seqscan=off&enable_hashjoin=off&enable_mergejoin=off&enable_bitmapscan=off")
	}
	for round := range rounds {
		tx := testenv.Must(third.Begin(t.Context()))(t)
		testenv.Must(tx.Exec(t.Context(), `SELECT id FROM visit WHERE id = '20' FOR UPDATE`))(t)
		var both sync.WaitGroup
		for i, db := range processes {
			seen := map[string]time.Time{}
			for n := range visits {
				seen[fmt.Sprintf("%02d", n+1)] = time.UnixMilli(int64(2*round + i + 1))
			}
			both.Go(func() {
				if err := New(db).UpdateLastSeen(context.Background(), seen); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		testenv.Eventually(t, 10*time.Second, func() bool {
			return number(`SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`, name) == 2
		})
		testenv.NoError(t, tx.Rollback(t.Context()))
		both.Wait()
		if n := number(`SELECT count(*) FROM visit WHERE last_seen_at = $1`, 2*round+2); n != visits {
			t.Errorf("round %d: %d visits were last seen at the newest time, want %d", round, n, visits)
		}
	}
	for _, db := range processes {
		db.Close()
	}
	testenv.Eventually(t, 10*time.Second, func() bool { // connections publish their statistics when they close
		return number(`SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, name) == 0
	})
	testenv.Equal(t, 0, number(deadlocks)-before)
}
