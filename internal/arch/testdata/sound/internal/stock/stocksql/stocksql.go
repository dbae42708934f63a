// Package stocksql keeps the counters in a database.
package stocksql

import _ "comanda/internal/sqldb"
