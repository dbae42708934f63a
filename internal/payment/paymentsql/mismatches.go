package paymentsql

import (
	"context"
	"time"

	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

// QueueMismatches records money of other amounts than were asked for. What stands there already stays as it is, also when
// somebody has cleared it.
func QueueMismatches(tx sqldb.Tx, all []payment.Mismatch) {
	if len(all) == 0 {
		return
	}
	tx.Queue(mismatchInsert, sqldb.NewRowSet(len(all)).
		Text("attempt_id", func(i int) string { return all[i].AttemptID }).
		Text("order_id", func(i int) string { return all[i].OrderID }).
		Int("amount", func(i int) int64 { return all[i].Amount }).
		Text("currency", func(i int) string { return string(all[i].Currency) }).
		Int("reported_at", func(i int) int64 { return all[i].ReportedAt.UnixMilli() }))
}

// ClearMismatches takes all mismatches of an attempt from the list of those at which somebody must look. It gives how many
// those were.
func ClearMismatches(ctx context.Context, tx sqldb.Tx, attempt string, now time.Time) (int64, error) {
	return tx.Exec(ctx, mismatchClear, attempt, now.UnixMilli())
}
