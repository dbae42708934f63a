// Package inbox applies every event exactly once per consumer, however often it is delivered.
//
// Invariants:
//
//  1. The row in consumer_dedupe and the consumer's writes are committed together. An applied event is never applied
//     again, and an event whose writes were rolled back is (I8). Deliver needs no row if its caller knows that the events
//     are delivered for the first time.
//  2. An event that cannot be applied does not delay others: a failed batch is halved until that event is isolated.
//  3. Attempts are counted per consumer and event, and only while the database is available. The last failed attempt
//     turns the event into a dead letter of that consumer, with an error log record and a metric (I15).
package inbox
