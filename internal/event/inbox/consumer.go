package inbox

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/sqldb"
)

// Consumer is somebody who keeps something up to date from events.
type Consumer struct {
	// Name tells consumers apart for good: under another name all events would be new again.
	Name string
	// Types are the registered names of the events it wants.
	Types []string
	// Queue is the broker's queue; empty is "comanda." and the name.
	Queue string
	// Apply does the consumer's work within tx and nowhere else. The events are of its types, in the order of their
	// delivery, and each for the first time. It is called again, with fewer events, after a failure.
	Apply func(ctx context.Context, tx sqldb.Tx, events []event.Event) error
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// Check tells whether the consumer is complete and wants only events that exist.
func (c Consumer) Check() error {
	if !namePattern.MatchString(c.Name) {
		return fmt.Errorf("inbox: %q is not a consumer's name", c.Name)
	}
	if c.Apply == nil || len(c.Types) == 0 {
		return fmt.Errorf("inbox: consumer %s has no types or nothing to do with them", c.Name)
	}
	for _, t := range c.Types {
		if _, ok := event.Lookup(t); !ok {
			return fmt.Errorf("inbox: consumer %s wants %s, which is not a registered event", c.Name, t)
		}
	}
	return nil
}

// QueueName is the broker's queue of the consumer.
func (c Consumer) QueueName() string {
	if c.Queue != "" {
		return c.Queue
	}
	return "comanda." + c.Name
}

// Wants tells whether an event is of one of its types.
func (c Consumer) Wants(e event.Event) bool { return slices.Contains(c.Types, e.Type) }

// State is what became of an event at a consumer.
type State uint8

// The states. The zero State is the only one in which the event needs no further care.
const (
	Done  State = iota // applied, now or earlier, or not wanted
	Retry              // failed; deliver it again after the pause
	Dead               // failed for the last time; a dead letter is stored
)

// Outcome is what became of one event.
type Outcome struct {
	State State
	After time.Duration // how long to wait before the next attempt
}
