package paymentsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the instants at which gateways are to be asked and refunds to be sent, because the deciding clock was
// set by as much, and returns how many there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	if _, err := tx.Exec(ctx, attemptAge, by.Milliseconds()); err != nil {
		return 0, err
	}
	checks, err := tx.Exec(ctx, attemptMove, by.Milliseconds())
	if err != nil {
		return 0, err
	}
	sends, err := tx.Exec(ctx, refundMove, by.Milliseconds())
	return checks + sends, err
}
