// Package eventsql maps events to SQL rows and stores dead letters.
//
// A dead letter is an event that the relay could not publish (Consumer is empty) or that one consumer could not apply.
// Only a replay deletes it, so no event is lost silently (I15).
package eventsql

import (
	"cmp"
	"context"
	"embed"
	"time"

	"comanda/internal/event"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// RowSet returns one row per event with the columns that all event tables start with. The caller adds the further
// columns of its table, in the order that its statement declares.
func RowSet[E any](all []E, of func(E) event.Event) *sqldb.RowSet {
	return sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return of(all[i]).ID }).
		Text("aggregate", func(i int) string { return of(all[i]).Aggregate }).
		Text("aggregate_id", func(i int) string { return of(all[i]).AggregateID }).
		Int("aggregate_seq", func(i int) int64 { return of(all[i]).Seq }).
		Int("branch_id", func(i int) int64 { return of(all[i]).BranchID }).
		Text("event_type", func(i int) string { return of(all[i]).Type }).
		Text("payload", func(i int) string { return string(of(all[i]).Payload) }).
		Int("created_at", func(i int) int64 { return of(all[i]).At.UnixMilli() })
}

// Scan reads the columns of RowSet into an event, and the columns behind them into more.
func Scan(r sqldb.Rows, more ...any) (event.Event, error) {
	var e event.Event
	dest := []any{
		&e.ID, &e.Aggregate, &e.AggregateID, &e.Seq, &e.BranchID, &e.Type, (*[]byte)(&e.Payload), sqldb.Time(&e.At),
	}
	err := r.Scan(append(dest, more...)...)
	return e, err
}

// DeadLetter is an event that was not published or applied within the maximum number of attempts.
type DeadLetter struct {
	event.Event
	Consumer string // empty for the relay
	Reason   string // the last error
	DiedAt   time.Time
}

// Filter selects dead letters of one consumer. An empty Type or ID matches all.
type Filter struct {
	Consumer string // empty for the relay
	Type     string
	ID       string
}

// InsertDeadLetters queues the insertion of dead letters. A letter that already exists gets the newer reason. It is one
// statement, which travels with the caller's next round trip.
func InsertDeadLetters(tx sqldb.Tx, letters []DeadLetter) {
	if len(letters) == 0 {
		return
	}
	rows := RowSet(letters, func(l DeadLetter) event.Event { return l.Event }).
		Text("consumer_name", func(i int) string { return letters[i].Consumer }).
		Text("reason", func(i int) string { return queue.Reason(letters[i].Reason) }).
		Int("died_at", func(i int) int64 { return letters[i].DiedAt.UnixMilli() })
	tx.Queue(stmt("dead_insert"), rows)
}

// DeadLetters returns up to limit letters in the order of their ids, starting behind the id after (empty for the first
// page). Pages continue by id instead of by offset, because a replay deletes letters between two pages.
func DeadLetters(ctx context.Context, conn sqldb.Conn, f Filter, after string, limit int) ([]DeadLetter, error) {
	return sqldb.Collect(ctx, conn, scanDead, stmt("dead_select"), f.Consumer, f.Type, f.ID, after, limit)
}

// DeleteDeadLetters deletes dead letters of a consumer and returns those that still existed. Of two replays at the same
// time only one gets a letter; the other must not deliver it.
func DeleteDeadLetters(ctx context.Context, tx sqldb.Tx, consumer string, letters []DeadLetter) ([]DeadLetter, error) {
	ids := sqldb.NewRowSet(len(letters)).Text("id", func(i int) string { return letters[i].ID })
	return sqldb.Collect(ctx, tx, scanDead, stmt("dead_delete"), ids, consumer)
}

// CountDeadLetters returns the number of dead letters of each consumer.
func CountDeadLetters(ctx context.Context, conn sqldb.Conn) ([]queue.DeadLetterCount, error) {
	return sqldb.Collect(ctx, conn, func(r sqldb.Rows) (c queue.DeadLetterCount, err error) {
		err = r.Scan(&c.Consumer, &c.Letters)
		c.Consumer = cmp.Or(c.Consumer, queue.RelayConsumer)
		return c, err
	}, stmt("dead_summary"))
}

// scanDead reads a row of dead_columns.
func scanDead(r sqldb.Rows) (l DeadLetter, err error) {
	l.Event, err = Scan(r, &l.Consumer, &l.Reason, sqldb.Time(&l.DiedAt))
	return l, err
}

// DeadLetterPage returns a page of dead letters, newest first, and their total number. The filter's consumer is ignored
// if allConsumers is set. The page and the total are separate statements, so a letter stored in between may be in only
// one of them.
func DeadLetterPage(
	ctx context.Context, conn sqldb.Conn, f Filter, allConsumers bool, limit, offset int,
) ([]queue.DeadLetter, int64, error) {
	every := int64(0)
	if allConsumers {
		every = 1
	}
	args := []any{every, f.Consumer, f.Type, f.ID}
	total, err := sqldb.Scalar[int64](ctx, conn, stmt("dead_total"), args...)
	if err != nil {
		return nil, 0, err
	}
	page, err := sqldb.Collect(ctx, conn, func(r sqldb.Rows) (queue.DeadLetter, error) {
		l, err := scanDead(r)
		return queue.DeadLetter{
			ID: l.ID, Consumer: cmp.Or(l.Consumer, queue.RelayConsumer), Type: l.Type, Branch: l.BranchID,
			About: l.Aggregate + ":" + l.AggregateID, Payload: l.Payload, Reason: l.Reason, CreatedAt: l.At, DiedAt: l.DiedAt,
		}, err
	}, stmt("dead_page"), append(args, limit, offset)...)
	return page, total, err
}
