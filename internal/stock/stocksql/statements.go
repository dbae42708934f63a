// Package stocksql stores counters, holds, stock items and the outbox of the admission cache, and compares them.
// Other stores use it inside their own transactions. Locks are taken in one order everywhere, which excludes
// deadlocks: counters by (branch, date, item), then stock by (branch, item), then holds by id, then the caller's own
// rows.
package stocksql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must
