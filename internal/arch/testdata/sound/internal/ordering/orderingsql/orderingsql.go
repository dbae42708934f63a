// Package orderingsql keeps orders in a database.
package orderingsql

import (
	_ "comanda/internal/ordering"
	_ "comanda/internal/stock/stocksql"

	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/prometheus/client_golang/prometheus"
)
