package orderingsql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/audit/auditsql"
	"comanda/internal/cart/cartsql"
	"comanda/internal/document/documentsql"
	"comanda/internal/event/outbox"
	"comanda/internal/ordering"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

// write queues all decisions of a batch, which travel to the database with the commit. Only batches with actions of
// the staff lock the audit log. They lock it last, to hold it as briefly as possible. A returned entry must be sent to
// the admission cache only after the commit.
func write(ctx context.Context, tx sqldb.Tx, b *ordering.Batch) ([]stock.OutboxEntry, error) {
	now := b.Now.UnixMilli()
	// Rows are inserted after the rows that they refer to: holds before orders, orders before items, attempts and
	// refunds.
	stocksql.QueueDeltas(tx, b.Balances)
	queueNumbers(tx, b)
	stocksql.QueueHolds(tx, b.NewHolds, now)
	stocksql.QueueTransitions(tx, b.Transitions, now)
	stocksql.QueueExtended(tx, b.Deadlines)
	queueOrders(tx, b.New)
	queueItems(tx, b.New)
	queueChanged(tx, b)
	queueRepriced(tx, slices.Collect(maps.Values(b.Repriced)))
	queueSteps(tx, b)
	paymentsql.QueueAttempts(tx, slices.Collect(maps.Values(b.ChangedAttempts)))
	paymentsql.QueueEvents(tx, b.PaymentEvents)
	paymentsql.QueueMismatches(tx, b.Mismatches)
	paymentsql.QueueRefunds(tx, b.NewRefunds)
	paymentsql.QueueRefundResults(tx, slices.Collect(maps.Values(b.ChangedRefunds)))
	if len(b.Events) > 0 {
		outbox.Queue(tx, b.Events)
	}
	cartsql.QueueShared(tx, b.SharedCarts)
	queueDocuments(tx, b, cartsql.QueueDelete(tx, b.OrderedCarts))
	entries, err := stocksql.QueueOps(tx, b.Ops, b.NewID, now)
	if err != nil {
		return nil, err
	}
	return entries, auditsql.Record(ctx, tx, b.Audit...)
}

// queueDocuments queues the refresh of the documents of placed and changed orders, of placed orders' items, which never
// change, and of carts. It must run after queueChanged, which removes placed orders from b.Changed.
func queueDocuments(tx sqldb.Tx, b *ordering.Batch, carts []documentsql.Change) {
	placed := make([]string, len(b.New))
	for i, o := range b.New {
		placed[i] = o.ID
	}
	touched := slices.AppendSeq(slices.Clip(placed), maps.Keys(b.Changed))
	documentsql.Queue(tx, b.Now, append(carts, documentsql.Change{Entity: "order", IDs: touched},
		documentsql.Change{Entity: "orderDetail", IDs: placed})...)
}

// queueNumbers stores the last number of each scope, which queueNumbers of the loader has locked.
func queueNumbers(tx sqldb.Tx, b *ordering.Batch) {
	if len(b.New) == 0 {
		return
	}
	scopes := slices.SortedFunc(maps.Keys(b.Numbers), func(a, b stock.Scope) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Date, b.Date))
	})
	tx.Queue(stmt("number_set"), scopeRows(scopes).Int("last", func(i int) int64 { return b.Numbers[scopes[i]] }))
}

// millis returns milliseconds, the unit of all times in SQL, or NULL for the zero time.
func millis(t time.Time) (int64, bool) { return t.UnixMilli(), !t.IsZero() }

// reason returns the reason of a cancellation, or NULL.
func reason(o *ordering.Order) (string, bool) { return string(o.CancelReason), o.CancelReason != "" }

