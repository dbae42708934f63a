// Package demo is a restaurant to try Comanda with. Its branches in Hà Nội and Taipei have 30 dishes in three languages,
// sizes, toppings and a lunch set, some quotas and a stock, and no taxes. The branch in Berlin has 12 dishes in German and
// English, two tax rates and a service charge. Each branch has six tables. The data is in restaurant.json.
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
	Country          catalog.Country   `json:"country"`
	Currency         money.Currency    `json:"currency"`
	Timezone         string            `json:"timezone"`
	DayStart         int               `json:"dayStart"`
	Locales          []catalog.Locale  `json:"locales"`
	AutoCloseMinutes int               `json:"autoCloseMinutes"`
	Pricing          *catalog.Pricing  `json:"pricing"` // nil: orders are the sum of their lines
	Tables           map[string]string `json:"tables"`  // id -> label
	MenuID           int64             `json:"menuId"`
	MenuName         string            `json:"menuName"`
	VersionID        int64             `json:"versionId"`
	Stock            []stockItem       `json:"stock"`
	OptionGroups     []optionGroup     `json:"optionGroups"`
	Categories       []category        `json:"categories"`
}

// optionGroup is a group of options in the library.
type optionGroup struct {
	ID      int64             `json:"id"`
	Kind    catalog.GroupKind `json:"kind"`
	Names   catalog.Texts     `json:"names"`
	Options []option          `json:"options"`
}

type option struct {
	ID        int64         `json:"id"`
	Names     catalog.Texts `json:"names"`
	ShortName string        `json:"shortName"`
	DishID    int64         `json:"dishId"` // COMBO: the dish that it stands for
	catalog.Declaration

	group, sort int64
}

// dishGroup is a group of a dish on the menu, with the prices of its options. A default does not cost extra.
type dishGroup struct {
	GroupID  int64           `json:"groupId"`
	ParentID int64           `json:"parentOptionId"` // 0: the dish
	Min      int64           `json:"min"`
	Max      int64           `json:"max"`
	MaxEach  int64           `json:"maxEach"`
	Options  []pricedOptions `json:"options"`

	dish dish
	sort int64
}

type pricedOptions struct {
	OptionID int64 `json:"optionId"`
	Price    int64 `json:"price"`
	Default  bool  `json:"default"`

	group     dishGroup
	sort      int64
	component int64 // the menu item of the option's dish; 0 for none
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
	TaxClass     string           `json:"taxClass"`
	Names        catalog.Texts    `json:"names"`
	Descriptions catalog.Texts    `json:"descriptions"`
	Takes        map[string]int64 `json:"takes"` // stock that one portion takes: sku -> quantity
	Groups       []dishGroup      `json:"groups"`

	catalog.Declaration // missing for dishes that show what guests see without one

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

	optionGroups []optionGroup
	options      []option
	dishGroups   []dishGroup
	prices       []pricedOptions
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
	for _, b := range r.branches {
		r = r.withOptions(b)
	}
	return r, nil
}

// withOptions returns the lists with the options of a branch's dishes.
func (r restaurant) withOptions(b branch) restaurant {
	dishes, items := map[int64]int64{}, map[int64]int64{} // dish by option, item by dish
	for _, d := range r.dishes {
		items[d.ID] = d.ItemID
	}
	for _, g := range b.OptionGroups {
		r.optionGroups = append(r.optionGroups, g)
		for n, o := range g.Options {
			o.group, o.sort = g.ID, int64(n)
			dishes[o.ID] = o.DishID
			r.options = append(r.options, o)
		}
	}
	for _, d := range r.dishes {
		if d.branch.ID != b.ID {
			continue
		}
		for n, g := range d.Groups {
			g.dish, g.sort = d, int64(n)
			r.dishGroups = append(r.dishGroups, g)
			for i, p := range g.Options {
				p.group, p.sort, p.component = g, int64(i), items[dishes[p.OptionID]]
				r.prices = append(r.prices, p)
			}
		}
	}
	return r
}

// templateNames are the names of the menus as templates, by branch. Berlin's is none: its dishes have prices in euros and
// names in two languages only.
var templateNames = map[int64]string{1: "hanoi", 2: "taipei"}

// MenuTemplates returns the demo's menus as templates. They have no pictures: those are drawings, which only the demo
// serves.
func MenuTemplates() []catalog.MenuTemplate {
	r, err := read()
	all := make([]catalog.MenuTemplate, 0, len(templateNames))
	for _, b := range r.branches {
		if name, ok := templateNames[b.ID]; ok {
			all = append(all, catalog.MenuTemplate{
				Name: name,
				Rows: func(o menufile.Options) ([]menufile.DishRow, error) { return b.rows(o), err },
			})
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
