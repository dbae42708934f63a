// Package keyspace is the one registry of Redis keys: nothing else may build a key, and package redisdb sends no other.
//
// A declaration says what a key holds, how long it lives, what losing it means, who owns it and from where it is built
// again. The builders (QuotaCap, HoldRecord, ...) give values of type Key, which no other package can make. Lint proves
// the rules below about the whole registry and runs as a test; Match tells which declaration a raw key belongs to.
//
// Invariants, proved by Lint:
//
//	K1  no string can be a key of two declarations
//	K2  a key has at most 50 characters without the namespace, whatever its segments hold; indexes over long values are
//	    declared by name
//	K3  keys are made of a-z 0-9 : _ - and the braces of one hash tag; further letters are declared by name; segments
//	    hold neither colons nor braces
//	K4  every key has a TTL or is derived from SQL
//	K5  what would be missed (derived, guarded) names its rebuilder
//	K6  all keys of the gate carry the branch's hash tag, so that one script finds them on one node
package keyspace
