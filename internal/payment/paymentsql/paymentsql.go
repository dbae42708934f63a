// Package paymentsql writes attempts, reports and refunds inside the transactions of those who call it, and reads them.
package paymentsql

import (
	"context"
	"embed"
	"time"

	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

var (
	attemptInsert = Statements.Must("attempt_insert")
	attemptUpdate = Statements.Must("attempt_update")
	attemptSelect = Statements.Must("attempt_select")
	eventInsert   = Statements.Must("event_insert")
	refundInsert  = Statements.Must("refund_insert")
	refundSelect  = Statements.Must("refund_select")
	refundDue     = Statements.Must("refund_due")
)

func settledAt(a payment.Attempt) (int64, bool) {
	return a.SettledAt.UnixMilli(), !a.SettledAt.IsZero()
}

// QueueAttempts writes new attempts.
func QueueAttempts(tx sqldb.Tx, all []payment.Attempt) {
	if len(all) == 0 {
		return
	}
	tx.Queue(attemptInsert, sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("order_id", func(i int) string { return all[i].OrderID }).
		Text("method", func(i int) string { return string(all[i].Method) }).
		Int("amount", func(i int) int64 { return all[i].Amount }).
		Text("currency", func(i int) string { return string(all[i].Currency) }).
		Text("state", func(i int) string { return string(all[i].State) }).
		Text("ref", func(i int) string { return all[i].GatewayRef }).
		Int("created_at", func(i int) int64 { return all[i].CreatedAt.UnixMilli() }).
		NullInt("settled_at", func(i int) (int64, bool) { return settledAt(all[i]) }))
}

// QueueSettled writes the new states of attempts. The caller holds their orders' locks, so none of them is PAID yet.
func QueueSettled(tx sqldb.Tx, all []payment.Attempt) {
	if len(all) == 0 {
		return
	}
	tx.QueueExactly(int64(len(all)), attemptUpdate, sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("state", func(i int) string { return string(all[i].State) }).
		Text("ref", func(i int) string { return all[i].GatewayRef }).
		NullInt("settled_at", func(i int) (int64, bool) { return settledAt(all[i]) }))
}

// QueueEvents records reports as they came.
func QueueEvents(tx sqldb.Tx, all []payment.Event) {
	if len(all) == 0 {
		return
	}
	tx.Queue(eventInsert, sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		NullText("attempt_id", func(i int) (string, bool) { return all[i].AttemptID, all[i].AttemptID != "" }).
		NullText("order_id", func(i int) (string, bool) { return all[i].OrderID, all[i].OrderID != "" }).
		Text("method", func(i int) string { return string(all[i].Method) }).
		Text("source", func(i int) string { return all[i].Source }).
		Text("raw", func(i int) string { return all[i].Raw }).
		Text("verdict", func(i int) string { return all[i].Verdict }).
		Int("received_at", func(i int) int64 { return all[i].ReceivedAt.UnixMilli() }))
}

// QueueRefunds writes money that has become due.
func QueueRefunds(tx sqldb.Tx, all []payment.Refund) {
	if len(all) == 0 {
		return
	}
	tx.Queue(refundInsert, sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("order_id", func(i int) string { return all[i].OrderID }).
		Text("attempt_id", func(i int) string { return all[i].AttemptID }).
		Int("amount", func(i int) int64 { return all[i].Amount }).
		Text("currency", func(i int) string { return string(all[i].Currency) }).
		Text("reason", func(i int) string { return string(all[i].Reason) }).
		Int("created_at", func(i int) int64 { return all[i].CreatedAt.UnixMilli() }))
}

func orderRows(ids []string) *sqldb.RowSet {
	return sqldb.NewRowSet(len(ids)).Text("id", func(i int) string { return ids[i] })
}

// Attempts reads the attempts of orders, each order's oldest first.
func Attempts(ctx context.Context, c sqldb.Conn, orders []string) ([]payment.Attempt, error) {
	rows, err := c.Query(ctx, attemptSelect, orderRows(orders))
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (a payment.Attempt, err error) {
		var created, settled int64
		err = r.Scan(&a.ID, &a.OrderID, &a.Method, &a.Amount, &a.Currency, &a.State, &a.GatewayRef, &created, &settled)
		a.CreatedAt = time.UnixMilli(created).UTC()
		if settled != 0 {
			a.SettledAt = time.UnixMilli(settled).UTC()
		}
		return a, err
	})
}

// Refunds reads what is or was due to be given back for orders.
func Refunds(ctx context.Context, c sqldb.Conn, orders []string) ([]payment.Refund, error) {
	rows, err := c.Query(ctx, refundSelect, orderRows(orders))
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (f payment.Refund, err error) {
		var created int64
		err = r.Scan(&f.ID, &f.OrderID, &f.AttemptID, &f.Amount, &f.Currency, &f.Reason, &created)
		f.CreatedAt = time.UnixMilli(created).UTC()
		return f, err
	})
}

// Due tells how many refunds wait and since when the oldest does.
func Due(ctx context.Context, c sqldb.Conn) (n int64, oldest time.Time, err error) {
	rows, err := c.Query(ctx, refundDue)
	pair, _, err := sqldb.One(rows, err, sqldb.Pair)
	return pair[0], time.UnixMilli(pair[1]).UTC(), err
}
