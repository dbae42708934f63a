package identitysql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the ends of one-time codes, because the deciding clock was set by as much, and returns how many there
// were. Sessions last for weeks and are left as they are.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, otpMove, by.Milliseconds())
}
