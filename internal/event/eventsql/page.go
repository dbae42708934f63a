package eventsql

import (
	"cmp"
	"context"

	"comanda/internal/queue"
	"comanda/internal/sqldb"
)

// DeadLetterPage returns a page of dead letters, newest first, and their total number. The filter's consumer is ignored
// if allConsumers is set.
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
