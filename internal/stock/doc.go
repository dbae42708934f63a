// Package stock owns how many of a thing may be sold and who holds them: quotas per menu item and business date, and the
// holds that orders take from them.
//
// SQL decides, Redis advises. The ledger (stocksql) counts under row locks; Book is its decision, pure and in memory.
// The gate (stockredis) runs the same state table in Redis ahead of the ledger, so that what is sold out is refused
// without touching SQL. Whatever the gate says, only the ledger's word counts.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I1  per (branch, date, item): held is the sum of HELD lines, used the sum of CONFIRMED lines; never negative
//	I2  held + used <= cap in force at the instant of holding; a storm on the last n units has exactly n winners
//	I3  when all is quiet after the last deadline, held is 0 and the whole cap can be bought
//	I4  one terminal state per hold
//	I12 a refused or cancelled hold never holds later
package stock
