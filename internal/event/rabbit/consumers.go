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

// Consumers pass messages to the inbox. They run in a worker.Loop, one connection per round.
type Consumers struct {
	link    *link
	in      *inbox.Inbox
	prefix  string
	all     []inbox.Consumer
	expired func()

	caughtUp chan struct{} // closed once, by once
	once     sync.Once
}

// NewConsumers validates the configuration; it does not connect. When payment windows have expired, expired is called
// once per batch of timers; it must not block. If expired is nil, the queue of expired orders is not consumed.
func NewConsumers(c Config, in *inbox.Inbox, expired func()) (*Consumers, error) {
	l, err := newLink(c, "consumer")
	if err != nil {
		return nil, err
	}
	return &Consumers{
		link: l, in: in, prefix: c.Prefix, all: c.Consumers, expired: expired, caughtUp: make(chan struct{}),
	}, nil
}

// Loop returns the loop that runs the consumers. It reconnects soon after a connection is lost, and backs off while
// connecting fails. A lost connection does not fail the round, so Every applies and not the pauses after failures.
func (c *Consumers) Loop() worker.Loop {
	return worker.Loop{
		Name: "rabbit_consumers", Run: c.Run, Every: 200 * time.Millisecond,
		MinPause: 100 * time.Millisecond, MaxPause: 10 * time.Second,
	}
}

// Run connects and consumes until the context or the connection ends. Only a failure to connect is an error. When the
// context ends, the batch being applied is finished and acknowledged first.
func (c *Consumers) Run(ctx context.Context) error {
	s, err := c.link.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	subs, external, err := c.subscribeAll(ctx, s)
	if err != nil {
		return fmt.Errorf("rabbit: consume: %w", err)
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, l := range subs {
		g.Go(func() error { return l.run(gctx) })
	}
	g.Go(func() error { return c.catchUp(gctx, s, external) })
	// One failed subscription ends all of them: the broker may have closed only one channel, but the state of the
	// others is unknown.
	if err := g.Wait(); err != nil {
		c.link.metrics.lost.WithLabelValues(c.link.role).Inc()
		c.link.log.WarnContext(ctx, "the consumers' connection is dropped", "err", err)
	}
	return nil
}

// subscribeAll starts consuming every queue of this installation. external are the subscriptions to messages of other
// systems.
func (c *Consumers) subscribeAll(ctx context.Context, s *session) (subs, external []*subscription, err error) {
	defer s.limit(ctx, dialTimeout)()
	add := func(queue string, h handler) error {
		l, err := newSubscription(s, c.prefix+queue, h)
		if err != nil {
			return fmt.Errorf("queue %s: %w", queue, err)
		}
		subs = append(subs, l)
		return nil
	}
	for _, consumer := range c.all {
		err := add(consumer.QueueName(), func(ctx context.Context, batch []amqp.Delivery) []inbox.Outcome {
			return c.receive(ctx, consumer, batch)
		})
		if err != nil {
			return nil, nil, err
		}
		if consumer.External() {
			external = append(external, subs[len(subs)-1])
		}
	}
	if c.expired == nil {
		return subs, external, nil
	}
	// The order id in the message is ignored: the sweeper finds all due orders in SQL, whenever and however often it is
	// triggered, so a message lost with the broker does no harm.
	err = add(queueExpired, func(_ context.Context, batch []amqp.Delivery) []inbox.Outcome {
		c.expired()
		return make([]inbox.Outcome, len(batch))
	})
	return subs, external, err
}

// CaughtUp returns a channel that is closed once all messages of other systems that were queued at this process's first
// connection are handled. Until then a passed deadline proves nothing: a message sent in time may still be queued.
func (c *Consumers) CaughtUp() <-chan struct{} { return c.caughtUp }

// pollInterval is the interval at which catchUp counts queued messages.
const pollInterval = 250 * time.Millisecond

// catchUp returns when two consecutive polls found the queues empty and no message in process. One poll is not enough:
// a message in transit from the queue is counted in neither place.
func (c *Consumers) catchUp(ctx context.Context, s *session, subs []*subscription) error {
	for quiet := 0; quiet < 2; {
		select {
		case <-c.caughtUp:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(pollInterval):
		}
		waiting, err := c.waiting(ctx, s, subs)
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

// waiting counts the messages in the queues and those in this process. A passive declaration returns only messages that
// are not delivered yet. It has a channel of its own, because the broker closes a channel on which a queue is missing.
func (c *Consumers) waiting(ctx context.Context, s *session, subs []*subscription) (n int64, err error) {
	// The end of ctx must not close the socket: during shutdown a batch is still being acknowledged on it.
	defer s.limit(context.WithoutCancel(ctx), dialTimeout)()
	ch, err := s.conn.Channel()
	if err != nil {
		return 0, err
	}
	defer func() { _ = ch.Close() }()
	for _, l := range subs {
		q, err := ch.QueueDeclarePassive(l.queue, true, false, false, false, nil)
		if err != nil {
			return 0, err
		}
		n += int64(q.Messages) + l.open.Load()
	}
	return n, nil
}

// handleTimeout limits the work on one batch. It also applies during shutdown, when the context is already cancelled.
const handleTimeout = 30 * time.Second

// databasePause is the pause before messages are retried while the database is unavailable. Such failures are not
// counted as attempts, so no event becomes a dead letter while the database is unavailable.
const databasePause = time.Second

// receive applies a batch through the inbox and returns one outcome per message.
func (c *Consumers) receive(ctx context.Context, to inbox.Consumer, batch []amqp.Delivery) []inbox.Outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleTimeout)
	defer cancel()
	outcomes := make([]inbox.Outcome, len(batch))
	events, at := make([]event.Event, 0, len(batch)), make([]int, 0, len(batch))
	for i, d := range batch {
		e, err := read(to, d, c.in.Now())
		if err != nil {
			// The other messages of the batch are applied as usual.
			outcomes[i] = c.deadLetter(ctx, to, d, err)
			continue
		}
		events, at = append(events, e), append(at, i)
	}
	// After an error some events may have been applied. They are retried with the others and deduplicated.
	results, err := c.in.Handle(ctx, to, events)
	if err != nil {
		c.link.log.WarnContext(ctx, "messages wait for the database", "consumer", to.Name, "messages", len(events),
			"err", err)
	}
	for j, i := range at {
		outcomes[i] = results[j]
		if err != nil {
			outcomes[i] = inbox.Outcome{State: inbox.Retry, After: databasePause}
		}
	}
	return outcomes
}

// read decodes a message in the format that the consumer expects.
func read(to inbox.Consumer, d amqp.Delivery, now time.Time) (event.Event, error) {
	if to.External() {
		return decodeExternal(to, d, now)
	}
	return decode(d)
}

// deadLetter stores a message that is not an event as a dead letter. Its fields cannot be trusted, so the letter gets a
// new id and a type that no consumer subscribes to; a replay discards it.
func (c *Consumers) deadLetter(ctx context.Context, to inbox.Consumer, d amqp.Delivery, cause error) inbox.Outcome {
	now := c.in.Now()
	e := event.Event{ID: uid.New(now), Type: "malformed", At: now, Payload: plain(d.Body)}
	if err := c.in.StoreDeadLetter(ctx, to.Name, e, cause); err != nil {
		c.link.log.WarnContext(ctx, "a message waits for the database", "consumer", to.Name, "err", err)
		return inbox.Outcome{State: inbox.Retry, After: databasePause}
	}
	c.link.log.ErrorContext(ctx, "a message is not an event; it is a dead letter", "consumer", to.Name, "err", cause)
	return inbox.Outcome{State: inbox.Dead}
}
