// Package bus delivers events to consumers in the same process when no broker is configured.
//
// Normally all consumers apply a batch within the relay's own transaction: one commit applies the batch and moves the
// relay's cursor, so every consumer applies every event exactly once and needs no row of consumer_dedupe.
//
// When a consumer fails, the relay rolls back and calls Publish, which uses the inbox: each consumer then has its own
// transactions. An event that one consumer cannot apply yet is refused, so the outbox keeps it and publishes it again
// after a pause. The inbox allows fewer attempts than the outbox, so such an event becomes a dead letter of that
// consumer only.
package bus

import (
	"context"
	"fmt"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/sqldb"
)

// Bus is an outbox.LocalPublisher. It is safe for concurrent use; the relay calls it from one goroutine.
type Bus struct {
	in        *inbox.Inbox
	consumers []inbox.Consumer
}

// New returns a bus that delivers to the given consumers. Without consumers, events are only written to the log.
func New(in *inbox.Inbox, consumers ...inbox.Consumer) (*Bus, error) {
	for _, c := range consumers {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	return &Bus{in, consumers}, nil
}

// Ready always succeeds: the bus needs only the database, which the relay queries anyway.
func (b *Bus) Ready(context.Context) error { return nil }

// Deliver applies the events for all consumers within the caller's transaction. repeated states that some of them may have
// been delivered before.
func (b *Bus) Deliver(ctx context.Context, tx sqldb.Tx, events []event.Event, repeated bool) error {
	for _, c := range b.consumers {
		if err := b.in.Deliver(ctx, tx, c, events, repeated); err != nil {
			return fmt.Errorf("bus: consumer %s: %w", c.Name, err)
		}
	}
	return nil
}

// Publish delivers the events to each consumer separately. It refuses events that a consumer has to retry; consumers
// that have applied them already will deduplicate.
func (b *Bus) Publish(ctx context.Context, events []event.Event) ([]error, error) {
	refused := make([]error, len(events))
	for _, c := range b.consumers {
		outcomes, err := b.in.Handle(ctx, c, events)
		if err != nil {
			return nil, fmt.Errorf("bus: consumer %s: %w", c.Name, err)
		}
		for i, o := range outcomes {
			// A dead-lettered event is not refused: the other consumers have applied it, and its dead letter is
			// stored.
			if o.State == inbox.Retry {
				refused[i] = fmt.Errorf("bus: consumer %s could not apply the event", c.Name)
			}
		}
	}
	return refused, nil
}
