// Package rabbit carries events through RabbitMQ: a Publisher with publisher confirms for the outbox relay, and
// Consumers that pass received messages to the inbox.
//
// Rules:
//
//  1. An event counts as published only when the broker has confirmed it and has not returned it. If one of Comanda's
//     own queues is bound to its type, a message that reaches no queue is refused, and the topology is declared again.
//  2. Any connection or channel error drops the whole connection. The outcome of messages in flight is unknown, so they
//     are published again; consumers deduplicate by message id, which is the event's id.
//  3. The topology is declared on every new connection, so a broker that was wiped is set up again automatically.
//  4. Publishing and consuming use separate connections, because a broker in a memory or disk alarm blocks publishers.
//     A blocked publisher waits on its connection instead of repeating its messages on new ones.
//  5. A message is acknowledged after the commit of its effect. It is rejected, and moves to its queue's .dlq, only
//     after a row in dead_event is committed.
//  6. The payment timer only affects punctuality: if the broker loses it, the sweeper still finds expired orders in SQL.
//
// A message carries the event's id as message_id, its type as type and header event_type, and the headers aggregate,
// aggregate_id, aggregate_seq, branch_id and occurred_at (unix milliseconds). The body is the payload alone.
//
// Messages of other systems arrive in the queues of consumers that subscribe to external types. Only their routing key,
// event_type header, message id and body are used.
package rabbit
