package paymentsql

import (
	"context"
	"strings"
	"time"

	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

// QueueRefunds inserts refunds. A second refund of one attempt that staff did not request violates a unique index:
// captured money becomes due once, whatever the number of reports.
func QueueRefunds(tx sqldb.Tx, all []payment.Refund) {
	if len(all) == 0 {
		return
	}
	tx.Queue(stmt("refund_insert"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("order_id", func(i int) string { return all[i].OrderID }).
		Text("attempt_id", func(i int) string { return all[i].AttemptID }).
		Text("method", func(i int) string { return string(all[i].Method) }).
		Int("amount", func(i int) int64 { return all[i].Amount }).
		Text("currency", func(i int) string { return string(all[i].Currency) }).
		Text("state", func(i int) string { return string(all[i].State) }).
		Text("reason", func(i int) string { return string(all[i].Reason) }).
		Text("note", func(i int) string { return all[i].Note }).
		Text("decided_by", func(i int) string { return all[i].By }).
		Text("portal_ref", func(i int) string { return all[i].PortalRef }).
		NullInt("send_at", func(i int) (int64, bool) { return nullMillis(all[i].SendAt) }).
		Int("created_at", func(i int) int64 { return all[i].CreatedAt.UnixMilli() }).
		NullInt("done_at", func(i int) (int64, bool) { return nullMillis(all[i].DoneAt) }).
		NullText("client_txn_id", func(i int) (string, bool) { return all[i].ClientTxnID, all[i].ClientTxnID != "" }))
}

// QueueRefundResults updates the states of refunds. The caller holds the locks of their orders, so none of them is
// DONE yet. The statement skips DONE refunds, which then fails the transaction. Sent and PriorRefunds are not written:
// only MarkSent sets them.
func QueueRefundResults(tx sqldb.Tx, all []payment.Refund) {
	if len(all) == 0 {
		return
	}
	tx.QueueExactly(int64(len(all)), stmt("refund_update"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("state", func(i int) string { return string(all[i].State) }).
		Text("note", func(i int) string { return all[i].Note }).
		Text("decided_by", func(i int) string { return all[i].By }).
		Text("ref", func(i int) string { return all[i].GatewayRef }).
		Text("code", func(i int) string { return all[i].Code }).
		Int("tries", func(i int) int64 { return int64(all[i].Tries) }).
		NullInt("send_at", func(i int) (int64, bool) { return nullMillis(all[i].SendAt) }).
		NullInt("done_at", func(i int) (int64, bool) { return nullMillis(all[i].DoneAt) }))
}

// Refunds returns the refunds of orders.
func Refunds(ctx context.Context, c sqldb.Conn, orders []string) ([]payment.Refund, error) {
	return sqldb.Collect(ctx, c, scanRefund, stmt("refund_select"), sqldb.IDs(orders))
}

// scanRefund reads refund_columns. One column stores both Sent and the prior refunds: NULL until MarkSent, afterwards
// the ids separated by spaces, or an empty text for none.
func scanRefund(r sqldb.Rows) (f payment.Refund, err error) {
	var before string
	err = r.Scan(&f.ID, &f.OrderID, &f.AttemptID, &f.Method, &f.Amount, &f.Currency, &f.State, &f.Reason, &f.Note, &f.By,
		&f.GatewayRef, &f.PortalRef, &f.Code, sqldb.Time(&f.SendAt), &f.Tries, &f.Sent, &before, sqldb.Time(&f.CreatedAt),
		sqldb.Time(&f.DoneAt), &f.ClientTxnID)
	if before != "" {
		f.PriorRefunds = strings.Fields(before)
	}
	return f, err
}

// ClaimRefunds returns up to limit refunds that are due to be sent, and schedules a retry of each. Of one attempt it
// claims at most one refund, so that the gateway's answers to two of them cannot be confused.
func ClaimRefunds(ctx context.Context, db *sqldb.DB, now time.Time, limit int) ([]payment.Refund, error) {
	return claim(ctx, db, scanRefund, stmt("refund_send"), now, limit, stmt("refund_later"), "send_at",
		func(r *payment.Refund) (string, time.Time) { return r.ID, r.RetryAt(now) })
}

// MarkSent stores, before a refund is first sent, the ids that its gateway lists. If another process has done so
// already, MarkSent fails, and the other process sends the refund. It commits before the request is sent: after a
// crash in between, the refund counts as sent and is looked up first.
func MarkSent(ctx context.Context, db *sqldb.DB, id string, before []string) error {
	return db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		tx.QueueExactly(1, stmt("refund_sent"), id, strings.Join(before, " "))
		return nil
	})
}

// OutstandingRefunds returns the number of refunds that are not done, and the time of the oldest; ignore the time if
// there are none. Such refunds wait for staff or are being sent.
func OutstandingRefunds(ctx context.Context, c sqldb.Conn) (n int64, oldest time.Time, err error) {
	pair, _, err := sqldb.One(ctx, c, sqldb.Pair, stmt("refund_due"))
	return pair[0], time.UnixMilli(pair[1]).UTC(), err
}
