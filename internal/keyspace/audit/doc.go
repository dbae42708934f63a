// Package audit holds a live Redis against package keyspace: every key must be declared, be of its type and have the life
// that its declaration allows; every id in an index must have its document, and every document must be listed.
//
// It walks once over all keys of every master, on connections of its own and no faster than it is told. What it takes for
// wrong it looks at once more before it says so, because a key may be on its way just then. Its memory is some sixteen
// bytes for each document: it remembers hashes, and only where something is missing does it walk a second time for the
// names.
//
//	Q1  it only reads
//	Q2  what is reported was seen twice, the second time after a pause; beyond recheckMax findings of a kind, once
//	Q3  what lives during the whole walk is looked at; what comes or goes meanwhile may be
package audit
