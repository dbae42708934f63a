package orderingsql

import (
	"context"
	"time"

	"comanda/internal/document/documentsql"
	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// MoveDeadlines shifts the deadlines of all unpaid orders by the given step and returns their number. It compensates
// for a step of the deciding clock; now is the time after that step. stocksql.MoveDeadlines shifts the holds. Documents
// and subscribers receive the change like any other.
func (l *Ledger) MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration, now time.Time) (int64, error) {
	moved, err := sqldb.Collect(ctx, tx, func(r sqldb.Rows) (res ordering.Result, err error) {
		return res, r.Scan(&res.Order.ID, &res.Order.Scope.Branch)
	}, stmt("order_deadline_move"), by.Milliseconds(), now.UnixMilli())
	if err != nil {
		return 0, err
	}
	ids := make([]string, len(moved))
	for i := range moved {
		ids[i] = moved[i].Order.ID
	}
	documentsql.Changed(tx, now, "order", ids...)
	tx.OnCommit(func() { l.subscriptions.Changed(moved) })
	return int64(len(moved)), tx.Flush(ctx)
}
