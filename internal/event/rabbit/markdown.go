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

Exchanges %q and %q (topic, durable); an installation may call the second one otherwise
(COMANDA_AMQP_STOCK_EXCHANGE). All queues are durable quorum queues, declared on every new connection.

A message of ours carries the event's id as message_id, its type as type and header event_type, and the headers aggregate,
aggregate_id, aggregate_seq, branch_id and occurred_at (unix milliseconds); its body is the payload.

A message of another system needs its routing key, or the header event_type, and the body. A message_id of up to 64
characters is what its repetition is known by, for a week and within its queue; without one that is the body. Whoever
publishes gives every message another id and repeats a message under the same one. What cannot be done is answered by
inventory.refused. A body that is not JSON or has no orderId that could be one is a dead letter at once.

Every order.placed is followed by a timer with the routing key %q, whose body is the order's id.
It comes back with the routing key %q when the payment window (here %s) is over.

| Queue | Exchange | Bound to | Arguments | Purpose |
|---|---|---|---|---|
`

const epilogue = `
A queue that exists with other arguments is used as it is; the log and rabbit_queue_differs say so until it is deleted
and declared anew. Only where %q differs no timers are published; orders expire all the same.
`

// Markdown documents the broker's half of events. Of the consumers those are listed whose queues have names of their own;
// one more stands for all others.
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

// code sets words as code, one after the other.
func code(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "` `") + "`"
}

// argTexts writes a queue's arguments in a fixed order, without the type that all have.
func argTexts(args amqp.Table) []string {
	texts := make([]string, 0, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name != amqp.QueueTypeArg {
			texts = append(texts, fmt.Sprintf("%s=%v", name, args[name]))
		}
	}
	return texts
}
