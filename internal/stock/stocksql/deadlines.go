package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the deadlines of all holds, and of what waits to be applied to Redis, because the deciding clock was
// set by as much. It returns how many holds there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	n, err := tx.Exec(ctx, holdDeadlineMove, by.Milliseconds())
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, opsDeadlineMove, by.Milliseconds())
	return n, err
}
