package orderingsql

import (
	"cmp"
	"context"
	"slices"

	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

// lockHolds flushes everything queued and locks the holds of existing orders in the same round trip.
func (l *loader) lockHolds(ctx context.Context, held []stock.HoldState) error {
	if len(held) == 0 {
		return l.tx.Flush(ctx)
	}
	slices.SortFunc(held, func(a, b stock.HoldState) int { return cmp.Compare(a.Hold.ID, b.Hold.ID) })
	return stocksql.LockHolds(ctx, l.tx, held, l.batch.Balances)
}

// lockOrders locks orders and reads what these locks protect: items, attempts and refunds.
func (l *loader) lockOrders(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		o, err := scanOrder(rows)
		if err != nil {
			return err
		}
		l.batch.Orders[o.ID] = &o
		return nil
	}, stmt("order_lock"), idRows(ids))
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		id, it, err := scanItem(rows)
		if err != nil {
			return err
		}
		o := l.batch.Orders[id]
		o.Items = append(o.Items, it)
		return nil
	}, stmt("item_select"), idRows(ids))
	paymentsql.QueueSelect(l.tx, ids,
		func(a payment.Attempt) { l.batch.Attempts[a.OrderID] = append(l.batch.Attempts[a.OrderID], a) },
		func(r payment.Refund) {
			l.batch.RefundsByOrder[r.OrderID] = append(l.batch.RefundsByOrder[r.OrderID], r)
		})
	return l.tx.Flush(ctx)
}
