package stocksql

import (
	"context"
	"fmt"

	"comanda/internal/sqldb"
)

// Drift compares counters with the holds that they count, from a business date on (I1). It gives one sentence per
// difference; nothing means that all agree.
func (l *Ledger) Drift(ctx context.Context, from string) ([]string, error) {
	rows, err := l.db.Query(ctx, driftCounters, from)
	found, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (string, error) {
		var branch, item, held, used, sumHeld, sumUsed int64
		var date string
		err := r.Scan(&branch, &date, &item, &held, &used, &sumHeld, &sumUsed)
		return fmt.Sprintf("branch %d, %s, item %d: the counter says held %d and used %d, its holds say %d and %d",
			branch, date, item, held, used, sumHeld, sumUsed), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = l.db.Query(ctx, driftOrphans, from)
	orphans, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (string, error) {
		var branch, item, n int64
		var date string
		err := r.Scan(&branch, &date, &item, &n)
		return fmt.Sprintf("branch %d, %s, item %d: %d holds and no counter", branch, date, item, n), err
	})
	return append(found, orphans...), err
}
