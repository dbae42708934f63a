package inbox

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/sqldb"
)

// Consumer describes a subscriber that updates its state from events.
type Consumer struct {
	// Name identifies the consumer permanently: under another name all events would count as new.
	Name string
	// Types are the registered names of the event types to consume.
	Types []string
	// Queue is the name of the broker's queue; the default is "comanda." followed by Name.
	Queue string
	// Apply performs the consumer's work within tx and nowhere else. It receives events of Types in the order of
	// delivery, each for the first time. After a failure it is called again with fewer events. An error that wraps
	// ErrPoison turns the event into a dead letter at once.
	Apply func(ctx context.Context, tx sqldb.Tx, events []event.Event) error
}

// ErrPoison reports that a consumer can never apply an event, so that retrying is useless.
var ErrPoison = errors.New("inbox: the event cannot be applied")

// namePattern admits names that are safe in queue names, labels of metrics and keys of tables.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// Check returns an error if the consumer is incomplete or subscribes to unregistered types.
func (c Consumer) Check() error {
	if !namePattern.MatchString(c.Name) {
		return fmt.Errorf("inbox: %q is not a valid consumer name", c.Name)
	}
	if c.Apply == nil || len(c.Types) == 0 {
		return fmt.Errorf("inbox: consumer %s needs Types and Apply", c.Name)
	}
	for _, t := range c.Types {
		if _, ok := event.Lookup(t); !ok {
			return fmt.Errorf("inbox: consumer %s subscribes to %s, which is not a registered event", c.Name, t)
		}
		if external(t) != c.External() {
			return fmt.Errorf("inbox: consumer %s subscribes to events of Comanda and of other systems", c.Name)
		}
	}
	return nil
}

// QueueName returns the name of the consumer's queue on the broker.
func (c Consumer) QueueName() string {
	if c.Queue != "" {
		return c.Queue
	}
	return "comanda." + c.Name
}

// External reports whether the consumer subscribes to messages of other systems. Those share only the body format with
// Comanda's events, so one consumer cannot subscribe to both.
func (c Consumer) External() bool {
	return slices.ContainsFunc(c.Types, external)
}

func external(name string) bool {
	t, _ := event.Lookup(name)
	return t.External
}

// Wants reports whether the consumer subscribes to the type of e.
func (c Consumer) Wants(e event.Event) bool { return slices.Contains(c.Types, e.Type) }

// State is the outcome state of an event at a consumer.
type State uint8

// The outcome states. The zero State is the only one that needs no further action.
const (
	Done  State = iota // applied, now or earlier, or of another type
	Retry              // failed; deliver it again after the pause
	Dead               // failed for the last time; stored as a dead letter
)

// Outcome is the result of handling one event.
type Outcome struct {
	State State
	After time.Duration // pause before the next attempt
}
