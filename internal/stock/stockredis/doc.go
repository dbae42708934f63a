// Package stockredis is the gate: the state table of holds as Lua scripts in Redis, ahead of the ledger in SQL. It
// refuses what is sold out without touching SQL, and it is allowed to know nothing: then it answers Cold and SQL
// decides alone.
//
// A scope (branch and business date) is three hashes of counters that carry one epoch, and one record per hold. The
// records' keys, like the counters', carry the branch's hash tag, so one script call serves many reservations of a
// scope.
//
// Invariants, beyond those of package stock:
//
//	G1  missing never means zero: without one epoch in all three hashes, and for an item that a hash lacks, the answer
//	    is Cold
//	G2  a script checks everything before its first write, and its writes cannot be refused
//	G3  what a hold gives back is what its own record says it took, once
//	G4  a record outlives its deadline: it lives as long as its scope, so nothing is counted that no record explains
//	G5  two rebuilds of one scope never mix; between their begin and their finish the scope is unknown
//	G6  units become free here only after SQL has committed their release, so lag under-sells and never over-sells
package stockredis
