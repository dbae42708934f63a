package rabbit

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event/inbox"
	"comanda/internal/testenv"
)

// eventLog records in order the subscription's actions and its messages to the broker.
type eventLog struct{ notes []string }

func (l *eventLog) note(format string, args ...any) error {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
	return nil
}

func (l *eventLog) Ack(tag uint64, multiple bool) error { return l.note("ack %d %t", tag, multiple) }

func (l *eventLog) Nack(tag uint64, multiple, _ bool) error {
	return l.note("nack %d %t", tag, multiple)
}

func (l *eventLog) Reject(tag uint64, _ bool) error { return l.note("reject %d", tag) }

// A message is acknowledged after it is handled, according to its outcome: if the process dies earlier, the broker
// still has it.
func TestSubscription_acknowledges_after_the_work(t *testing.T) {
	t.Parallel()
	done, again, dead := inbox.Outcome{}, inbox.Outcome{State: inbox.Retry, After: time.Hour}, inbox.Outcome{State: inbox.Dead}
	for _, c := range []struct {
		outcomes []inbox.Outcome
		want     []string
		held     int
	}{
		{[]inbox.Outcome{done, done, done}, []string{"work on 3", "ack 3 true"}, 0},
		{[]inbox.Outcome{done, again, done}, []string{"work on 3", "ack 1 false", "ack 3 false"}, 1},
		{[]inbox.Outcome{dead, done, again}, []string{"work on 3", "reject 1", "ack 2 false"}, 1},
		{[]inbox.Outcome{again}, []string{"work on 1"}, 1},
	} {
		l := &eventLog{}
		lane := &subscription{handle: func(_ context.Context, batch []amqp.Delivery) []inbox.Outcome {
			_ = l.note("work on %d", len(batch))
			return c.outcomes
		}}
		batch := make([]amqp.Delivery, len(c.outcomes))
		for i := range batch {
			batch[i] = amqp.Delivery{Acknowledger: l, DeliveryTag: uint64(i + 1)}
		}
		testenv.NoError(t, lane.handleNew(t.Context(), batch))
		if !slices.Equal(l.notes, c.want) || len(lane.held) != c.held {
			t.Errorf("%v: %v, %d held; want %v and %d", c.outcomes, l.notes, len(lane.held), c.want, c.held)
		}
	}
}
