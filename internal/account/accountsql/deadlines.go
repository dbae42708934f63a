package accountsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the expiry of unused one-time codes by the same amount as the deciding clock was set. It returns
// the number of codes. Sessions last for weeks and are not moved.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("otp_deadline_move"), by.Milliseconds())
}
