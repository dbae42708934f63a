package orderingsql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// TestLedger_noDeadlocks checks that two processes with the same keys, or the same counters, take their locks in one
// order even if their commands arrive in opposite orders. The test counts PostgreSQL's deadlocks, because a deadlocked
// transaction is repeated and still succeeds. A third transaction holds one of the rows until both wait, so that they
// are certain to overlap.
func TestLedger_noDeadlocks(t *testing.T) {
	t.Parallel()
	const rounds, orders = 8, 24
	address, name := sqldbtest.Unsynced(sqldbtest.PostgresURL(t)), testenv.Name(t)
	db := openURL(t, address, 2)
	r := orderingtest.Open(t, db, 1, slices.Repeat([]int64{stock.Unlimited}, orders)...)
	third := testenv.Must(pgx.Connect(t.Context(), address))(t)
	defer third.Close(context.Background())
	number := func(query string, args ...any) (n int64) {
		t.Helper()
		testenv.NoError(t, third.QueryRow(t.Context(), query, args...).Scan(&n))
		return n
	}
	const deadlocks = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
	before := number(deadlocks)

	ledgers, stop := twoLedgers(t, address+"&application_name="+name)
	defer stop()
	for _, item := range r.Items { // creates the counters
		testenv.Must(ledgers[0].Do(t.Context(),
			r.Place(fmt.Sprint("first", item), db.Now(), time.Hour, stock.Line{Item: item, Qty: 1})))(t)
	}
	for what, hold := range map[string]string{
		"keys":     `SELECT 1 FROM order_number WHERE branch_id = 1 AND $1::int >= 0 FOR UPDATE`,
		"counters": `SELECT 1 FROM sales_quota_counter WHERE menu_item_id = 112 AND $1::int >= 0 FOR UPDATE`,
	} {
		for round := range rounds {
			tx := testenv.Must(third.Begin(t.Context()))(t)
			testenv.Must(tx.Exec(t.Context(), hold, round))(t)
			var both sync.WaitGroup
			for i, l := range ledgers {
				commands := make([]ordering.Command, orders)
				for n := range commands {
					key, item := fmt.Sprint("counters", round, "-", i, "-", n), r.Items[n]
					if what == "keys" {
						key, item = fmt.Sprint("keys", round, "-", n), r.Items[0]
					}
					commands[n] = r.Place(key, db.Now(), time.Hour, stock.Line{Item: item, Qty: 1})
				}
				if i == 1 {
					slices.Reverse(commands)
				}
				both.Go(func() {
					_, errs := l.DoAll(context.Background(), commands)
					if err := errors.Join(errs...); err != nil {
						t.Errorf("%s, round %d: %v", what, round, err)
					}
				})
			}
			testenv.Eventually(t, 10*time.Second, func() bool {
				return number(`SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`, name) == 2
			})
			testenv.NoError(t, tx.Rollback(t.Context()))
			both.Wait()
		}
	}
	stop()
	testenv.Eventually(t, 10*time.Second, func() bool { // connections publish their statistics when they close
		return number(`SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, name) == 0
	})
	testenv.Equal(t, 0, number(deadlocks)-before)
	checkDrift(t, db)
}

// twoLedgers returns the ledgers of two processes.
func twoLedgers(t *testing.T, address string) (ledgers [2]*orderingsql.Ledger, stop func()) {
	t.Helper()
	var stops []func()
	for i := range ledgers {
		db := openURL(t, address, 4)
		ledgers[i] = orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		stops = append(stops, func() {
			ledgers[i].Stop()
			db.Close()
		})
	}
	return ledgers, sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	})
}

func openURL(t *testing.T, address string, conns int) *sqldb.DB {
	t.Helper()
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address, MaxConns: conns}))(t)
	t.Cleanup(db.Close)
	return db
}
