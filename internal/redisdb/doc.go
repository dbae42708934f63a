// Package redisdb is the only way to Redis: a client that takes declared keys (package keyspace) and nothing else.
//
// Three kinds of server stand behind it: one Redis or Valkey from version 7 (redis://, rediss://), a Cluster (several
// addresses), or, when nothing is configured, a store inside the process (miniredis) that is reachable for command-line
// tools through a unix socket in the data directory. The store is made for a small site: it holds everything in memory
// of the process and forgets it on a restart, which is safe because SQL decides.
//
// Invariants:
//
//	R1  a key that no declaration built is never sent
//	R2  a write or a script is sent at most once; a lost answer is an error whose effect is unknown
//	R3  the keys of one script, or of one group of a series, share a slot, whatever the server; scripts never run inside
//	    MULTI, which cannot be sent
//	R4  no call but Listen waits longer than Config.Timeout; while the server is down, calls fail at once with ErrDown
//	R5  OnChange is told whenever the server comes back or is no longer the one that was written to
package redisdb
