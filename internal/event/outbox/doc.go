// Package outbox stores events in the transaction of their change and relays them afterwards.
//
// Invariants:
//
//  1. An event is in event_log from the commit of its change on. Once the cursor of the relay has passed it, it is
//     published, waits in event_retry, or is in dead_event (I7, I15).
//  2. It is published at least once. A crash between publishing and commit publishes it again, under the same id.
//  3. Only a refusal of the event itself costs an attempt. An unavailable, blocked or disconnected broker costs none, and
//     the events stay unchanged (I16).
//  4. The relay reads the log by position and never passes a position whose transaction is still open: see event_append
//     and relay_state.
//  5. On PostgreSQL any number of processes may relay. The one that has locked the cursor takes new events; only batches
//     that are delivered separately after a failure are not locked. On SQLite one process relays.
//
// How a batch is relayed depends on the publisher. On PostgreSQL the relay calls a broker while the cursor is locked.
// This is the only transaction that waits for the network, and at most for the broker's confirm timeout, which is
// shorter than the idle limit of sqldb.DB.WriteWaiting. SQLite has one writer, which orders must not wait for; there
// the relay reads the batch, publishes it outside of any transaction, and then moves the cursor. Consumers in the same
// process share the relay's transaction, so they apply each event exactly once.
package outbox
