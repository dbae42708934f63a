// Package worker runs what must happen again and again behind the requests: sweeping expired orders, relaying events,
// reconciling payments.
//
// A loop is a function that does one round of work and returns. The package gives it a period, a life and witnesses:
//
//	W1. At most one round of a loop runs at any time.
//	W2. A round that fails or panics never ends the loop. The next round comes after a pause that doubles with every
//	    failure in a row up to a limit.
//	W3. A Wake that is called before a round begins is answered by that round or a later one, however many Wakes there
//	    were. It does not shorten the pause after a failure: what is broken is not hammered by those who need it.
//	W4. After Stop has returned nil no round runs, and none begins.
//	W5. Every pause is jittered, so that instances which started together do not stay together.
package worker
