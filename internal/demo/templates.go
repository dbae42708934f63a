package demo

import (
	"comanda/internal/catalog"
	"comanda/internal/menufile"
)

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