// queueOrders inserts placed orders in their state at the end of the batch: a later command of the batch may have
// changed them.
func queueOrders(tx sqldb.Tx, orders []*ordering.Order) {
	if len(orders) == 0 {
		return
	}
	tx.Queue(stmt("order_insert"), sqldb.NewRowSet(len(orders)).
		Text("id", func(i int) string { return orders[i].ID }).
		Int("branch_id", func(i int) int64 { return orders[i].Scope.Branch }).
		NullText("visit_id", func(i int) (string, bool) { return filled(orders[i].VisitID) }).
		NullText("guest_hash", func(i int) (string, bool) { return filled(orders[i].GuestHash) }).
		Int("menu_version_id", func(i int) int64 { return orders[i].MenuVersionID }).
		Text("hold_id", holdColumn(orders)).
		Text("client_txn_id", func(i int) string { return orders[i].ClientTxnID }).
		Text("digest", func(i int) string { return orders[i].Digest }).
		Text("biz_date", func(i int) string { return orders[i].Scope.Date }).
		Int("number", func(i int) int64 { return orders[i].Number }).
		Text("status", func(i int) string { return string(orders[i].Status) }).
		Text("payment_status", func(i int) string { return string(orders[i].PaymentStatus) }).
		Text("payment_method", func(i int) string { return string(orders[i].Method) }).
		NullText("cancel_reason", func(i int) (string, bool) { return reason(orders[i]) }).
		Int("total", func(i int) int64 { return orders[i].Total }).
		Text("currency", func(i int) string { return string(orders[i].Currency) }).
		Int("pay_by", func(i int) int64 { return orders[i].PayBy.UnixMilli() }).
		Int("expires_at", func(i int) int64 { return orders[i].ExpiresAt.UnixMilli() }).
		NullInt("paid_at", func(i int) (int64, bool) { return millis(orders[i].PaidAt) }).
		NullInt("canceled_at", func(i int) (int64, bool) { return millis(orders[i].CanceledAt) }).
		Int("created_at", func(i int) int64 { return orders[i].CreatedAt.UnixMilli() }).
		Int("updated_at", func(i int) int64 { return orders[i].UpdatedAt.UnixMilli() }).
		Int("version", func(i int) int64 { return orders[i].Version }).
		NullText("payment_ref", func(i int) (string, bool) { return filled(orders[i].PaymentRef) }).
		Text("kind", func(i int) string { return string(orders[i].Kind) }).
		NullInt("user_id", func(i int) (int64, bool) { return orders[i].UserID, orders[i].UserID != 0 }).
		NullText("receiver_name", func(i int) (string, bool) { return filled(orders[i].Receiver.Name) }).
		NullText("receiver_phone", func(i int) (string, bool) { return filled(orders[i].Receiver.Phone) }).
		NullText("receiver_address", func(i int) (string, bool) { return filled(orders[i].Receiver.Address) }).
		NullText("receiver_email", func(i int) (string, bool) { return filled(orders[i].Receiver.Email) }).
		NullText("receiver_note", func(i int) (string, bool) { return filled(orders[i].Receiver.Note) }).
		NullText("quote", func(i int) (string, bool) { return filled(orders[i].Quote) }).
		NullInt("discount", quoted(orders, func(o *ordering.Order) int64 { return o.Discount })).
		NullInt("service", quoted(orders, func(o *ordering.Order) int64 { return o.Service })).
		NullInt("tax", quoted(orders, func(o *ordering.Order) int64 { return o.Tax })).
		NullInt("voucher_id", func(i int) (int64, bool) { return orders[i].Voucher, orders[i].Voucher != 0 }))
}

// holdColumn returns the column hold_id, which is empty for the first hold of an order.
func holdColumn(orders []*ordering.Order) func(i int) string {
	return func(i int) string {
		if o := orders[i]; o.HoldID != o.ID {
			return o.HoldID
		}
		return ""
	}
}

// quoted returns a column of the quotes of orders; it is NULL for an order whose total is the sum of its lines.
func quoted(orders []*ordering.Order, amount func(*ordering.Order) int64) func(i int) (int64, bool) {
	return func(i int) (int64, bool) { return amount(orders[i]), orders[i].Quote != "" }
}

// filled reports an empty text as NULL.
func filled(s string) (string, bool) { return s, s != "" }

// queueItems inserts the lines of placed orders. Lines count from 1.
func queueItems(tx sqldb.Tx, orders []*ordering.Order) {
	type line struct {
		order string
		n     int
		ordering.Item
	}
	count := 0
	for _, o := range orders {
		count += len(o.Items)
	}
	lines := make([]line, 0, count)
	for _, o := range orders {
		for n, it := range o.Items {
			lines = append(lines, line{o.ID, n + 1, it})
		}
	}
	if len(lines) == 0 {
		return
	}
	tx.Queue(stmt("item_insert"), sqldb.NewRowSet(len(lines)).
		Text("order_id", func(i int) string { return lines[i].order }).
		Int("line", func(i int) int64 { return int64(lines[i].n) }).
		Int("item", func(i int) int64 { return lines[i].ItemID }).
		Int("dish", func(i int) int64 { return lines[i].DishID }).
		Int("name", func(i int) int64 { return lines[i].NameID }).
		Int("price", func(i int) int64 { return lines[i].Price }).
		Int("qty", func(i int) int64 { return lines[i].Qty }).
		Text("notes", func(i int) string { return lines[i].Notes }).
		Text("options", func(i int) string { return lines[i].Options }))
}

