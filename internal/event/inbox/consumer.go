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

// Consumer is somebody who keeps something up to date from events.
type Consumer struct {
	// Name tells consumers apart for good: under another name all events would be new again.
	Name string
	// Types are the registered names of the events it wants.
	Types []string
	// Queue is the broker's queue; empty is "comanda." and the name.
	Queue string
	// Apply does the consumer's work within tx and nowhere else. The events are of its types, in the order of their
	// delivery, and each for the first time. It is called again, with fewer events, after a failure. A failure that is
	// ErrPoison makes a dead letter at once.
	Apply func(ctx context.Context, tx sqldb.Tx, events []event.Event) error
}

// ErrPoison says that a consumer will never be able to apply an event, however often it is asked.
var ErrPoison = errors.New("inbox: the event cannot be applied")

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
		if foreign(t) != c.Foreign() {
			return fmt.Errorf("inbox: consumer %s wants events of ours and of other systems", c.Name)
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

// Foreign tells whether the consumer hears other systems. Their messages have the bodies of our events and nothing else
// of them; whoever hears them hears nothing of ours.
func (c Consumer) Foreign() bool {
	return slices.ContainsFunc(c.Types, foreign)
}

func foreign(name string) bool {
	t, _ := event.Lookup(name)
	return t.Foreign
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
