package demo

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"comanda/internal/catalog"
	"comanda/internal/money"
)

//go:embed restaurant.json
var restaurantJSON []byte

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
	Stock            []thing           `json:"stock"`
	Categories       []category        `json:"categories"`
}

type category struct {
	ID     int64         `json:"id"`
	Names  catalog.Texts `json:"names"`
	Dishes []dish        `json:"dishes"`
}

type dish struct {
	ID           int64            `json:"id"`
	ItemID       int64            `json:"itemId"`
	Price        int64            `json:"price"`
	Quota        *int64           `json:"quota"`
	Names        catalog.Texts    `json:"names"`
	Descriptions catalog.Texts    `json:"descriptions"`
	Takes        map[string]int64 `json:"takes"` // of the stock, for one portion: sku -> quantity
}

// table, placed and grouped are what stands nested in the file, with what it is nested in.
type table struct {
	id     int64
	branch int64
	label  string
}

type placed struct {
	dish
	branch   branch
	category int64
	sort     int64
}

type grouped struct {
	category
	sort int64
}

// restaurant is everything of the file as rows.
type restaurant struct {
	branches   []branch
	tables     []table
	categories []grouped
	dishes     []placed
}

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
		for _, c := range b.Categories {
			r.categories = append(r.categories, grouped{c, int64(len(r.categories) + 1)})
			for _, d := range c.Dishes {
				r.dishes = append(r.dishes, placed{d, b, c.ID, int64(len(r.dishes) + 1)})
			}
		}
	}
	return r, nil
}
