// Package catalogsql keeps the catalog in a database.
package catalogsql

import (
	_ "comanda/internal/sqldb/sqldbtest"
)

func stmt(string) {}

func run() {
	stmt("branch_select")
	stmt("branch_gone")
}
