// Package rabbit carries events through RabbitMQ: a confirming Publisher for the outbox's relay, and Consumers that
// bring what arrives to the inbox.
//
// Rules:
//
//  1. An event counts as published only when the broker has confirmed it and has not returned it. Where one of our own
//     queues wants its type, a message that reaches no queue is refused, and the topology is declared again.
//  2. Any error of a connection or channel drops the whole connection. What was on its way then is unknown and is
//     published again; consumers recognise it by its message id, which is the event's.
//  3. The topology is declared on every new connection, so a broker that was emptied is set up again by itself.
//  4. Publishing and consuming have separate connections, because a broker in a memory or disk alarm blocks publishers.
//     A blocked publisher waits on its connection; it does not pile up repetitions on new ones.
//  5. A message is acknowledged after the commit of what it caused. It is rejected, and goes to its queue's .dlq, only
//     when a row in dead_event says so.
//  6. The payment timer is no fact: a broker that cannot keep it loses nothing but punctuality, since the sweeper in
//     SQL decides what has expired.
//
// A message has the event's id as message_id, its type as type and header event_type, and the headers aggregate,
// aggregate_id, aggregate_seq, branch_id and occurred_at (unix milliseconds); the body is the payload alone.
//
// Messages of other systems come to the queues of consumers that hear foreign types. Nothing of them but the body is
// relied on.
package rabbit
