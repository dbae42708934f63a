package accountsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines shifts the expiry of unused one-time codes after the deciding clock was set by that much. It returns
// the number of codes. Sessions last for weeks and are not shifted.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("otp_deadline_move"), by.Milliseconds())
}
