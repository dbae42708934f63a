// Package event is the facts that Comanda tells to its own consumers and to other systems: one envelope, and the one
// registry of types with their payloads. It knows nothing of tables or brokers.
//
// The rooms below carry events: outbox stores them in the transaction of the fact and relays them afterwards, bus and
// rabbit bring them to consumers, inbox lets each consumer apply each of them once, and eventsql holds what was given
// up.
//
// Promises to a consumer:
//
//  1. An event exists only where its fact was committed, and every committed event is published (I7).
//  2. It may arrive more than once, always under the same ID; inbox absorbs the repetition (I8).
//  3. Events of one aggregate normally arrive in the order of Seq, but several relays, a refusal or a redelivery may
//     change that. Whoever depends on the order compares Seq.
//  4. A field of a payload keeps its name and meaning for good; new fields may be added.
package event
