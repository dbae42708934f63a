package mailsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines shifts the due and expiry times of all queued messages after the deciding clock was set by that much.
// It returns the number of messages.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, letterMove, by.Milliseconds())
}
