package rabbit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
)

// Names that the reference fixes (qr-ordering.md, section 5). Those of the stock's queues stand at their consumers.
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
	prefix string
	orders string // exchange of our orders
	stock  string // exchange of the stock, shared with other systems
	queues []queue
}

type queue struct {
	name    string
	bound   []binding // none for a dead-letter queue, which the default exchange knows by its name
	args    amqp.Table
	purpose string
}

type binding struct{ exchange, key string }

// newTopology lists the queues of the reference and those of our consumers. The prefix, put before every exchange and
// queue, is for a virtual host that several installations share.
func newTopology(c Config) topology {
	t := topology{
		prefix: c.Prefix, orders: c.Prefix + event.Exchange, stock: c.Prefix + cmp.Or(c.StockExchange, event.StockExchange),
	}
	t.add(queue{queueAwait, []binding{{t.orders, keyAwait}}, amqp.Table{
		amqp.QueueMessageTTLArg:     c.PaymentWindow.Milliseconds(),
		"x-dead-letter-exchange":    t.orders,
		"x-dead-letter-routing-key": keyExpired,
		"x-dead-letter-strategy":    "at-least-once",
		amqp.QueueOverflowArg:       amqp.QueueOverflowRejectPublish, // at-least-once asks for it
	}, "Timer: holds the id of every order until its payment window is over."})
	t.add(queue{queueExpired, []binding{{t.orders, keyExpired}}, amqp.Table{
		amqp.QueueMaxLenArg: maxWakes, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
	}, "Wakes the sweeper, which decides in SQL what has expired."})
	t.add(t.forOthers(queuePaid, event.OrderPaid.Type), t.forOthers(queueCanceled, event.OrderCanceled.Type))
	for _, c := range c.Consumers {
		if t.find(c.QueueName()) == nil {
			t.add(t.forConsumer(c)...)
		}
	}
	return t
}

// exchange is where events of a type are published, as this broker calls it.
func (t *topology) exchange(typ event.Type) string {
	if typ.Exchange == event.StockExchange {
		return t.stock
	}
	return t.orders
}

func (t *topology) forOthers(name string, typ event.Type) queue {
	return queue{name, []binding{{t.exchange(typ), typ.RoutingKey}}, amqp.Table{
		amqp.QueueMaxLenArg: maxForOthers, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
	}, "For other systems; the oldest messages are dropped when nobody reads."}
}

// forConsumer gives a consumer's queue and where its dead letters go: through the default exchange, to which every
// queue is bound by its own name and from which nobody can unbind it.
func (t *topology) forConsumer(c inbox.Consumer) []queue {
	name := c.QueueName()
	return []queue{
		{name, t.bindings(c), amqp.Table{
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

// wanted tells whether one of our queues takes what is published so.
func (t *topology) wanted(b binding) bool {
	return slices.ContainsFunc(t.queues, func(q queue) bool { return slices.Contains(q.bound, b) })
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
		for _, b := range t.bindings(c) {
			if !slices.Contains(t.find(name).bound, b) {
				return fmt.Errorf("rabbit: consumer %s wants %s, which does not come to queue %s", c.Name, b.key, name)
			}
		}
	}
	return nil
}

func (t *topology) bindings(c inbox.Consumer) []binding {
	all := make([]binding, 0, len(c.Types))
	for _, name := range c.Types {
		if typ, ok := event.Lookup(name); ok {
			all = append(all, binding{t.exchange(typ), typ.RoutingKey})
		}
	}
	return all
}

// declare makes the broker have the topology. It gives the names of queues that exist with other arguments, with the
// broker's words about each; those still work as they are.
func (t *topology) declare(conn *amqp.Connection) (differing map[string]string, err error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	defer func() { _ = ch.Close() }()
	for _, name := range []string{t.orders, t.stock} {
		if err := ch.ExchangeDeclare(name, amqp.ExchangeTopic, true, false, false, false, nil); err != nil {
			return nil, fmt.Errorf("exchange %s: %w", name, err)
		}
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
		for _, b := range q.bound {
			if err := ch.QueueBind(q.name, b.key, b.exchange, false, nil); err != nil {
				return nil, fmt.Errorf("queue %s, key %s: %w", q.name, b.key, err)
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
