// Package app is the composition root: configuration, wiring, roles, and the ordered start and stop of a process. It is
// the only package that imports all others.
//
// A process starts in the order database, Redis, services, loops, HTTP. It stops in the reverse order: it fails
// readiness, drains requests, stops the loops, commits the ledger's queue, and closes connections. Killing it instead
// loses nothing that was answered with success.
package app
