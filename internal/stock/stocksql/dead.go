package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

var (
	opsDead      = Statements.Must("ops_dead")
	opsDeadTotal = Statements.Must("ops_dead_total")
)

// DeadEntry is an outbox entry that Redis has rejected too often.
type DeadEntry struct {
	ID     string
	Scope  stock.Scope
	Ops    string // JSON
	Cause  string
	At     time.Time
	DiedAt time.Time
}

// DeadEntries returns a page of dead entries, newest first, and the total. An empty id selects all.
func (l *Store) DeadEntries(ctx context.Context, id string, limit, offset int) ([]DeadEntry, int64, error) {
	rows, err := l.db.Query(ctx, opsDeadTotal, id)
	total, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err != nil {
		return nil, 0, err
	}
	rows, err = l.db.Query(ctx, opsDead, id, limit, offset)
	page, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (e DeadEntry, err error) {
		var at, died int64
		err = r.Scan(&e.ID, &e.Scope.Branch, &e.Scope.Date, &e.Ops, &at, &died, &e.Cause)
		e.At, e.DiedAt = time.UnixMilli(at).UTC(), time.UnixMilli(died).UTC()
		return e, err
	})
	return page, total, err
}
