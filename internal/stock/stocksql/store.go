// Package stocksql stores counters, holds, stock items and the outbox of the admission cache, and compares them.
// Other stores use it inside their own transactions. Locks are taken in one order everywhere, which excludes
// deadlocks: counters by (branch, date, item), then stock by (branch, item), then holds by id, then the caller's own
// rows.
package stocksql

import (
	"context"
	"embed"
	"time"

	"comanda/internal/queue/queuesql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Store reads and repairs the rows that orders and reservations write.
type Store struct {
	queuesql.Queue[stock.OutboxEntry]

	db *sqldb.DB
}

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{entries.On(db), db} }

// Scopes returns the scopes from a business date on that the admission cache has served, with the epochs it must have.
func (st *Store) Scopes(ctx context.Context, from string) (map[stock.Scope]string, error) {
	all := map[stock.Scope]string{}
	return all, sqldb.Each(ctx, st.db, func(rows sqldb.Rows) error {
		var s stock.Scope
		var epoch string
		err := rows.Scan(&s.Branch, &s.Date, &epoch)
		all[s] = epoch
		return err
	}, stmt("scope_select"), from)
}

// TombstoneProvisional writes RELEASED holds for provisional holds that timed out, unless their orders have committed
// meanwhile, and returns the state of each.
func (st *Store) TombstoneProvisional(
	ctx context.Context, provisional []stock.Hold, now time.Time,
) ([]stock.HoldState, error) {
	if len(provisional) == 0 {
		return nil, nil
	}
	_, err := st.db.Exec(ctx, stmt("hold_tombstone"), sqldb.NewRowSet(len(provisional)).
		Text("id", func(i int) string { return provisional[i].ID }).
		Int("branch_id", func(i int) int64 { return provisional[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return provisional[i].Scope.Date }), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(provisional))
	for i, h := range provisional {
		ids[i] = h.ID
	}
	return st.Holds(ctx, ids)
}

// Holds returns the holds that exist.
func (st *Store) Holds(ctx context.Context, ids []string) ([]stock.HoldState, error) {
	return Holds(ctx, st.db, ids)
}

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must

// OverdueOrders returns the number of unpaid orders that hold units past their deadline, and the delay of the oldest.
func (st *Store) OverdueOrders(ctx context.Context, now time.Time) (n int64, by time.Duration, err error) {
	pair, _, err := sqldb.One(ctx, st.db, sqldb.Pair, stmt("hold_late"), now.UnixMilli())
	if err != nil || pair[0] == 0 {
		return pair[0], 0, err
	}
	return pair[0], max(0, now.Sub(time.UnixMilli(pair[1]))), nil
}

// LowItems returns, for each branch with stock items, how many are at or below their alarm threshold.
func (st *Store) LowItems(ctx context.Context) (map[int64]int64, error) {
	pairs, err := sqldb.Collect(ctx, st.db, sqldb.Pair, stmt("inventory_low"))
	low := make(map[int64]int64, len(pairs))
	for _, p := range pairs {
		low[p[0]] = p[1]
	}
	return low, err
}

// PurgeEarlyConfirms deletes early confirmations older than an instant, whose Try never came.
func (st *Store) PurgeEarlyConfirms(ctx context.Context, before time.Time) error {
	_, err := st.db.Exec(ctx, stmt("early_purge"), before.UnixMilli())
	return err
}

// MoveDeadlines moves the deadlines of all holds, and of entries that wait to be applied to Redis, by the same amount
// as the deciding clock was set. It returns the number of moved holds.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	n, err := tx.Exec(ctx, stmt("hold_deadline_move"), by.Milliseconds())
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, stmt("ops_deadline_move"), by.Milliseconds())
	return n, err
}
