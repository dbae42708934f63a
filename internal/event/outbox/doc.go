// Package outbox stores events in the transaction of their fact and relays them afterwards.
//
// Invariants:
//
//  1. An event is in outbox_events from the commit of its fact until it is published or given up; then it is in
//     event_log or among the dead letters (I7, I15). Nothing else deletes it.
//  2. It is published at least once. A crash between publishing and commit publishes it again, under the same id.
//  3. Only a refusal of the event itself costs an attempt. A broker that is down, blocked or lost in the middle costs
//     none: the events stay as they are (I16).
//  4. Any number of processes may relay on PostgreSQL: each works on rows that it has locked. On SQLite there is one.
//
// How a batch is relayed depends on who receives it. A broker is called with the rows locked on PostgreSQL, the one
// place where a transaction waits for the network: at most for the broker's confirm timeout, which is shorter than the
// time for which sqldb.DB.WriteWaiting may be idle. SQLite has one writer, which orders must not wait for; there the
// batch is read, published outside of any transaction, and then deleted. Consumers in the same process share the
// relay's transaction, so that they apply the event exactly once.
package outbox
