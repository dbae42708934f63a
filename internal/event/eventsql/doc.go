// Package eventsql is how events look in SQL tables, and the table of events that were given up.
//
// A dead letter is an event that the relay could not publish (its consumer is empty) or that one consumer could not
// apply. It leaves the table only by a replay, so nothing is ever lost silently (I15).
package eventsql
