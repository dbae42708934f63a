// Package telemetry sets up what the process says about itself: structured logs and metrics.
//
// Its rules, which other packages rely on:
//
//	T1. A Secret never leaves the process as text, whichever formatter, logger or encoder meets it.
//	T2. A log record costs the caller memory work only: the output sees it at most FlushEvery later. A process that is
//	    killed with SIGKILL loses up to that much of its log, except that a record of level ERROR is written at once,
//	    together with everything that was logged before it.
//	T3. Every record of a context carries the attributes given to With, so that one request id finds them all.
package telemetry
