// Package outbox stores events in the transaction of their change and relays them afterwards.
//
// Invariants:
//
//  1. An event is in outbox_events from the commit of its change until it is published or becomes a dead letter; then it
//     is in event_log or dead_event (I7, I15). Nothing else deletes it.
//  2. It is published at least once. A crash between publishing and commit publishes it again, under the same id.
//  3. Only a refusal of the event itself costs an attempt. An unavailable, blocked or disconnected broker costs none, and
//     the events stay unchanged (I16).
//  4. On PostgreSQL any number of processes may relay: each works on rows that it has locked. On SQLite there is one.
//
// How a batch is relayed depends on the publisher. On PostgreSQL the relay calls a broker while the rows are locked.
// This is the only transaction that waits for the network, and at most for the broker's confirm timeout, which is
// shorter than the idle limit of sqldb.DB.WriteWaiting. SQLite has one writer, which orders must not wait for; there
// the relay reads the batch, publishes it outside of any transaction, and then deletes it. Consumers in the same
// process share the relay's transaction, so they apply each event exactly once.
package outbox
