package orderingsql

import (
	"context"

	"comanda/internal/sqldb"
)

// versions reads the current version of each order; 0 stands for an unknown order.
func versions(ctx context.Context, db sqldb.Conn, ids []string) ([]int64, error) {
	rows, err := db.Query(ctx, versionSelect, idRows(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	byID := make(map[string]int64, len(ids))
	for rows.Next() {
		var id string
		var version int64
		if err := rows.Scan(&id, &version); err != nil {
			return nil, err
		}
		byID[id] = version
	}
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = byID[id]
	}
	return all, rows.Err()
}
