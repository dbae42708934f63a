package orderingsql

import (
	"context"
	"maps"
	"slices"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// queueSteps queues the kitchen's steps and the items that it marked as done or not done.
func queueSteps(tx sqldb.Tx, b *ordering.Batch) {
	if steps := b.Steps; len(steps) > 0 {
		tx.Queue(stmt("step_insert"), sqldb.NewRowSet(len(steps)).
			Text("order_id", func(i int) string { return steps[i].OrderID }).
			Int("version", func(i int) int64 { return steps[i].Version }).
			Int("at", func(i int) int64 { return steps[i].At.UnixMilli() }).
			Text("from_status", func(i int) string { return string(steps[i].From) }).
			Text("to_status", func(i int) string { return string(steps[i].To) }).
			Text("actor", func(i int) string { return steps[i].By }))
	}
	if len(b.Marks) > 0 {
		lines := slices.Collect(maps.Keys(b.Marks))
		tx.QueueExactly(int64(len(lines)), stmt("item_done"), sqldb.NewRowSet(len(lines)).
			Text("order_id", func(i int) string { return lines[i].OrderID }).
			Int("line", func(i int) int64 { return int64(lines[i].Index) + 1 }).
			NullInt("done_at", func(i int) (int64, bool) { return millis(b.Marks[lines[i]]) }))
	}
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// selectSteps reads the steps of orders, in ascending order of version within each order.
func selectSteps(ctx context.Context, c sqldb.Conn, ids []string) ([]ordering.StepTaken, error) {
	return sqldb.Collect(ctx, c, func(r sqldb.Rows) (s ordering.StepTaken, err error) {
		var at int64
		err = r.Scan(&s.OrderID, &s.Version, &at, &s.From, &s.To, &s.By)
		s.At = instant(at)
		return s, err
	}, stmt("step_select"), idRows(ids))
}
