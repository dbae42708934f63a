package rabbit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
)

// Names that qr-ordering.md specifies in section 5. Names of stock queues are defined by their consumers.
const (
	keyAwait      = "order.payment.await"
	keyExpired    = "order.expired"
	queueAwait    = "order.payment.await.q"
	queueExpired  = "order.expired.q"
	queuePaid     = "store.order.paid"
	queueCanceled = "store.order.canceled"
)

// Queue limits. Queues for other systems drop their oldest messages when they are not read. Consumer queues have no
// limit, because their messages have left the outbox. A failed message is kept by its consumer, so redeliveries come
// from lost connections and crashes: deliveryLimit ends a message that kills each process which receives it.
const (
	maxForOthers  = 100_000
	maxExpired    = 10_000
	maxDead       = 10_000
	deliveryLimit = 100 // the broker dead-letters a message after this many failed deliveries
)

// topology is the set of exchanges, queues and bindings of this installation.
type topology struct {
	prefix string
	orders string // exchange of order events
	stock  string // exchange of stock events, shared with other systems
	queues []queue
}

// queue is one queue with everything that its declaration needs.
type queue struct {
	name    string
	bound   []binding // none for a dead-letter queue, which the default exchange reaches by name
	args    amqp.Table
	purpose string
}

// binding routes the messages of an exchange with a key to a queue.
type binding struct{ exchange, key string }

// newTopology returns the queues of the reference documents and those of the configured consumers. The prefix of every
// exchange and queue name lets several installations share a virtual host.
func newTopology(c Config) topology {
	t := topology{
		prefix: c.Prefix, orders: c.Prefix + event.Exchange, stock: c.Prefix + cmp.Or(c.StockExchange, event.StockExchange),
	}
	t.add(queue{queueAwait, []binding{{t.orders, keyAwait}}, amqp.Table{
		amqp.QueueMessageTTLArg:     c.PaymentWindow.Milliseconds(),
		"x-dead-letter-exchange":    t.orders,
		"x-dead-letter-routing-key": keyExpired,
		"x-dead-letter-strategy":    "at-least-once",
		amqp.QueueOverflowArg:       amqp.QueueOverflowRejectPublish, // required by at-least-once
	}, "Timer: holds the id of every order until its payment window has expired."})
	t.add(queue{queueExpired, []binding{{t.orders, keyExpired}}, amqp.Table{
		amqp.QueueMaxLenArg: maxExpired, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
	}, "Triggers the sweeper, which finds expired orders in SQL."})
	t.add(t.forOthers(queuePaid, event.OrderPaid.Type), t.forOthers(queueCanceled, event.OrderCanceled.Type))
	for _, c := range c.Consumers {
		if t.find(c.QueueName()) == nil {
			t.add(t.forConsumer(c)...)
		}
	}
	return t
}

// exchange returns the exchange to which events of a type are published.
func (t *topology) exchange(typ event.Type) string {
	if typ.Exchange == event.StockExchange {
		return t.stock
	}
	return t.orders
}

// forOthers returns a queue that Comanda only fills. Without a limit, a queue that no system reads would fill the
// broker's disk and block all publishers.
func (t *topology) forOthers(name string, typ event.Type) queue {
	return queue{name, []binding{{t.exchange(typ), typ.RoutingKey}}, amqp.Table{
		amqp.QueueMaxLenArg: maxForOthers, amqp.QueueOverflowArg: amqp.QueueOverflowDropHead,
	}, "For other systems; the oldest messages are dropped when it is not read."}
}

// forConsumer returns a consumer's queue and its dead-letter queue. Dead letters go through the default exchange, to
// which every queue is bound by name and from which it cannot be unbound.
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
		}, "Copies of the dead letters of consumer `" + c.Name + "`; the originals are in dead_event."},
	}
}

// add prepends the prefix to the names and makes the queues replicated quorum queues.
func (t *topology) add(queues ...queue) {
	for _, q := range queues {
		q.name = t.prefix + q.name
		q.args[amqp.QueueTypeArg] = amqp.QueueTypeQuorum
		t.queues = append(t.queues, q)
	}
}

