package outbox

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// maxCounted bounds the cost of counting, whatever the size of the log.
const maxCounted = 10_000

// CountPublished returns the number of events published since an instant, at most 10,000.
func CountPublished(ctx context.Context, db *sqldb.DB, since time.Time) (int64, error) {
	return sqldb.Scalar[int64](ctx, db, stmt("log_rate"), since.UnixMilli(), maxCounted)
}
