// Package stock counts how many units of an item may be sold and records which holds have taken them: quotas per menu item
// and business date, and stock items that are counted over days.
//
// SQL decides, Redis only advises. The SQL store (stocksql) changes counters under row locks; Balances is its decision, pure
// and in memory. The admission cache (stockredis) runs the same state table in Redis ahead of SQL, so that orders for a
// sold-out item are refused without a database transaction. An answer of the cache never counts against the counters in SQL.
//
// An order is admitted in three steps: Syncer.Reserve takes a provisional hold in the cache, the SQL transaction decides,
// and Syncer.EnqueueCommitted passes the result back to the cache. A provisional hold whose transaction never commits is
// released by Syncer.ExpireProvisional.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I1  per (branch, date, item): held is the sum of HELD lines, used the sum of CONFIRMED lines; never negative
//	I2  held + used <= cap in force at the instant of holding; a storm on the last n units has exactly n winners
//	I3  when all is quiet after the last deadline, held is 0 and the whole cap can be bought
//	I4  one terminal state per hold
//	I12 a refused or cancelled hold never holds later
package stock
