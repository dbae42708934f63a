// Package orderingsql stores orders in SQL: the ledger that runs commands in shared transactions, the reads for guests
// and staff, and the daybook.
//
// Every transaction takes its locks in one order, which rules out deadlocks: idempotency keys, then counters by
// (branch, date, item), then the numbers of business dates, then members' carts, then holds by id, then orders by id,
// and the audit log last. Only Ledger writes orders, apart from the index of names. Orders reads without locks, and its
// results may be outdated when they are used.
package orderingsql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements contains all SQL statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must
