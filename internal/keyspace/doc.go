// Package keyspace is the registry of all Redis keys. No other package builds keys, and package redisdb sends no
// others.
//
// A declaration states what a key holds, its TTL, the consequence of losing it, its owner, and how it is rebuilt. The
// builders (QuotaCap, HoldRecord, ...) return values of type Key, which no other package can create. Lint verifies the
// rules below for the whole registry and runs as a test. Match returns the declaration of a raw key.
//
// Invariants, verified by Lint:
//
//	K1  no string can be a key of two declarations
//	K2  a key has at most 50 characters without the namespace, whatever its segments hold; indexes over long values are
//	    declared as exceptions
//	K3  keys consist of a-z 0-9 : _ - and the braces of one hash tag; further letters are declared as exceptions; segments
//	    contain neither colons nor braces
//	K4  every key has a TTL or is derived from SQL
//	K5  derived and guarded keys name the function that rebuilds them
//	K6  all keys of the admission cache have the branch's hash tag, so that one script can access them on one node
//	K7  a copy of SQL data that is not rebuilt states what invalidates it
package keyspace
