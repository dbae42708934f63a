package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// Late tells how many orders still hold what they have not paid for past their deadline, and by how much the first.
func (l *Store) OverdueOrders(ctx context.Context, now time.Time) (n int64, by time.Duration, err error) {
	return l.count(ctx, holdLate, now, now.UnixMilli())
}

// Low tells for each branch with stock items of how many no more is left than their owner wants to hear of.
func (l *Store) LowItems(ctx context.Context) (map[int64]int64, error) {
	rows, err := l.db.Query(ctx, inventoryLow)
	pairs, err := sqldb.Collect(rows, err, sqldb.Pair)
	low := make(map[int64]int64, len(pairs))
	for _, p := range pairs {
		low[p[0]] = p[1]
	}
	return low, err
}

// PurgeEarly forgets confirmations, noted before an instant, of reservations that never came.
func (l *Store) PurgeEarlyConfirms(ctx context.Context, before time.Time) error {
	_, err := l.db.Exec(ctx, earlyPurge, before.UnixMilli())
	return err
}
