// Package event defines the domain events that Comanda publishes to its own consumers and to other systems: one
// envelope, and one registry of types with their payloads. It depends on neither tables nor brokers.
//
// Its subpackages carry events. Package outbox stores them in the transaction of the change and relays them afterwards.
// Packages bus and rabbit deliver them to consumers. Package inbox applies each event once per consumer. Package
// eventsql stores dead letters.
//
// Guarantees for consumers:
//
//  1. An event exists only where its change was committed, and every committed event is published (I7).
//  2. An event may be delivered more than once, always under the same ID; package inbox deduplicates (I8).
//  3. Events of one aggregate normally arrive in the order of Seq. Several relays, a refusal or a redelivery may change
//     that order, so a consumer that depends on it compares Seq.
//  4. A payload field never changes its name or meaning; new fields may be added.
package event
