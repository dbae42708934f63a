package outbox

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

var logRate = stmts.Must("log_rate")

// maxRate is how many events are counted at most.
const maxRate = 10_000

// Published counts the events that were published since an instant, 10,000 at most.
func Published(ctx context.Context, db *sqldb.DB, since time.Time) (int64, error) {
	rows, err := db.Query(ctx, logRate, since.UnixMilli(), maxRate)
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	return n, err
}
