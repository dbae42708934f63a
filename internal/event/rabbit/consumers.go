package rabbit

import (
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sync/errgroup"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/uid"
	"comanda/internal/worker"
)

// Consumers bring messages to the inbox. They live in a worker.Loop: a round of it is one connection.
type Consumers struct {
	link    *link
	in      *inbox.Inbox
	prefix  string
	all     []inbox.Consumer
	expired func()

	caughtUp chan struct{} // closed once
	once     sync.Once
}

// NewConsumers checks the configuration; it does not connect. Whenever payment windows are over, expired is called,
// once for many; it must not block. Without it the queue of expired orders is left to others.
func NewConsumers(c Config, in *inbox.Inbox, expired func()) (*Consumers, error) {
	l, err := newLink(c, "consumer")
	if err != nil {
		return nil, err
	}
	return &Consumers{
		link: l, in: in, prefix: c.Prefix, all: c.Consumers, expired: expired, caughtUp: make(chan struct{}),
	}, nil
}

// Loop describes the consumers' life: connect again soon after a connection was lost, and ever later while there is
// none.
func (c *Consumers) Loop() worker.Loop {
	return worker.Loop{
		Name: "rabbit_consumers", Run: c.Run, Every: 200 * time.Millisecond,
		MinPause: 100 * time.Millisecond, MaxPause: 10 * time.Second,
	}
}

// Run connects and consumes until the context or the connection ends. Only a connection that did not come about is an
// error. What is being applied when the context ends is finished and acknowledged first.
func (c *Consumers) Run(ctx context.Context) error {
	s, err := c.link.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	lanes, foreign, err := c.lanes(ctx, s)
	if err != nil {
		return fmt.Errorf("rabbit: consume: %w", err)
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, l := range lanes {
		g.Go(func() error { return l.run(gctx) })
	}
	g.Go(func() error { return c.catchUp(gctx, s, foreign) })
	// One lane that fails ends all: the broker may have closed only a channel, but what else it forgot is unknown.
	if err := g.Wait(); err != nil {
		c.link.metrics.lost.WithLabelValues(c.link.role).Inc()
		c.link.log.WarnContext(ctx, "the consumers' connection is given up", "err", err)
	}
	return nil
}

// Connected tells whether there is a connection.
func (c *Consumers) Connected() bool { return c.link.up.Load() }

// lanes starts consuming every queue that is ours. foreign are those of them in which other systems speak to us.
func (c *Consumers) lanes(ctx context.Context, s *session) (lanes, foreign []*lane, err error) {
	defer s.limit(ctx, dialTimeout)()
	add := func(queue string, h handler) error {
		l, err := newLane(s, c.prefix+queue, h)
		if err != nil {
			return fmt.Errorf("queue %s: %w", queue, err)
		}
		lanes = append(lanes, l)
		return nil
	}
	for _, consumer := range c.all {
		err := add(consumer.QueueName(), func(ctx context.Context, batch []amqp.Delivery) []inbox.Outcome {
			return c.receive(ctx, consumer, batch)
		})
		if err != nil {
			return nil, nil, err
		}
		if consumer.Foreign() {
			foreign = append(foreign, lanes[len(lanes)-1])
		}
	}
	if c.expired == nil {
		return lanes, foreign, nil
	}
	// The order's id in the message is not looked at: the sweeper finds in SQL what is due, however late or often it is
	// woken, and a message that was lost with the broker is not missed.
	err = add(queueExpired, func(_ context.Context, batch []amqp.Delivery) []inbox.Outcome {
		c.expired()
		return make([]inbox.Outcome, len(batch))
	})
	return lanes, foreign, err
}

// CaughtUp returns a channel that is closed once what other systems had sent when this process first connected has been
// worked on. Until then a deadline that has passed proves nothing: the word that was in time for it may wait in a queue.
func (c *Consumers) CaughtUp() <-chan struct{} { return c.caughtUp }

const lookPause = 250 * time.Millisecond

// catchUp returns when two looks in a row have found nothing in some queues and nothing of them in our hands: between the
// queue and our hands a message is in neither for a moment.
func (c *Consumers) catchUp(ctx context.Context, s *session, lanes []*lane) error {
	for quiet := 0; quiet < 2; {
		select {
		case <-c.caughtUp:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(lookPause):
		}
		waiting, err := c.waiting(ctx, s, lanes)
		if err != nil {
			return err
		}
		quiet++
		if waiting > 0 {
			quiet = 0
		}
	}
	c.once.Do(func() { close(c.caughtUp) })
	return nil
}

func (c *Consumers) waiting(ctx context.Context, s *session, lanes []*lane) (n int64, err error) {
	defer s.limit(context.WithoutCancel(ctx), dialTimeout)()
	ch, err := s.conn.Channel()
	if err != nil {
		return 0, err
	}
	defer func() { _ = ch.Close() }()
	for _, l := range lanes {
		q, err := ch.QueueDeclarePassive(l.queue, true, false, false, false, nil)
		if err != nil {
			return 0, err
		}
		n += int64(q.Messages) + l.open.Load()
	}
	return n, nil
}

// handleTimeout bounds the work on one batch, shutdown or not.
const handleTimeout = 30 * time.Second

// storePause is how long messages wait for a database that is out of reach.
const storePause = time.Second

// receive has the inbox apply a batch and gives one outcome for each message.
func (c *Consumers) receive(ctx context.Context, to inbox.Consumer, batch []amqp.Delivery) []inbox.Outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleTimeout)
	defer cancel()
	outcomes := make([]inbox.Outcome, len(batch))
	events, at := make([]event.Event, 0, len(batch)), make([]int, 0, len(batch))
	for i, d := range batch {
		e, err := read(to, d, c.in.Now())
		if err != nil {
			outcomes[i] = c.bury(ctx, to, d, err)
			continue
		}
		events, at = append(events, e), append(at, i)
	}
	// After an error some events may have been applied. They are delivered again with the others, and recognised.
	results, err := c.in.Handle(ctx, to, events)
	if err != nil {
		c.link.log.WarnContext(ctx, "messages wait for the database", "consumer", to.Name, "messages", len(events),
			"err", err)
	}
	for j, i := range at {
		outcomes[i] = results[j]
		if err != nil {
			outcomes[i] = inbox.Outcome{State: inbox.Retry, After: storePause}
		}
	}
	return outcomes
}

// read makes an event of a message, as those come that the consumer hears.
func read(to inbox.Consumer, d amqp.Delivery, now time.Time) (event.Event, error) {
	if to.Foreign() {
		return decodeForeign(to, d, now)
	}
	return decode(d)
}

// bury makes a dead letter of a message that is no event. Nothing in it can be relied on, so the letter has an id and a
// type of its own; a replay only discards it, since no consumer wants that type.
func (c *Consumers) bury(ctx context.Context, to inbox.Consumer, d amqp.Delivery, cause error) inbox.Outcome {
	now := c.in.Now()
	e := event.Event{ID: uid.New(now), Type: "malformed", At: now, Payload: plain(d.Body)}
	if err := c.in.Bury(ctx, to.Name, e, cause); err != nil {
		c.link.log.WarnContext(ctx, "a message waits for the database", "consumer", to.Name, "err", err)
		return inbox.Outcome{State: inbox.Retry, After: storePause}
	}
	c.link.log.ErrorContext(ctx, "a message is not an event; it is a dead letter", "consumer", to.Name, "err", cause)
	return inbox.Outcome{State: inbox.Dead}
}
