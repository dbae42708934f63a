// Package eventsql maps events to SQL rows and stores dead letters.
//
// A dead letter is an event that the relay could not publish (Consumer is empty) or that one consumer could not apply.
// Only a replay deletes it, so no event is lost silently (I15).
package eventsql
