package paymentsql

import (
	"context"
	"time"

	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

// QueueMismatches inserts amount mismatches. Existing ones stay as they are, also if they were cleared.
func QueueMismatches(tx sqldb.Tx, all []payment.AmountMismatch) {
	if len(all) == 0 {
		return
	}
	tx.Queue(stmt("mismatch_insert"), sqldb.NewRowSet(len(all)).
		Text("attempt_id", func(i int) string { return all[i].AttemptID }).
		Text("order_id", func(i int) string { return all[i].OrderID }).
		Int("amount", func(i int) int64 { return all[i].Amount }).
		Text("currency", func(i int) string { return string(all[i].Currency) }).
		Int("reported_at", func(i int) int64 { return all[i].ReportedAt.UnixMilli() }))
}

// ClearMismatches marks all mismatches of an attempt as resolved by staff and returns their number.
func ClearMismatches(ctx context.Context, tx sqldb.Tx, attempt string, now time.Time) (int64, error) {
	return tx.Exec(ctx, stmt("mismatch_clear"), attempt, now.UnixMilli())
}
