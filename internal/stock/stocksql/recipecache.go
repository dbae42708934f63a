package stocksql

import (
	"context"

	"comanda/internal/stock"
)

// Recipes returns the stock that one portion of each menu item of a branch consumes.
func (l *Store) Recipes(ctx context.Context, branch int64) (map[int64][]stock.Line, error) {
	rows, err := l.db.Query(ctx, recipeSelect, branch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[int64][]stock.Line{}
	for rows.Next() {
		var item int64
		var line stock.Line
		if err := rows.Scan(&item, &line.Item, &line.Qty); err != nil {
			return nil, err
		}
		all[item] = append(all[item], line)
	}
	return all, rows.Err()
}
