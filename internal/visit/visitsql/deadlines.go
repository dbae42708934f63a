package visitsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines has every open visit as long until it counts as idle as it had before the deciding clock was set by as much.
// It returns how many there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, visitDeadline, by.Milliseconds())
}
