package rabbit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event/inbox"
)

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
