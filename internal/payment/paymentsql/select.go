package paymentsql

import (
	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

// QueueSelect is Attempts and Refunds within a transaction: with the flush each of them is given, an order's oldest first.
func QueueSelect(tx sqldb.Tx, orders []string, attempt func(payment.Attempt), refund func(payment.Refund)) {
	queueEach(tx, attemptSelect, orders, scanAttempt, attempt)
	queueEach(tx, refundSelect, orders, scanRefund, refund)
}

func queueEach[T any](
	tx sqldb.Tx, q *sqldb.Stmt, orders []string, scan func(sqldb.Rows) (T, error), give func(T),
) {
	tx.QueueQuery(func(rows sqldb.Rows) error {
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return err
			}
			give(one)
		}
		return nil
	}, q, orderRows(orders))
}
