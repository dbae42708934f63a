// Package demo is a restaurant to try Comanda with: one branch in Hà Nội and one in Taipei, with 28 dishes in three
// languages, twelve tables, some quotas and a stock. The data is in restaurant.json.
package demo

import (
	"embed"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"comanda/internal/catalog"
	"comanda/internal/menufile"
	"comanda/internal/money"
)

var (
	//go:embed restaurant.json
	restaurantJSON []byte
	//go:embed pictures/*.svg
	pictures embed.FS
)

// Pictures returns drawings of the demo's dishes; 4.svg is that of dish 4. They were made for this program by
// web/scripts/draw.mjs.
func Pictures() fs.FS {
	drawn, _ := fs.Sub(pictures, "pictures") // fails for an invalid name only
	return drawn
}

// branch is a branch as restaurant.json describes it. All ids are fixed, so that a second load finds the first.
type branch struct {
	ID               int64             `json:"id"`
	Name             string            `json:"name"`
	Currency         money.Currency    `json:"currency"`
	Timezone         string            `json:"timezone"`
	DayStart         int               `json:"dayStart"`
	Locales          []catalog.Locale  `json:"locales"`
	AutoCloseMinutes int               `json:"autoCloseMinutes"`
	Tables           map[string]string `json:"tables"` // id -> label
	MenuID           int64             `json:"menuId"`
	MenuName         string            `json:"menuName"`
	VersionID        int64             `json:"versionId"`
	Stock            []stockItem       `json:"stock"`
	Categories       []category        `json:"categories"`
}

// category is a category of one branch. Its place in the file decides its place in the menu.
type category struct {
	ID     int64         `json:"id"`
	Names  catalog.Texts `json:"names"`
	Dishes []dish        `json:"dishes"`

	sort int64
}

// dish is a dish with its item in the menu of one branch. Without a quota it is never sold out.
type dish struct {
	ID           int64            `json:"id"`
	ItemID       int64            `json:"itemId"`
	Price        int64            `json:"price"`
	Prices       prices           `json:"prices"` // in all currencies, for the templates
	Quota        *int64           `json:"quota"`
	Names        catalog.Texts    `json:"names"`
	Descriptions catalog.Texts    `json:"descriptions"`
	Takes        map[string]int64 `json:"takes"` // stock that one portion takes: sku -> quantity

	branch   branch
	category int64
	sort     int64
}

type prices map[money.Currency]int64

// stockItem is a stock item of a branch with its first delivery.
type stockItem struct {
	ID        int64  `json:"id"`
	SKU       string `json:"sku"`
	Name      string `json:"name"`
	Unit      string `json:"unit"`
	LowAt     int64  `json:"lowAt"`
	Available int64  `json:"available"`

	branch int64
}

// recipeLine is the quantity of a stock item that one portion of a menu item uses.
type recipeLine struct{ menuItem, item, qty int64 }

type table struct {
	id     int64
	branch int64
	label  string
}

// restaurant is the content of the file as lists, one for each SQL table.
type restaurant struct {
	branches   []branch
	tables     []table
	categories []category
	dishes     []dish
	stock      []stockItem
	recipes    []recipeLine
}

// read parses the embedded file into lists. It sorts the tables, because a map has no order. Menus keep the order of
// the file.
func read() (restaurant, error) {
	var r restaurant
	if err := json.Unmarshal(restaurantJSON, &r.branches); err != nil {
		return r, err
	}
	for _, b := range r.branches {
		for _, key := range slices.Sorted(maps.Keys(b.Tables)) {
			id, err := strconv.ParseInt(key, 10, 64)
			if err != nil {
				return r, err
			}
			r.tables = append(r.tables, table{id, b.ID, b.Tables[key]})
		}
		stockIDs := map[string]int64{}
		for _, i := range b.Stock {
			i.branch = b.ID
			r.stock = append(r.stock, i)
			stockIDs[i.SKU] = i.ID
		}
		for _, c := range b.Categories {
			c.sort = int64(len(r.categories) + 1)
			r.categories = append(r.categories, c)
			for _, d := range c.Dishes {
				d.branch, d.category, d.sort = b, c.ID, int64(len(r.dishes)+1)
				r.dishes = append(r.dishes, d)
				for sku, qty := range d.Takes {
					r.recipes = append(r.recipes, recipeLine{d.ItemID, stockIDs[sku], qty})
				}
			}
		}
	}
	return r, nil
}

// templateNames are the names of the menus as templates, by branch.
var templateNames = map[int64]string{1: "hanoi", 2: "taipei"}

// MenuTemplates returns the demo's menus as templates. They have no pictures: those are drawings, which only the demo
// serves.
func MenuTemplates() []catalog.MenuTemplate {
	r, err := read()
	all := make([]catalog.MenuTemplate, len(r.branches))
	for i, b := range r.branches {
		all[i] = catalog.MenuTemplate{
			Name: templateNames[b.ID],
			Rows: func(o menufile.Options) ([]menufile.DishRow, error) { return b.rows(o), err },
		}
	}
	return all
}

// rows returns a branch's dishes for another branch. Dishes without a price in its currency are left out.
func (b branch) rows(o menufile.Options) []menufile.DishRow {
	var rows []menufile.DishRow
	for _, c := range b.Categories {
		for _, d := range c.Dishes {
			price, ok := d.Prices[o.Currency]
			if !ok {
				continue
			}
			rows = append(rows, menufile.DishRow{
				Key: menufile.KeyOf(d.Names[catalog.English]), Category: chosen(o, c.Names), Name: chosen(o, d.Names),
				Description: chosen(o, d.Descriptions), Price: price,
			})
		}
	}
	return rows
}

func chosen(o menufile.Options, t catalog.Texts) map[string]string {
	texts := make(map[string]string, len(t))
	for l, s := range t {
		texts[string(l)] = s
	}
	return o.Choose(texts)
}
