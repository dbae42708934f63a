package mailsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the instants at which letters are due and at which they are not worth sending any more, because the
// deciding clock was set by as much. It returns how many letters there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, letterMove, by.Milliseconds())
}
