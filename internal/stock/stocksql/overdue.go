package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// OverdueOrders returns the number of unpaid orders that hold units past their deadline, and the delay of the oldest.
func (l *Store) OverdueOrders(ctx context.Context, now time.Time) (n int64, by time.Duration, err error) {
	pair, _, err := sqldb.One(ctx, l.db, sqldb.Pair, stmt("hold_late"), now.UnixMilli())
	if err != nil || pair[0] == 0 {
		return pair[0], 0, err
	}
	return pair[0], max(0, now.Sub(time.UnixMilli(pair[1]))), nil
}

// LowItems returns, for each branch with stock items, how many are at or below their alarm threshold.
func (l *Store) LowItems(ctx context.Context) (map[int64]int64, error) {
	pairs, err := sqldb.Collect(ctx, l.db, sqldb.Pair, stmt("inventory_low"))
	low := make(map[int64]int64, len(pairs))
	for _, p := range pairs {
		low[p[0]] = p[1]
	}
	return low, err
}

// PurgeEarlyConfirms deletes early confirmations older than an instant, whose Try never came.
func (l *Store) PurgeEarlyConfirms(ctx context.Context, before time.Time) error {
	_, err := l.db.Exec(ctx, stmt("early_purge"), before.UnixMilli())
	return err
}

// MoveDeadlines moves the deadlines of all holds, and of what waits to be applied to Redis, because the deciding clock was
// set by as much. It returns how many holds there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	n, err := tx.Exec(ctx, stmt("hold_deadline_move"), by.Milliseconds())
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, stmt("ops_deadline_move"), by.Milliseconds())
	return n, err
}
