// Package paymentsql stores attempts, payment events, refunds and amount mismatches in the transactions of its callers.
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

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must

func nullMillis(t time.Time) (int64, bool) { return t.UnixMilli(), !t.IsZero() }

// QueueAttempts inserts attempts.
func QueueAttempts(tx sqldb.Tx, all []payment.Attempt) {
	if len(all) == 0 {
		return
	}
	tx.Queue(stmt("attempt_insert"), sqldb.NewRowSet(len(all)).
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

// QueueAttemptStates updates the states of attempts. The caller holds the locks of their orders, so none of them is
// PAID yet.
func QueueAttemptStates(tx sqldb.Tx, all []payment.Attempt) {
	if len(all) == 0 {
		return
	}
	tx.QueueExactly(int64(len(all)), stmt("attempt_update"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Text("state", func(i int) string { return string(all[i].State) }).
		Text("ref", func(i int) string { return all[i].GatewayRef }).
		Text("url", func(i int) string { return all[i].URL }).
		NullInt("settled_at", func(i int) (int64, bool) { return nullMillis(all[i].SettledAt) }).
		NullInt("check_at", func(i int) (int64, bool) { return nullMillis(all[i].CheckAt) }))
}

// QueueEvents inserts events.
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

// Attempts returns the attempts of orders, oldest first per order.
func Attempts(ctx context.Context, c sqldb.Conn, orders []string) ([]payment.Attempt, error) {
	return sqldb.Collect(ctx, c, scanAttempt, stmt("attempt_select"), sqldb.IDs(orders))
}

func scanAttempt(r sqldb.Rows) (a payment.Attempt, err error) {
	var created, settled, check int64
	err = r.Scan(&a.ID, &a.OrderID, &a.Method, &a.Amount, &a.Currency, &a.State, &a.GatewayRef, &a.URL, &created, &settled,
		&check, &a.Checks)
	a.CreatedAt, a.SettledAt, a.CheckAt = sqldb.Instant(created), sqldb.Instant(settled), sqldb.Instant(check)
	return a, err
}

// Owner is the order of an attempt and its branch.
type Owner struct {
	OrderID string
	Branch  int64
}

// Owners returns the orders of attempts by attempt id.
func Owners(ctx context.Context, c sqldb.Conn, attempts []string) (map[string]Owner, error) {
	owners := make(map[string]Owner, len(attempts))
	err := sqldb.Each(ctx, c, func(rows sqldb.Rows) error {
		var id string
		var o Owner
		if err := rows.Scan(&id, &o.OrderID, &o.Branch); err != nil {
			return err
		}
		owners[id] = o
		return nil
	}, stmt("attempt_find"), sqldb.IDs(attempts))
	return owners, err
}

// ClaimChecks returns up to limit attempts whose check is due, and schedules the next check of each.
func ClaimChecks(ctx context.Context, db *sqldb.DB, now time.Time, limit int) ([]payment.Attempt, error) {
	return claim(ctx, db, scanAttempt, stmt("attempt_due"), now, limit, stmt("attempt_later"), "check_at",
		func(a *payment.Attempt) (string, time.Time) { return a.ID, a.NextCheck(now) })
}

// claim returns up to limit rows that are due, and schedules the next try of each in the same transaction, so that one
// whose process dies is tried again. Any number of processes may claim at once: a row is due for one of them.
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

// CountStuck counts the attempts that staff must check, by state.
func CountStuck(ctx context.Context, c sqldb.Conn) (map[payment.State]int64, error) {
	counts := map[payment.State]int64{}
	err := sqldb.Each(ctx, c, func(rows sqldb.Rows) error {
		var s payment.State
		var n int64
		if err := rows.Scan(&s, &n); err != nil {
			return err
		}
		counts[s] = n
		return nil
	}, stmt("attempt_stuck"))
	return counts, err
}
