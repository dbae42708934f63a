package demo

import (
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// thing is a stock item as restaurant.json describes it.
type thing struct {
	ID        int64  `json:"id"`
	SKU       string `json:"sku"`
	Name      string `json:"name"`
	Unit      string `json:"unit"`
	LowAt     int64  `json:"lowAt"`
	Available int64  `json:"available"`
}

// stored is a stock item with its branch, and portioned what one portion of a menu item takes of one.
type stored struct {
	thing
	branch int64
}

type portioned struct{ menuItem, item, qty int64 }

// pantry is the stock of all branches, and what dishes take of it.
func (r restaurant) pantry() (things []stored, recipes []portioned) {
	for _, b := range r.branches {
		ids := map[string]int64{}
		for _, t := range b.Stock {
			things = append(things, stored{t, b.ID})
			ids[t.SKU] = t.ID
		}
		for _, c := range b.Categories {
			for _, d := range c.Dishes {
				for sku, qty := range d.Takes {
					recipes = append(recipes, portioned{d.ItemID, ids[sku], qty})
				}
			}
		}
	}
	return things, recipes
}

// queueStock brings the stock with its first delivery.
func (r restaurant) queueStock(tx sqldb.Tx, at time.Time) {
	things, recipes := r.pantry()
	now := at.UnixMilli()
	rows := func() *sqldb.RowSet {
		return sqldb.NewRowSet(len(things)).
			Int("id", func(i int) int64 { return things[i].ID }).
			Int("branch_id", func(i int) int64 { return things[i].branch })
	}
	available := func(i int) int64 { return things[i].Available }
	tx.Queue(thingInsert, rows().
		Text("sku", func(i int) string { return things[i].SKU }).
		Text("name", func(i int) string { return things[i].Name }).
		Text("unit", func(i int) string { return things[i].Unit }).
		Int("low_at", func(i int) int64 { return things[i].LowAt }), now)
	tx.Queue(inventoryInsert, rows().Int("available", available))
	ids := make([]string, len(things))
	for i := range ids {
		ids[i] = uid.New(at)
	}
	tx.Queue(deliveryInsert, rows().
		Text("uid", func(i int) string { return ids[i] }).
		Int("available", available), now)
	tx.Queue(recipeInsert, sqldb.NewRowSet(len(recipes)).
		Int("menu_item_id", func(i int) int64 { return recipes[i].menuItem }).
		Int("item_id", func(i int) int64 { return recipes[i].item }).
		Int("qty", func(i int) int64 { return recipes[i].qty }))
}
