// Package redisdb is the only client of Redis. It accepts only declared keys (package keyspace).
//
// It supports three kinds of servers: one Redis or Valkey from version 7 (redis://, rediss://), a Cluster (several
// addresses), and, if nothing is configured, an embedded store inside the process (miniredis). Command-line tools
// reach the embedded store through a unix socket in the data directory. The embedded store is meant for a small site.
// It keeps all data in the memory of the process and loses it at a restart, which is safe because SQL decides.
//
// Invariants:
//
//	R1  a key that was not built by a declaration is never sent
//	R2  a write or a script is sent at most once; after a lost reply the error says that its effect is unknown
//	R3  the keys of one script, or of one group of a batch script, share a slot, whatever the server; scripts never run
//	    inside MULTI, which cannot be sent
//	R4  no call but Subscribe waits longer than Config.Timeout; while the server is down, calls fail at once with ErrDown
//	R5  OnChange functions are called when the server recovers, or when another server than the one written to responds
package redisdb
