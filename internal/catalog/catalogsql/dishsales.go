package catalogsql

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// DishesOnSale returns the dishes that have stored sales.
func (s *Store) DishesOnSale(ctx context.Context) ([]int64, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("dish_sale_ids"))
}

// DishSalesUpdate is the sales of one dish; without branches it is on no published menu.
type DishSalesUpdate struct {
	Dish  int64
	Sales catalog.DishSales
}

// SaveDishSales stores the sales of dishes and queues the projection of those that differ from what is stored. Several
// processes may call it: the second one changes nothing.
func (s *Store) SaveDishSales(ctx context.Context, all []DishSalesUpdate, now time.Time) (changed int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	rows := sqldb.NewRowSet(len(all)).
		Int("id", func(i int) int64 { return all[i].Dish }).
		Text("branches", func(i int) string { return salesText(all[i].Sales) }).
		NullInt("stock", func(i int) (int64, bool) { return all[i].Sales.Stock() }).
		NullInt("sold", func(i int) (int64, bool) { return all[i].Sales.SoldToday(), len(all[i].Sales) > 0 }).
		Int("open", func(i int) int64 {
			if all[i].Sales.Available() {
				return 1
			}
			return 0
		})
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		ids, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("dish_sale_save"), rows)
		if err != nil {
			return err
		}
		changed = len(ids)
		documentsql.Changed(tx, now, "dish", seq.Map(ids, decimal)...)
		return nil
	})
	return changed, err
}

func salesText(s catalog.DishSales) string {
	if len(s) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(s) // numbers always marshal, and keys are sorted
	return string(text)
}
