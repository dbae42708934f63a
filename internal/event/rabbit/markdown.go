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

Exchange %q (topic, durable). All queues are durable quorum queues, declared on every new connection.

A message carries the event's id as message_id, its type as type and header event_type, and the headers aggregate,
aggregate_id, aggregate_seq, branch_id and occurred_at (unix milliseconds); its body is the payload.

Every order.placed is followed by a timer with the routing key %q, whose body is the order's id.
It comes back with the routing key %q when the payment window (here %s) is over.

| Queue | Bound to | Arguments | Purpose |
|---|---|---|---|
`

const epilogue = `
A queue that exists with other arguments is used as it is; the log and rabbit_queue_differs say so until it is deleted
and declared anew. Only where %q differs no timers are published; orders expire all the same.
`

// Markdown documents the broker's half of events, with one consumer standing for all.
func Markdown(window time.Duration) string {
	example := inbox.Consumer{Name: "<name>"}
	t := newTopology("", window, []inbox.Consumer{example})
	t.find(example.QueueName()).keys = []string{"<its types>"}
	var b strings.Builder
	fmt.Fprintf(&b, preamble, t.exchange, keyAwait, keyExpired, window)
	for _, q := range t.queues {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", q.name, code(q.keys), code(argTexts(q.args)), q.purpose)
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