// queueChanged updates existing orders. It removes the orders placed in this batch from b.Changed, because their
// insertion already writes the final state. QueueExactly fails the batch if another transaction has written a newer
// version of one of them.
func queueChanged(tx sqldb.Tx, b *ordering.Batch) {
	for _, o := range b.New {
		delete(b.Changed, o.ID)
	}
	if len(b.Changed) == 0 {
		return
	}
	orders := slices.Collect(maps.Values(b.Changed))
	tx.QueueExactly(int64(len(orders)), stmt("order_update"), sqldb.NewRowSet(len(orders)).
		Text("id", func(i int) string { return orders[i].ID }).
		Text("hold_id", holdColumn(orders)).
		Text("status", func(i int) string { return string(orders[i].Status) }).
		Text("payment_status", func(i int) string { return string(orders[i].PaymentStatus) }).
		Text("payment_method", func(i int) string { return string(orders[i].Method) }).
		NullText("payment_ref", func(i int) (string, bool) { return filled(orders[i].PaymentRef) }).
		NullText("cancel_reason", func(i int) (string, bool) { return reason(orders[i]) }).
		Int("refunded", func(i int) int64 { return orders[i].Refunded }).
		Int("pay_by", func(i int) int64 { return orders[i].PayBy.UnixMilli() }).
		Int("prolonged", func(i int) int64 { return int64(orders[i].Extensions) }).
		Int("expires_at", func(i int) int64 { return orders[i].ExpiresAt.UnixMilli() }).
		NullInt("paid_at", func(i int) (int64, bool) { return millis(orders[i].PaidAt) }).
		NullInt("canceled_at", func(i int) (int64, bool) { return millis(orders[i].CanceledAt) }).
		Int("updated_at", func(i int) int64 { return orders[i].UpdatedAt.UnixMilli() }).
		Int("version", func(i int) int64 { return orders[i].Version }).
		NullInt("stepped_at", func(i int) (int64, bool) { return millis(orders[i].SteppedAt) }).
		Int("void_seen", func(i int) int64 { return sqldb.Flag(orders[i].VoidSeen) }))
}

// queueRepriced stores the totals of orders whose discount changed.
func queueRepriced(tx sqldb.Tx, orders []*ordering.Order) {
	if len(orders) == 0 {
		return
	}
	tx.Queue(stmt("order_reprice"), sqldb.NewRowSet(len(orders)).
		Text("id", func(i int) string { return orders[i].ID }).
		Int("total", func(i int) int64 { return orders[i].Total }).
		NullText("quote", func(i int) (string, bool) { return filled(orders[i].Quote) }).
		NullInt("discount", quoted(orders, func(o *ordering.Order) int64 { return o.Discount })).
		NullInt("service", quoted(orders, func(o *ordering.Order) int64 { return o.Service })).
		NullInt("tax", quoted(orders, func(o *ordering.Order) int64 { return o.Tax })))
}

// queueSteps queues the kitchen's steps and the items that it marked as done or not done.
func queueSteps(tx sqldb.Tx, b *ordering.Batch) {
	if steps := b.Steps; len(steps) > 0 {
		tx.Queue(stmt("step_insert"), sqldb.NewRowSet(len(steps)).
			Text("order_id", func(i int) string { return steps[i].OrderID }).
			Int("version", func(i int) int64 { return steps[i].Version }).
			Int("at", func(i int) int64 { return steps[i].At.UnixMilli() }).
			Text("from_status", func(i int) string { return string(steps[i].From) }).
			Text("to_status", func(i int) string { return string(steps[i].To) }).
			Text("actor", func(i int) string { return steps[i].By }))
	}
	if len(b.Marks) > 0 {
		// Index starts at 0 and the column line at 1.
		lines := slices.Collect(maps.Keys(b.Marks))
		tx.QueueExactly(int64(len(lines)), stmt("item_done"), sqldb.NewRowSet(len(lines)).
			Text("order_id", func(i int) string { return lines[i].OrderID }).
			Int("line", func(i int) int64 { return int64(lines[i].Index) + 1 }).
			NullInt("done_at", func(i int) (int64, bool) { return millis(b.Marks[lines[i]]) }))
	}
}
