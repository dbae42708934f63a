// Package stockredis is the admission cache: the state table of holds as Lua scripts in Redis, ahead of SQL. It
// refuses orders for sold-out items without a database transaction. If it lacks a scope, it answers Cold, and SQL
// decides alone.
//
// A scope (branch and business date, or a branch's stock) is three hashes of counters that carry one epoch, and one
// record per hold. All keys have the branch's hash tag, so that one script call serves many reservations of a scope.
//
// Invariants, in addition to those of package stock:
//
//	G1  missing never means zero: without one epoch in all three hashes, and for an item that a hash lacks, the answer
//	    is Cold
//	G2  a script checks everything before its first write, and its writes cannot be refused
//	G3  a hold releases the units in its own record, once
//	G4  a record outlives its deadline: it lives as long as its scope, so nothing is counted that no record explains
//	G5  two rebuilds of one scope never mix; between their begin and their finish the scope is unknown
//	G6  units become free here only after SQL has committed their release, so lag under-sells and never over-sells
package stockredis
