// Package queuesql stores outbox tables. It owns claim, deletion, failure and backlog; the owner of a table inserts its
// rows, decodes them and delivers them.
package queuesql

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"

	"comanda/internal/queue"
	"comanda/internal/sqldb"
)

//go:embed queue.sql
var text string

// Spec describes an outbox table in fragments of SQL. The table has the columns id and attempts. All fragments are
// constants of this program and are inserted into the text unchanged; they never contain a value of a request. Tables
// that are read instead of claimed, such as redis_outbox, use the same Spec and never call Claim.
type Spec struct {
	Table   string
	Name    string // prefix of the statements' names, if several specs describe one table; default Table
	Columns string // columns that Scan reads
	Due     string // column of the instant from which a row may be claimed
	Order   string // order in which rows are claimed
	Since   string // column of the instant from which a row's age counts
	Pending string // condition of rows that are not dead letters, or that belong to this spec; empty if all do
	Died    string // expression of the instant at which a dead letter died; empty for none
	Outcome string // assignments of a failure besides due time and attempts, from r.reason and r.died
}

// Table is an outbox table of rows R. It is made once per process as a package variable, because compiling a template
// is work that no request should repeat. It is safe for concurrent use.
type Table[R any] struct {
	scan                              func(sqldb.Rows) (R, error)
	due, claim, remove, fail, backlog *sqldb.Stmt
}

// New compiles the statements of a table. It panics on a spec that is not a SQL template. The name of the table is
// part of every statement's name, so that no two tables share a statement.
func New[R any](s Spec, scan func(sqldb.Rows) (R, error)) *Table[R] {
	if s.Outcome != "" {
		s.Outcome = ", " + s.Outcome
	}
	s.Name = cmp.Or(s.Name, s.Table)
	stmts := sqldb.LoadTemplate(s.Name, text, map[string]string{
		"table": s.Table, "columns": s.Columns, "due": s.Due, "order": s.Order, "since": s.Since,
		"pending": cmp.Or(s.Pending, "true"), "died": cmp.Or(s.Died, "0"), "outcome": s.Outcome,
	})
	of := func(name string) *sqldb.Stmt { return stmts.Must(s.Name + "_" + name) }
	return &Table[R]{scan, of("due"), of("claim"), of("delete"), of("fail"), of("backlog")}
}

// QueueDelete adds the deletion of rows to a transaction. A caller that has delivered rows deletes them in its next
// transaction, which saves a separate commit. If that transaction fails, the rows are delivered again, so delivery
// must be idempotent.
func (t *Table[R]) QueueDelete(tx sqldb.Tx, ids []string) {
	if len(ids) > 0 {
		tx.Queue(t.remove, idRows(ids))
	}
}

// On returns the table in a database.
func (t *Table[R]) On(db *sqldb.DB) Queue[R] { return Queue[R]{t, db} }

// Queue is an outbox table in a database. It is safe for concurrent use by any number of processes.
type Queue[R any] struct {
	table *Table[R]
	db    *sqldb.DB
}

// Claim returns up to limit due rows, counts the attempt and hides them from other claims until an instant. The rows
// are in no particular order. While no row is due, Claim only reads. until must be later than the end of the longest
// delivery: after until, another process may claim the same rows, and a failure that the slower process records then
// is ignored.
func (q Queue[R]) Claim(ctx context.Context, now, until time.Time, limit int) (claimed []R, err error) {
	// An UPDATE would begin a write transaction even if it changed nothing. On SQLite that takes the only write lock.
	if _, due, err := sqldb.One(ctx, q.db, sqldb.Value[string], q.table.due, now.UnixMilli()); err != nil || !due {
		return nil, err
	}
	err = q.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		claimed, err = sqldb.Collect(ctx, tx, q.table.scan, q.table.claim, now.UnixMilli(), until.UnixMilli(), limit)
		return err
	})
	return claimed, err
}

// DeleteQueued deletes rows that need no further attempt. Deleting a row twice is not an error: two processes may have
// delivered it.
func (q Queue[R]) DeleteQueued(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := q.db.Exec(ctx, q.table.remove, idRows(ids))
	return err
}

// idRows sorts ids, so that processes that delete the same rows lock them in one order.
func idRows(ids []string) *sqldb.RowSet {
	return sqldb.IDs(slices.Sorted(slices.Values(ids)))
}

// RecordFailures stores the failures of rows. It does not change a row that another process has claimed or failed
// since. The statement contains the condition on attempts, so no lock is held between reading a row and recording its
// failure.
func (q Queue[R]) RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error {
	if len(failures) == 0 {
		return nil
	}
	// Failures are sorted like idRows, so that a process that deletes rows and one that records failures cannot
	// deadlock.
	failures = slices.SortedFunc(slices.Values(failures), func(a, b queue.Failure) int { return strings.Compare(a.ID, b.ID) })
	_, err := q.db.Exec(ctx, q.table.fail, sqldb.NewRowSet(len(failures)).
		Text("id", func(i int) string { return failures[i].ID }).
		Int("was", func(i int) int64 { return int64(failures[i].Read) }).
		Int("attempts", func(i int) int64 { return int64(failures[i].Attempts) }).
		Int("due", func(i int) int64 { return failures[i].Due.UnixMilli() }).
		Int("died", func(i int) int64 {
			if failures[i].Dead {
				return now.UnixMilli()
			}
			return 0
		}).
		Text("reason", func(i int) string { return failures[i].Reason }))
	return err
}

// Backlog counts the rows of the table. It takes no locks and counts claimed rows as pending, because they may be
// released. max prevents negative ages of rows whose time is after now, as after the deciding clock was set back.
func (q Queue[R]) Backlog(ctx context.Context, now time.Time) (queue.Backlog, error) {
	b, _, err := sqldb.One(ctx, q.db, func(r sqldb.Rows) (b queue.Backlog, err error) {
		var since, died int64
		err = r.Scan(&b.Pending, &since, &b.Dead, &died)
		if b.Pending > 0 {
			b.Age = max(0, now.Sub(time.UnixMilli(since)))
		}
		if b.Dead > 0 && died > 0 { // some tables do not record when a row died
			b.DeadAge = max(0, now.Sub(time.UnixMilli(died)))
		}
		return b, err
	}, q.table.backlog)
	return b, err
}
