// Package catalogsql keeps the catalog in a database.
package catalogsql

import (
	_ "comanda/internal/sqldb/sqldbtest"
)
