// Package inbox lets a consumer apply every event exactly once, however often it is delivered.
//
// Invariants:
//
//  1. The row in consumer_dedupe and what the consumer did are committed together; so an event that was applied is
//     never applied again, and one whose effect was lost is (I8).
//  2. An event that cannot be applied does not hold up its neighbours: a failed batch is halved until it stands alone.
//  3. Attempts are counted here, per consumer and event, and only while the database answers. The last one turns the
//     event into a dead letter of that consumer, with an error in the log and a metric (I15).
package inbox
