// Package bus brings events to consumers in the same process, where no broker is configured.
//
// Normally a batch is applied by all consumers within the relay's own transaction: it is claimed, recognised, applied
// and logged by one commit, so every consumer applies every event exactly once. The rows of consumer_dedupe are written
// all the same, so that a broker may be configured later while events are on their way.
//
// When any consumer fails, the relay rolls back and calls Publish, which goes through the inbox: each consumer has its
// own transactions there, and an event that one of them cannot apply yet is refused, so that the outbox keeps it and
// brings it again after a pause. The inbox gives it up after fewer attempts than the outbox has, which makes it a dead
// letter of that consumer and of nobody else.
package bus

import (
	"context"
	"fmt"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/sqldb"
)

// Bus is an outbox.Local.
type Bus struct {
	in        *inbox.Inbox
	consumers []inbox.Consumer
}

// New makes a bus to the given consumers; without any, events only go to the log.
func New(in *inbox.Inbox, consumers ...inbox.Consumer) (*Bus, error) {
	for _, c := range consumers {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	return &Bus{in, consumers}, nil
}

// Ready never fails: what the bus needs is the database, which the relay is about to ask anyway.
func (b *Bus) Ready(context.Context) error { return nil }

// Deliver has all consumers apply the events within the caller's transaction.
func (b *Bus) Deliver(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
	for _, c := range b.consumers {
		if err := b.in.Deliver(ctx, tx, c, events); err != nil {
			return fmt.Errorf("bus: consumer %s: %w", c.Name, err)
		}
	}
	return nil
}

// Publish brings the events to each consumer by itself. It refuses those that a consumer has to be asked about again;
// whoever has applied them will recognise them then.
func (b *Bus) Publish(ctx context.Context, events []event.Event) ([]error, error) {
	refused := make([]error, len(events))
	for _, c := range b.consumers {
		outcomes, err := b.in.Handle(ctx, c, events)
		if err != nil {
			return nil, fmt.Errorf("bus: consumer %s: %w", c.Name, err)
		}
		for i, o := range outcomes {
			if o.State == inbox.Retry {
				refused[i] = fmt.Errorf("bus: consumer %s failed on it", c.Name)
			}
		}
	}
	return refused, nil
}
