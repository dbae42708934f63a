package orderingsql

import (
	"context"
	"slices"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// ExpiryFlags flags members whose orders expire (decision 69).
type ExpiryFlags struct {
	// Save stores which orders have expired and which have not, each as members by order, in the consumer's
	// transaction.
	Save func(ctx context.Context, tx sqldb.Tx, expired, others map[string]int64) error
}

// Consumer returns the inbox consumer that sets and removes the flags. It follows the state of the orders and not the
// sequence of their events.
func (f ExpiryFlags) Consumer() inbox.Consumer {
	return inbox.Consumer{Name: "trust", Types: []string{event.OrderCanceled.Name, event.OrderPaid.Name}, Apply: f.apply}
}

// apply sorts the orders, because the transaction locks rows of members in this order and other consumers run beside it.
func (f ExpiryFlags) apply(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
	orders := seq.Map(events, func(e event.Event) string { return e.AggregateID })
	slices.Sort(orders)
	type state struct {
		user    int64
		order   string
		expired bool
	}
	found, err := sqldb.Collect(ctx, tx, sqldb.Row(func(o *state) []any {
		return []any{&o.user, &o.order, sqldb.Bool(&o.expired)}
	}), stmt("expiry_of_members"), sqldb.IDs(slices.Compact(orders)))
	if err != nil || len(found) == 0 { // most orders are those of guests
		return err
	}
	expired, others := map[string]int64{}, map[string]int64{}
	for _, o := range found {
		if o.expired {
			expired[o.order] = o.user
		} else {
			others[o.order] = o.user
		}
	}
	return f.Save(ctx, tx, expired, others)
}
