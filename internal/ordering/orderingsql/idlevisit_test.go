package orderingsql_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/visit/visitsql"
)

// TestLedger_idle_visit checks that an idle visit is not closed while an order of it is placed, and that an order which
// comes while the visit is closed is refused. A third transaction stops the first one in the middle. SQLite runs one
// transaction at a time, so the test needs PostgreSQL.
func TestLedger_idle_visit(t *testing.T) {
	t.Parallel()
	address, name := sqldbtest.Unsynced(sqldbtest.PostgresURL(t)), testenv.Name(t)
	db := openURL(t, address, 2)
	r := orderingtest.Open(t, db, 1, stock.Unlimited)
	third := testenv.Must(pgx.Connect(t.Context(), address))(t)
	defer third.Close(context.Background())
	named := openURL(t, address+"&application_name="+name, 4)
	ledger := orderingsql.NewLedger(named, orderingtest.NoAdmission{}, named.Now)
	defer ledger.Stop()
	place := func(key string) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := ledger.Do(context.Background(), r.Place(key, named.Now(), time.Hour, stock.Line{Item: r.Items[0], Qty: 1}))
			done <- err
		}()
		testenv.Eventually(t, 10*time.Second, func() bool {
			var waiting int
			err := third.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
				WHERE application_name = $1 AND wait_event_type = 'Lock'`, name).Scan(&waiting)
			return err == nil && waiting == 1
		})
		return done
	}
	closeIdle := func() []string {
		t.Helper()
		return testenv.Must(visitsql.New(db).CloseIdle(t.Context(), db.Now(), 0, 10))(t)
	}

	// The order waits before it is written, and the visit that it has read as open stays open.
	tx := testenv.Must(third.Begin(t.Context()))(t)
	testenv.Must(tx.Exec(t.Context(), `LOCK TABLE order_info IN EXCLUSIVE MODE`))(t)
	placed := place("first")
	if closed := closeIdle(); len(closed) != 0 {
		t.Error("a visit was closed while an order of it was placed")
	}
	testenv.NoError(t, tx.Rollback(t.Context()), <-placed)
	if closed := closeIdle(); len(closed) != 0 {
		t.Error("a visit with an unpaid order was closed")
	}

	// The closing waits for its commit, and the order is refused after it.
	r.NextVisit(t)
	tx = testenv.Must(third.Begin(t.Context()))(t)
	testenv.Must(tx.Exec(t.Context(), `SELECT id FROM visit WHERE id = $1 FOR UPDATE`, r.Visit))(t) // as visit_lock_idle does
	testenv.Must(tx.Exec(t.Context(), `UPDATE visit SET status = 'CLOSED', closed_at = 1 WHERE id = $1`, r.Visit))(t)
	placed = place("second")
	testenv.NoError(t, tx.Commit(t.Context()))
	if err := <-placed; !errors.Is(err, ordering.ErrVisitClosed) {
		t.Errorf("the order: %v, want a refusal", err)
	}
}
