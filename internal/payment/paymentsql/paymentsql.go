// Package paymentsql stores attempts, payment events, refunds and amount mismatches in the transactions of its callers.
package paymentsql

import (
	"context"
	"embed"
	"strings"
	"time"

	"comanda/internal/payment"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must

// nullMillis stores the zero time as NULL. Due rows are found by indexes that leave NULL out, so these indexes
// contain only rows with pending work.
func nullMillis(t time.Time) (int64, bool) { return t.UnixMilli(), !t.IsZero() }

// QueueAttempts writes attempts: it inserts new ones and updates the states of others. Amount and method are written
// once. The caller holds the locks of their orders, so none of them is PAID yet. The statement skips PAID rows, and
// another number of written rows fails the transaction: a defect in the locking rolls back instead of undoing a payment.
//
// Like all Queue functions of this package it sends nothing by itself: the rows of all orders of a group commit go in one
// statement, and errors are those of the flush. Without rows there is no statement.
func QueueAttempts(tx sqldb.Tx, all []payment.Attempt) {
	if len(all) == 0 {
		return
	}
	tx.QueueExactly(int64(len(all)), stmt("attempt_put"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("order_id", func(i int) string { return all[i].OrderID }).
		Text("method", func(i int) string { return string(all[i].Method) }).
		Int("amount", func(i int) int64 { return all[i].Amount }).
		Text("currency", func(i int) string { return string(all[i].Currency) }).
		Text("state", func(i int) string { return string(all[i].State) }).
		Text("ref", func(i int) string { return all[i].GatewayRef }).
		Text("url", func(i int) string { return all[i].URL }).
		Int("created_at", func(i int) int64 { return all[i].CreatedAt.UnixMilli() }).
		NullInt("settled_at", func(i int) (int64, bool) { return nullMillis(all[i].SettledAt) }).
		NullInt("check_at", func(i int) (int64, bool) { return nullMillis(all[i].CheckAt) }))
}

// QueueEvents inserts events. For a message about an unknown attempt, the attempt and the order are NULL.
func QueueEvents(tx sqldb.Tx, all []payment.Event) {
	if len(all) == 0 {
		return
	}
	tx.Queue(stmt("event_insert"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		NullText("attempt_id", func(i int) (string, bool) { return all[i].AttemptID, all[i].AttemptID != "" }).
		NullText("order_id", func(i int) (string, bool) { return all[i].OrderID, all[i].OrderID != "" }).
		Text("method", func(i int) string { return string(all[i].Method) }).
		Text("source", func(i int) string { return all[i].Source }).
		Text("raw", func(i int) string { return all[i].Raw }).
		Text("headers", func(i int) string { return all[i].Headers }).
		Text("verdict", func(i int) string { return all[i].Verdict }).
		Int("received_at", func(i int) int64 { return all[i].ReceivedAt.UnixMilli() }))
}

// Attempts returns the stored attempts of orders, oldest first per order. The first attempt of an order may have no row, see
// ordering.Order.FirstAttempt.
func Attempts(ctx context.Context, c sqldb.Conn, orders []string) ([]payment.Attempt, error) {
	return sqldb.Collect(ctx, c, scanAttempt, stmt("attempt_select"), sqldb.IDs(orders))
}

// scanAttempt reads attempt_columns. The query replaces NULL times by 0, which Instant returns as the zero time.
var scanAttempt = sqldb.Row(func(a *payment.Attempt) []any {
	return []any{
		&a.ID, &a.OrderID, &a.Method, &a.Amount, &a.Currency, &a.State, &a.GatewayRef, &a.URL, sqldb.Time(&a.CreatedAt),
		sqldb.Time(&a.SettledAt), sqldb.Time(&a.CheckAt), &a.Checks,
	}
})

// Owner is the order of an attempt and its branch.
type Owner struct {
	OrderID string
	Branch  int64
}

// Owners returns the orders of attempts by attempt id. Unknown attempts are missing from the map, so that a forged
// reference costs two lookups by index.
func Owners(ctx context.Context, c sqldb.Conn, attempts []string) (map[string]Owner, error) {
	owners := make(map[string]Owner, len(attempts))
	return owners, sqldb.Each(ctx, c, func(rows sqldb.Rows) error {
		var id string
		var o Owner
		err := rows.Scan(&id, &o.OrderID, &o.Branch)
		owners[id] = o
		return err
	}, stmt("attempt_find"), sqldb.IDs(attempts))
}

// ClaimChecks returns up to limit attempts whose check is due, and schedules the next check of each. The next check is
// moved before the gateway is called, so two processes do not check one attempt at the same time, and VNPay does not
// refuse the second query.
func ClaimChecks(ctx context.Context, db *sqldb.DB, now time.Time, limit int) ([]payment.Attempt, error) {
	return claim(ctx, db, scanAttempt, stmt("attempt_due"), now, limit, stmt("attempt_later"), "check_at",
		func(a *payment.Attempt) (string, time.Time) { return a.ID, a.NextCheck(now) })
}

// claim returns up to limit rows that are due, and schedules the next attempt of each in the same transaction. So a
// row is tried again if the process dies. Any number of processes may claim at once: each due row goes to one of them.
// On PostgreSQL a row that another transaction has locked is skipped; SQLite has only one writer. next returns the
// zero time for a row that is not tried again. It is called twice for each row, so it must return the same value each
// time.
func claim[T any](
	ctx context.Context, db *sqldb.DB, scan func(sqldb.Rows) (T, error), dueRows *sqldb.Stmt, now time.Time, limit int,
	later *sqldb.Stmt, column string, next func(*T) (id string, at time.Time),
) (due []T, err error) {
	err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		due, err = sqldb.Collect(ctx, tx, scan, dueRows, now.UnixMilli(), limit)
		if err != nil || len(due) == 0 {
			return err
		}
		_, err = tx.Exec(ctx, later, sqldb.NewRowSet(len(due)).
			Text("id", func(i int) string { id, _ := next(&due[i]); return id }).
			NullInt(column, func(i int) (int64, bool) { _, at := next(&due[i]); return nullMillis(at) }))
		return err
	})
	return due, err
}

// CountStuck counts the attempts that staff must check, by state. A state without attempts is missing from the map.
// Few attempts are in these states, and a partial index contains only them.
func CountStuck(ctx context.Context, c sqldb.Conn, now time.Time) (map[payment.State]int64, error) {
	return sqldb.Map[payment.State, int64](ctx, c, stmt("attempt_stuck"), payment.StuckSince(now).UnixMilli())
}

// QueueSelect queues the queries of Attempts and Refunds in a transaction. The flush calls the functions with each
// row, oldest first per order. Both queries share a round trip with others of the same flush. The functions must not
// use the transaction.
func QueueSelect(tx sqldb.Tx, orders []string, attempt func(payment.Attempt), refund func(payment.Refund)) {
	queueEach(tx, stmt("attempt_select"), orders, scanAttempt, attempt)
	queueEach(tx, stmt("refund_select"), orders, scanRefund, refund)
}

// queueEach queues one query by order ids and passes each scanned row to a function, so that a batch can fill its
// maps without an intermediate slice.
func queueEach[T any](
	tx sqldb.Tx, q *sqldb.Stmt, orders []string, scan func(sqldb.Rows) (T, error), each func(T),
) {
	tx.QueueQuery(sqldb.Scanned(scan, each), q, sqldb.IDs(orders))
}

// QueueMismatches inserts amount mismatches. Existing ones are not changed, even if they were cleared.
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

// MoveDeadlines moves the times of checks and of sending refunds, and the creation time of attempts that were not sent
// to a gateway yet, by the same amount as the deciding clock was moved. It returns the number of moved checks and
// refunds. Without it, a clock that was set forward would make every check due at once, and a clock that was set back
// would delay refunds by hours. The caller moves all deadlines of the installation in one transaction.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	if _, err := tx.Exec(ctx, stmt("attempt_age_move"), by.Milliseconds()); err != nil {
		return 0, err
	}
	checks, err := tx.Exec(ctx, stmt("attempt_deadline_move"), by.Milliseconds())
	if err != nil {
		return 0, err
	}
	sends, err := tx.Exec(ctx, stmt("refund_deadline_move"), by.Milliseconds())
	return checks + sends, err
}

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
