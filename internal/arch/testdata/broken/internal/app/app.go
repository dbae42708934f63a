// Package app puts everything together in one process.
package app

import (
	_ "comanda/internal/catalog"
	_ "comanda/internal/sqldb"
)
