package eventsql

import (
	"embed"

	"comanda/internal/event"
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
