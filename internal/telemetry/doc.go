// Package telemetry sets up structured logs and metrics.
//
// Invariants that other packages rely on:
//
//	T1. A Secret never leaves the process as text, whichever formatter, logger or encoder prints it.
//	T2. Logging a record costs the caller memory work only; the output gets it at most FlushEvery later. A process that is
//	    killed with SIGKILL loses up to that much of its log. A record of level ERROR is written immediately, together with
//	    all records before it.
//	T3. Every record of a context has the attributes of its carrier, so that a request id finds all of them.
package telemetry
