package outbox

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the instants at which events are tried again, because the deciding clock was set by as much. It
// returns how many there were.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("outbox_deadline_move"), by.Milliseconds())
}
