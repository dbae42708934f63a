// Package sqldbtest makes a database for each test.
package sqldbtest

import _ "comanda/internal/sqldb"
