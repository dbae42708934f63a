// Package tagcache caches values that are computed from SQL and read often: reports, counts, searches and public pages.
// The store is Redis, which all processes share, or the memory of one process.
//
// Invariants:
//
//	C1 once Invalidate has returned, no Load that begins later returns a value that was computed before it, in any process
//	C2 at most one process at a time computes a value, unless that takes longer than its lease
//	C3 without its store the cache computes every value; it never fails a request
//	C4 a scope has at most MaxEntries values, and a value MaxValue bytes; more are computed and not stored
//
// C1 follows from the lease. A process that finds no value takes a lease before it computes one. Invalidate deletes the
// leases of the values that it removes, and a value is stored only under the lease of its computation. So a slow
// computation, which may have read rows from before the change, is not stored.
package tagcache
