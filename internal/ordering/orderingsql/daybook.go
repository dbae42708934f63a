package orderingsql

import (
	"context"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Daybook returns the inbox consumer that adds events to the totals of their business date. The inbox makes it count an
// event once, even if it is delivered repeatedly.
func Daybook() inbox.Consumer {
	return inbox.Consumer{
		Name: ordering.DaybookConsumer, Types: ordering.DaybookTypes(), Apply: addToDaybook,
	}
}

// addToDaybook adds the events of one delivery in the consumer's transaction, in which the inbox also stores that they
// were applied (I8).
func addToDaybook(_ context.Context, tx sqldb.Tx, events []event.Event) error {
	days, err := ordering.Tally(events)
	if err != nil || len(days) == 0 {
		return err
	}
	tx.Queue(stmt("daybook_add"), sqldb.NewRowSet(len(days)).
		Int("branch_id", func(i int) int64 { return days[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return days[i].Scope.Date }).
		Int("placed", func(i int) int64 { return days[i].Placed }).
		Int("paid", func(i int) int64 { return days[i].Paid }).
		Int("canceled", func(i int) int64 { return days[i].Canceled }).
		Int("revenue", func(i int) int64 { return days[i].Revenue }))
	return nil
}

// Day reads the totals of a business date. A date without events returns zeros.
func (s *Orders) Day(ctx context.Context, scope stock.Scope) (ordering.Day, error) {
	d, _, err := sqldb.One(ctx, s.db, sqldb.Row(func(d *ordering.Day) []any {
		return []any{&d.Placed, &d.Paid, &d.Canceled, &d.Revenue}
	}), stmt("daybook_select"), scope.Branch, scope.Date)
	d.Scope = scope
	return d, err
}
