package stocksql

import (
	"context"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Recipes returns the stock that one portion of each menu item of a branch consumes.
func (l *Store) Recipes(ctx context.Context, branch int64) (map[int64][]stock.Line, error) {
	all := map[int64][]stock.Line{}
	return all, sqldb.Each(ctx, l.db, func(rows sqldb.Rows) error {
		var item int64
		var line stock.Line
		err := rows.Scan(&item, &line.Item, &line.Qty)
		all[item] = append(all[item], line)
		return err
	}, stmt("recipe_select"), branch)
}
