package paymentsql

import (
	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

// QueueSelect queues Attempts and Refunds in a transaction. The flush calls the functions with each row, oldest first
// per order. Both queries share a round trip with others of the same flush. The functions must not use the transaction.
func QueueSelect(tx sqldb.Tx, orders []string, attempt func(payment.Attempt), refund func(payment.Refund)) {
	queueEach(tx, stmt("attempt_select"), orders, scanAttempt, attempt)
	queueEach(tx, stmt("refund_select"), orders, scanRefund, refund)
}

// queueEach queues one query by order ids and passes each scanned row on, so that a batch sorts rows into its maps
// without a slice in between.
func queueEach[T any](
	tx sqldb.Tx, q *sqldb.Stmt, orders []string, scan func(sqldb.Rows) (T, error), each func(T),
) {
	tx.QueueQuery(sqldb.Scanned(scan, each), q, sqldb.IDs(orders))
}
