package orderingsql

import (
	"context"

	"comanda/internal/sqldb"
)

// versions reads the current version of each order; 0 stands for an unknown order.
func versions(ctx context.Context, db sqldb.Conn, ids []string) ([]int64, error) {
	byID, err := sqldb.Map[string, int64](ctx, db, stmt("version_select"), idRows(ids))
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = byID[id]
	}
	return all, err
}
