package documentsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the ends of claims, because the deciding clock was set by as much: one that lasted an hour longer
// would keep documents from being written. It returns how many there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	rows, err := tx.Exec(ctx, outboxMove, by.Milliseconds())
	if err != nil {
		return 0, err
	}
	planes, err := tx.Exec(ctx, planeMove, by.Milliseconds())
	return rows + planes, err
}
