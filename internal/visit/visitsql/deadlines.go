package visitsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the times of open visits and their calls, after the deciding clock was moved by the same span, so
// that each stays open as long as before. It returns the number of visits.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("visit_deadline_move"), by.Milliseconds())
}