// find returns the queue of a name without the prefix, or nil.
func (t *topology) find(name string) *queue {
	i := slices.IndexFunc(t.queues, func(q queue) bool { return q.name == t.prefix+name })
	if i < 0 {
		return nil
	}
	return &t.queues[i]
}

// wanted reports whether one of the installation's queues has the binding.
func (t *topology) wanted(b binding) bool {
	return slices.ContainsFunc(t.queues, func(q queue) bool { return slices.Contains(q.bound, b) })
}

// check returns an error if consumers share a queue, or if a type is not routed to its consumer's queue.
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
				return fmt.Errorf("rabbit: consumer %s subscribes to %s, which is not routed to queue %s", c.Name, b.key, name)
			}
		}
	}
	return nil
}

// bindings returns the bindings that a consumer's types need. Check has refused unregistered types before.
func (t *topology) bindings(c inbox.Consumer) []binding {
	all := make([]binding, 0, len(c.Types))
	for _, name := range c.Types {
		if typ, ok := event.Lookup(name); ok {
			all = append(all, binding{t.exchange(typ), typ.RoutingKey})
		}
	}
	return all
}

// declare declares the topology on the broker. It returns the queues that already exist with other arguments and the
// broker's reply for each; those remain usable. It only adds: a binding or queue that a later release does not need
// stays until an operator deletes it.
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
	// A queue with other arguments is bound nevertheless: it was declared in order to receive these messages.
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

// declareQueue uses its own channel, because the broker closes a channel on which a declaration conflicts with an
// existing queue. A conflict is not an error: its reason is returned.
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

const preamble = `## RabbitMQ

Exchanges %q and %q (topic, durable); the name of the second one is configurable
(COMANDA_AMQP_STOCK_EXCHANGE). All queues are durable quorum queues, declared on every new connection.

A message of Comanda carries the event's id as message_id, its type as type and header event_type, and the headers aggregate,
aggregate_id, aggregate_seq, branch_id and occurred_at (Unix milliseconds); its body is the payload.

A message of another system needs a body, and the routing key or the header event_type. Repetitions are recognised by
the message_id (up to 64 characters), for a week and within its queue; without one, by the body. Publishers must use a new
id for every message, and the same id to repeat one. A command that cannot be executed is answered by
inventory.refused. A body that is not JSON or has no valid orderId becomes a dead letter at once.

Every order.placed is followed by a timer with the routing key %q, whose body is the order's id.
It returns with the routing key %q when the payment window (here %s) has expired.

| Queue | Exchange | Bound to | Arguments | Purpose |
|---|---|---|---|---|
`

const epilogue = `
A queue that exists with other arguments is used as it is. The log and the metric rabbit_queue_differs report it until it
is deleted and declared again. If %q differs, no timers are published; orders expire nevertheless.
`

// Markdown returns the documentation of the exchanges and queues. It lists the consumers that have their own queue
// names; one example stands for all others.
func Markdown(window time.Duration, consumers []inbox.Consumer) string {
	named := slices.DeleteFunc(slices.Clone(consumers), func(c inbox.Consumer) bool { return c.Queue == "" })
	example := inbox.Consumer{Name: "<name>"}
	t := newTopology(Config{PaymentWindow: window, Consumers: append(named, example)})
	t.find(example.QueueName()).bound = []binding{{"<theirs>", "<its types>"}}
	var b strings.Builder
	fmt.Fprintf(&b, preamble, t.orders, t.stock, keyAwait, keyExpired, window)
	for _, q := range t.queues {
		exchanges, keys := make([]string, len(q.bound)), make([]string, len(q.bound))
		for i, one := range q.bound {
			exchanges[i], keys[i] = one.exchange, one.key
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", q.name, code(slices.Compact(exchanges)), code(keys),
			code(argTexts(q.args)), q.purpose)
	}
	fmt.Fprintf(&b, epilogue, queueAwait)
	return b.String()
}

// code formats words as Markdown code spans.
func code(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "` `") + "`"
}

// argTexts formats a queue's arguments, sorted by name, without the queue type that all have in common.
func argTexts(args amqp.Table) []string {
	texts := make([]string, 0, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name != amqp.QueueTypeArg {
			texts = append(texts, fmt.Sprintf("%s=%v", name, args[name]))
		}
	}
	return texts
}
