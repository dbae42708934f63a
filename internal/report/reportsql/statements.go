// Package reportsql reads the figures from orders, payments and counters. It writes nothing and takes no locks: a
// report reflects the instant at which its statement began.
package reportsql

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
