package stocksql

import (
	"context"
	"fmt"
	"slices"

	"comanda/internal/sqldb"
)

// Drift compares counters with the holds that they count (I1): quotas from a business date on, and the stock. It gives
// one sentence per difference; nothing means that all agree.
func (l *Ledger) Drift(ctx context.Context, from string) ([]string, error) {
	return l.DriftOf(ctx, 0, from)
}

// DriftOf compares what belongs to one branch, or to every one with 0.
func (l *Ledger) DriftOf(ctx context.Context, branch int64, from string) ([]string, error) {
	rows, err := l.db.Query(ctx, driftCounters, from, branch)
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
	rows, err = l.db.Query(ctx, driftOrphans, from, branch)
	orphans, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (string, error) {
		var branch, item, n int64
		var date string
		err := r.Scan(&branch, &date, &item, &n)
		return fmt.Sprintf("branch %d, %s, item %d: %d holds and no counter", branch, date, item, n), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = l.db.Query(ctx, driftInventory, branch)
	things, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (string, error) {
		var branch, available, reserved, sold, sumHeld, sumUsed, units int64
		var sku string
		err := r.Scan(&branch, &sku, &available, &reserved, &sold, &sumHeld, &sumUsed, &units)
		return fmt.Sprintf("branch %d, stock item %s: available %d, reserved %d, sold %d; its holds say reserved %d and sold "+
			"%d, its adjustments %d in all", branch, sku, available, reserved, sold, sumHeld, sumUsed, units), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = l.db.Query(ctx, driftStrangers, branch)
	strangers, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (string, error) {
		var branch, item, n int64
		err := r.Scan(&branch, &item, &n)
		return fmt.Sprintf("branch %d, stock item number %d: %d holds and no such item", branch, item, n), err
	})
	return slices.Concat(found, orphans, things, strangers), err
}
