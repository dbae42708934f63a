// Package keyaudit verifies a live Redis against package keyspace: every key must be declared, have the declared type and
// an allowed TTL; every id in an index must have its document, and every document must be listed.
//
// It scans all keys of every master once, on separate connections and at a limited rate. It checks suspected errors a
// second time before it reports them, because a key may be in the middle of an update. It needs about sixteen bytes of
// memory per document: it stores hashes, and scans a second time for the names only if something is missing.
//
//	Q1  it only reads
//	Q2  a reported finding was seen twice, the second time after a pause; beyond recheckMax findings of a kind, once
//	Q3  keys that exist during the whole scan are checked; keys that come or go meanwhile may be missed
package keyaudit
