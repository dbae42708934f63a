package reporthttp

import (
	"context"

	"comanda/internal/httpapi"
	"comanda/internal/report"
	"comanda/internal/seq"
)

// option is how often guests chose an option of a dish.
type option struct {
	DishID   string  `json:"dishId"`
	Dish     string  `json:"dish" doc:"Empty for a deleted dish."`
	GroupID  string  `json:"groupId"`
	Group    string  `json:"group" doc:"Empty for a deleted group."`
	OptionID string  `json:"optionId"`
	Name     string  `json:"name" doc:"As it was called in one of the orders."`
	Qty      int64   `json:"qty" doc:"Units of the option in paid orders."`
	Portions int64   `json:"portions" doc:"Portions of the dish that were sold, with the option or without."`
	PerDish  float64 `json:"perDish" doc:"qty divided by portions; above 1 if a portion has several units."`
}

type optionsView struct {
	Head
	Items []option `json:"items" doc:"By dish, the most sold first, and by group, the most chosen option first."`
	Page  int      `json:"page"`
	Size  int      `json:"size"`
	Total int      `json:"total"`

	all []option
}

func (r routes) options(ctx context.Context, in *Paged, s report.Span) (optionsView, error) {
	sales, err := r.service.Options(ctx, s)
	v := optionsView{Head: headOf(s), Page: in.Page, Size: in.Size, Total: len(sales)}
	v.all = seq.Map(sales, func(o report.OptionSale) option {
		return option{
			httpapi.FormatID(o.DishID), in.name(o.Dish, s.Branch), httpapi.FormatID(o.GroupID), in.name(o.Group, s.Branch),
			httpapi.FormatID(o.OptionID), in.name(o.Option, s.Branch), o.Qty, o.Portions, report.Share(o.Qty, o.Portions),
		}
	})
	v.Items = httpapi.PageOf(httpapi.Paging(in.ShortPaging), v.all)
	return v, err
}

func (v optionsView) sheet() *sheet {
	s := &sheet{columns: []string{"dish_id", "dish", "group", "option_id", "option", "qty", "portions", "per_dish"}}
	for _, o := range v.all {
		s.add(o.DishID, o.Dish, o.Group, o.OptionID, o.Name, o.Qty, o.Portions, portion(o.PerDish))
	}
	return s
}
