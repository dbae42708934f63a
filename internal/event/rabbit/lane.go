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

// A batch shares a commit, and while one is being worked on the next one gathers: prefetch is how many messages of a queue
// may be in our hands.
const (
	maxBatch = 512
	prefetch = 2 * maxBatch
)

var errEnded = errors.New("rabbit: the broker ended the consumption")

// handler works on a batch and gives one outcome for each message.
type handler func(ctx context.Context, batch []amqp.Delivery) []inbox.Outcome

// lane consumes one queue on a channel of its own, batch after batch.
type lane struct {
	queue  string
	ch     *amqp.Channel
	in     chan amqp.Delivery
	handle handler
	open   atomic.Int64 // messages that have arrived and were not worked on yet
	held   []held       // failed, unacknowledged, and waiting for their next attempt
}

// held is a message that is kept instead of being requeued. A requeued one would come back at once, and five attempts
// would be used up in as many milliseconds. It takes one of the prefetched places meanwhile, so a consumer that fails on
// everything slows down to the pace of its pauses.
type held struct {
	amqp.Delivery
	due time.Time
}

func newLane(s *session, queue string, h handler) (*lane, error) {
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
	l := &lane{queue: queue, ch: ch, in: make(chan amqp.Delivery, prefetch), handle: h}
	// The library hands deliveries over one by one; here they gather while a batch is being worked on. The broker never
	// sends more than prefetch, so this goroutine does not block, and it ends with the connection.
	s.helpers.Go(func() {
		defer close(l.in)
		for d := range deliveries {
			l.open.Add(1)
			l.in <- d
		}
	})
	return l, nil
}

// run works until the context ends, or fails when the channel does.
func (l *lane) run(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		select {
		case <-ctx.Done():
		case d, open := <-l.in:
			if !open {
				return errEnded
			}
			err = l.fresh(ctx, l.gather(d))
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

// fresh works on new messages. Where all went well and nothing older is open, one acknowledgement stands for all.
func (l *lane) fresh(ctx context.Context, batch []amqp.Delivery) error {
	outcomes := l.handle(ctx, batch)
	l.open.Add(int64(-len(batch)))
	failed := func(o inbox.Outcome) bool { return o.State != inbox.Done }
	if len(l.held) == 0 && !slices.ContainsFunc(outcomes, failed) {
		return batch[len(batch)-1].Ack(true)
	}
	return l.settle(batch, outcomes)
}

// gather takes what is there already, without waiting for more.
func (l *lane) gather(first amqp.Delivery) []amqp.Delivery {
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

// settle tells the broker about each message by itself, since others with smaller tags may still be open.
func (l *lane) settle(batch []amqp.Delivery, outcomes []inbox.Outcome) error {
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

// nextDue fires when the first held message may be tried again; without any it never does.
func (l *lane) nextDue() <-chan time.Time {
	if len(l.held) == 0 {
		return nil
	}
	first := slices.MinFunc(l.held, func(a, b held) int { return a.due.Compare(b.due) })
	return time.After(first.due.Sub(clock.In(0)))
}

// takeDue removes and gives the held messages whose time has come.
func (l *lane) takeDue(now time.Time) []amqp.Delivery {
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
