// Package app is the composition root: configuration, wiring, roles, and the ordered start and stop of a process. It is
// the only package that sees all rooms.
//
// A process starts from the ground up (database, Redis, rooms, loops, HTTP) and stops from the top down: it fails
// readiness, drains requests, stops the loops, commits what waits in the ledger, and closes connections. Killing it
// instead loses nothing that was answered with success.
package app
