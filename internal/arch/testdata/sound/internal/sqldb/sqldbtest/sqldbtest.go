// Package sqldbtest gives tests a database of their own.
package sqldbtest

import _ "comanda/internal/sqldb"
