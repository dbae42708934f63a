// Package worker runs periodic background work: expiring orders, relaying events, reconciling payments.
//
// A loop is a function that performs one round of work and returns. The package adds a period, start and stop, and
// metrics:
//
//	W1. At most one round of a loop runs at any time.
//	W2. A round that fails or panics never ends the loop. The next round comes after a pause that doubles with every
//	    consecutive failure up to a limit.
//	W3. A Wake before a round begins is served by that round or a later one; several Wakes may share one round. A Wake
//	    does not shorten the pause after a failure, so that a broken dependency is not overloaded.
//	W4. After Stop has returned nil no round runs, and none begins.
//	W5. Every pause has jitter, so that instances that started together do not stay synchronized.
package worker
