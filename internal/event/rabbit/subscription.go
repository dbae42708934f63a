package rabbit

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/clock"
	"comanda/internal/event/inbox"
)

// maxBatch is the number of messages that share a commit. prefetch is the number of unacknowledged messages per queue:
// a second batch accumulates while the first is being handled.
const (
	maxBatch = 512
	prefetch = 2 * maxBatch
)

var errEnded = errors.New("rabbit: the broker cancelled the subscription")

// handler handles a batch and returns one outcome per message.
type handler func(ctx context.Context, batch []amqp.Delivery) []inbox.Outcome

// subscription consumes one queue on its own channel, batch by batch.
type subscription struct {
	queue  string
	ch     *amqp.Channel
	in     chan amqp.Delivery
	handle handler
	open   atomic.Int64 // messages received and not handled yet
	held   []held       // failed, unacknowledged, waiting for their next attempt
}

// held is a failed message that is kept instead of being requeued. The broker would redeliver a requeued message at
// once, and five attempts would be used up within milliseconds. A held message keeps its prefetch slot, so a consumer
// that fails on everything slows down to the pace of its pauses.
type held struct {
	amqp.Delivery
	due time.Time
}

// newSubscription starts the consumption of a queue with manual acknowledgements. Each subscription has its own
// channel, because delivery tags and the prefetch limit belong to a channel.
func newSubscription(s *session, queue string, h handler) (*subscription, error) {
	ch, err := s.conn.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return nil, err
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	l := &subscription{queue: queue, ch: ch, in: make(chan amqp.Delivery, prefetch), handle: h}
	// The library delivers messages one by one; they accumulate here while a batch is being handled. The broker never
	// sends more than prefetch, so this goroutine does not block. It ends with the connection.
	s.helpers.Go(func() {
		defer close(l.in)
		for d := range deliveries {
			l.open.Add(1)
			l.in <- d
		}
	})
	return l, nil
}

// run handles messages until the context ends. It returns an error when the channel fails. Messages that are not
// acknowledged by then return to the queue with the end of the connection.
func (l *subscription) run(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		select {
		case <-ctx.Done():
		case d, open := <-l.in:
			if !open {
				return errEnded
			}
			err = l.handleNew(ctx, l.gather(d))
		case <-l.nextDue():
			batch := l.takeDue(clock.In(0))
			err = l.settle(batch, l.handle(ctx, batch))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handleNew handles new messages. If all succeeded and no older message is held, a single multiple-acknowledgement
// covers the batch.
func (l *subscription) handleNew(ctx context.Context, batch []amqp.Delivery) error {
	outcomes := l.handle(ctx, batch)
	l.open.Add(int64(-len(batch)))
	failed := func(o inbox.Outcome) bool { return o.State != inbox.Done }
	if len(l.held) == 0 && !slices.ContainsFunc(outcomes, failed) {
		return batch[len(batch)-1].Ack(true)
	}
	return l.settle(batch, outcomes)
}

// gather returns the messages that have already arrived, up to maxBatch, without waiting for more.
func (l *subscription) gather(first amqp.Delivery) []amqp.Delivery {
	batch := append(make([]amqp.Delivery, 0, maxBatch), first)
	for len(batch) < maxBatch {
		select {
		case d, open := <-l.in:
			if !open {
				return batch
			}
			batch = append(batch, d)
		default:
			return batch
		}
	}
	return batch
}

// settle acknowledges, rejects or holds each message separately, since messages with smaller delivery tags may be held.
func (l *subscription) settle(batch []amqp.Delivery, outcomes []inbox.Outcome) error {
	for i, d := range batch {
		var err error
		switch outcomes[i].State {
		case inbox.Done:
			err = d.Ack(false)
		case inbox.Dead:
			err = d.Reject(false)
		case inbox.Retry:
			l.held = append(l.held, held{d, clock.In(outcomes[i].After)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextDue returns a channel that fires when the first held message is due; it is nil if none is held. A nil channel
// blocks forever, so select then waits for new messages only.
func (l *subscription) nextDue() <-chan time.Time {
	if len(l.held) == 0 {
		return nil
	}
	first := slices.MinFunc(l.held, func(a, b held) int { return a.due.Compare(b.due) })
	return time.After(first.due.Sub(clock.In(0)))
}

// takeDue removes and returns the held messages that are due.
func (l *subscription) takeDue(now time.Time) []amqp.Delivery {
	var due []amqp.Delivery
	l.held = slices.DeleteFunc(l.held, func(h held) bool {
		if h.due.After(now) {
			return false
		}
		due = append(due, h.Delivery)
		return true
	})
	return due
}
