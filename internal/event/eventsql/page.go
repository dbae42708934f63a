package eventsql

import (
	"context"

	"comanda/internal/sqldb"
)

var (
	deadPage  = stmts.Must("dead_page")
	deadTotal = stmts.Must("dead_total")
)

// DeadPage reads a page of dead letters, the newest first, and how many there are in all: those of the filter's consumer,
// or of every one and the relay.
func DeadPage(
	ctx context.Context, conn sqldb.Conn, f Filter, everybody bool, limit, offset int,
) ([]DeadLetter, int64, error) {
	every := int64(0)
	if everybody {
		every = 1
	}
	args := []any{every, f.Consumer, f.Type, f.ID}
	rows, err := conn.Query(ctx, deadTotal, args...)
	total, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err != nil {
		return nil, 0, err
	}
	rows, err = conn.Query(ctx, deadPage, append(args, limit, offset)...)
	page, err := sqldb.Collect(rows, err, scanDead)
	return page, total, err
}
