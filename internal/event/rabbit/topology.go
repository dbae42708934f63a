package rabbit

import (
	"errors"
	"fmt"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
)

// Names that the reference fixes (qr-ordering.md, section 5).
const (
	keyAwait      = "order.payment.await"
	keyExpired    = "order.expired"
	queueAwait    = "order.payment.await.q"
	queueExpired  = "order.expired.q"
	queuePaid     = "store.order.paid"
	queueCanceled = "store.order.canceled"
)

// Limits of queues. Those that other systems read keep their newest messages when nobody reads; ours have no limit,
// because what is in them has left the outbox.
const (
	maxForOthers  = 100_000
	maxWakes      = 10_000
	maxDead       = 10_000
	deliveryLimit = 100 // a message that ended this many processes is put aside by the broker
)

// topology is everything on the broker that belongs to us.
type topology struct {
	prefix   string
	exchange string
	queues   []queue
}

type queue struct {
	name    string
	keys    []string // what it is bound to; none for a dead-letter queue, which the default exchange knows by its name
	args    amqp.Table
	purpose string
}

// newTopology lists the queues of the reference and those of our consumers. The prefix, put before every exchange and
// queue, is for a virtual host that several installations share.
func newTopology(prefix string, window time.Duration, consumers []inbox.Consumer) topology {
	t := topology{prefix: prefix, exchange: prefix + event.Exchange}
	t.add(queue{queueAwait, []string{keyAwait}, amqp.Table{
		amqp.QueueMessageTTLArg:     window.Milliseconds(),
		"x-dead-letter-exchange":    t.exchange,
		"x-dead-letter-routing-key": keyExpired,
		"x-dead-letter-strategy":    "at-least-once",
		amqp.QueueOverflowArg:       amqp.QueueOverflowRejectPublish, // at-least-once asks for it
	}, "Timer: holds the id of every order until its payment window is over."})
	t.add(queue{queueExpired, []string{keyExpired}, amqp.Table{
		amqp.QueueMaxLenArg: maxWakes, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
	}, "Wakes the sweeper, which decides in SQL what has expired."})
	t.add(forOthers(queuePaid, event.OrderPaid.Name), forOthers(queueCanceled, event.OrderCanceled.Name))
	for _, c := range consumers {
		if t.find(c.QueueName()) == nil {
			t.add(t.forConsumer(c)...)
		}
	}
	return t
}

func forOthers(name, key string) queue {
	return queue{name, []string{key}, amqp.Table{
		amqp.QueueMaxLenArg: maxForOthers, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
	}, "For other systems; the oldest messages are dropped when nobody reads."}
}

// forConsumer gives a consumer's queue and where its dead letters go: through the default exchange, to which every
// queue is bound by its own name and from which nobody can unbind it.
func (t *topology) forConsumer(c inbox.Consumer) []queue {
	name := c.QueueName()
	return []queue{
		{name, routingKeys(c), amqp.Table{
			"x-dead-letter-exchange":    "",
			"x-dead-letter-routing-key": t.prefix + name + ".dlq",
			"x-dead-letter-strategy":    "at-least-once",
			amqp.QueueOverflowArg:       amqp.QueueOverflowRejectPublish,
			"x-delivery-limit":          deliveryLimit,
		}, "Consumer `" + c.Name + "`."},
		{name + ".dlq", nil, amqp.Table{
			amqp.QueueMaxLenArg: maxDead, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
		}, "Copies of the dead letters of consumer `" + c.Name + "`; the letters themselves are in dead_event."},
	}
}

// add puts the prefix before the name and makes the queue a replicated one.
func (t *topology) add(queues ...queue) {
	for _, q := range queues {
		q.name = t.prefix + q.name
		q.args[amqp.QueueTypeArg] = amqp.QueueTypeQuorum
		t.queues = append(t.queues, q)
	}
}

// find gives a queue by its name without the prefix, or nil.
func (t *topology) find(name string) *queue {
	i := slices.IndexFunc(t.queues, func(q queue) bool { return q.name == t.prefix+name })
	if i < 0 {
		return nil
	}
	return &t.queues[i]
}

// wanted tells whether one of our queues is bound to a routing key.
func (t *topology) wanted(key string) bool {
	return slices.ContainsFunc(t.queues, func(q queue) bool { return slices.Contains(q.keys, key) })
}

// check refuses consumers that would take messages from each other, or that wait at a queue for what never comes there.
func (t *topology) check(consumers []inbox.Consumer) error {
	owner := map[string]string{}
	for _, c := range consumers {
		if err := c.Check(); err != nil {
			return err
		}
		name := c.QueueName()
		if other, taken := owner[name]; taken {
			return fmt.Errorf("rabbit: consumers %s and %s have the same queue %s", other, c.Name, name)
		}
		owner[name] = c.Name
		for _, key := range routingKeys(c) {
			if !slices.Contains(t.find(name).keys, key) {
				return fmt.Errorf("rabbit: consumer %s wants %s, which does not come to queue %s", c.Name, key, name)
			}
		}
	}
	return nil
}

func routingKeys(c inbox.Consumer) []string {
	keys := make([]string, 0, len(c.Types))
	for _, name := range c.Types {
		if typ, ok := event.Lookup(name); ok {
			keys = append(keys, typ.RoutingKey)
		}
	}
	return keys
}

// declare makes the broker have the topology. It gives the names of queues that exist with other arguments, with the
// broker's words about each; those still work as they are.
func (t *topology) declare(conn *amqp.Connection) (differing map[string]string, err error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	defer func() { _ = ch.Close() }()
	if err := ch.ExchangeDeclare(t.exchange, amqp.ExchangeTopic, true, false, false, false, nil); err != nil {
		return nil, fmt.Errorf("exchange %s: %w", t.exchange, err)
	}
	// A queue that differs is bound all the same: whoever declared it wants its messages.
	differing = map[string]string{}
	for _, q := range t.queues {
		reason, err := declareQueue(conn, q)
		if err != nil {
			return nil, fmt.Errorf("queue %s: %w", q.name, err)
		}
		if reason != "" {
			differing[q.name] = reason
		}
		for _, key := range q.keys {
			if err := ch.QueueBind(q.name, key, t.exchange, false, nil); err != nil {
				return nil, fmt.Errorf("queue %s, key %s: %w", q.name, key, err)
			}
		}
	}
	return differing, nil
}

// declareQueue uses a channel of its own, because the broker closes the channel on which a declaration differs from
// what exists. That is not an error here: the reason is given instead.
func declareQueue(conn *amqp.Connection, q queue) (reason string, err error) {
	ch, err := conn.Channel()
	if err != nil {
		return "", err
	}
	_, err = ch.QueueDeclare(q.name, true, false, false, false, q.args)
	var refused *amqp.Error
	if errors.As(err, &refused) && refused.Code == amqp.PreconditionFailed {
		return refused.Reason, nil
	}
	if err != nil {
		return "", err
	}
	return "", ch.Close()
}
