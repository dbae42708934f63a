// Package stockmemory is the admission cache of an installation whose only process has it in memory. It follows the same
// rules as the scripts of package stockredis, and passes the same tests.
//
// A call takes the lock of one branch and no other, and makes no call while it has it. Everything is lost with the
// process: the first order after a start finds its scope unknown, and SQL decides until the scope is rebuilt.
package stockmemory
