package reporthttp

import (
	"context"

	"comanda/internal/httpapi"
	"comanda/internal/report"
	"comanda/internal/seq"
)

type interest struct {
	DishID   string  `json:"dishId"`
	Name     string  `json:"name" doc:"Empty for a deleted dish."`
	Viewed   int64   `json:"viewed" doc:"How often phones showed the dish for a while or opened it; once per phone and page."`
	Added    int64   `json:"added" doc:"How often it was added to a cart."`
	Orders   int64   `json:"orders" doc:"Paid orders that contain it."`
	PerOrder float64 `json:"orderedShare" doc:"orders divided by viewed."`
}

// interestSums are the sums of all dishes, and of the pages.
type interestSums struct {
	Viewed    int64 `json:"viewed"`
	Added     int64 `json:"added"`
	Menus     int64 `json:"menuPages" doc:"How often the menu was opened."`
	Carts     int64 `json:"cartPages" doc:"How often a cart was opened."`
	Checkouts int64 `json:"checkoutPages" doc:"How often the last page before an order was opened."`
}

type interestView struct {
	Head
	Items  []interest   `json:"items"`
	Page   int          `json:"page"`
	Size   int          `json:"size"`
	Total  int          `json:"total"`
	Totals interestSums `json:"totals" doc:"Totals of all pages."`

	all []interest
}

func (r routes) interest(ctx context.Context, in *Paged, s report.Span) (interestView, error) {
	dishes, err := r.service.Interest(ctx, s)
	if err != nil {
		return interestView{}, err
	}
	pages, err := r.service.Pages(ctx, s)
	v := interestView{Head: headOf(s), Page: in.Page, Size: in.Size, Total: len(dishes), Totals: interestSums{
		Menus: pages["menu"], Carts: pages["cart"], Checkouts: pages["checkout"],
	}}
	for _, d := range dishes {
		v.Totals.Viewed, v.Totals.Added = v.Totals.Viewed+d.Viewed, v.Totals.Added+d.Added
		v.all = append(v.all, interest{
			httpapi.FormatID(d.ID), in.name(d.Names, s.Branch), d.Viewed, d.Added, d.Orders, report.Share(d.Orders, d.Viewed),
		})
	}
	v.Items = httpapi.PageOf(httpapi.Paging(in.ShortPaging), v.all)
	return v, err
}

func (v interestView) sheet() *sheet {
	s := &sheet{columns: []string{"dish_id", "name", "viewed", "added", "orders", "ordered_share"}}
	for _, d := range v.all {
		s.add(d.DishID, d.Name, d.Viewed, d.Added, d.Orders, portion(d.PerOrder))
	}
	return s
}

// CartFigures are the carts of a business date, or of all of them.
type CartFigures struct {
	Begun         int64 `json:"begun" doc:"Visits in which a guest added a dish to a cart."`
	Ordered       int64 `json:"ordered" doc:"Of these, visits with an order."`
	Abandoned     int64 `json:"abandoned" doc:"Of these, visits that ended without an order."`
	Open          int64 `json:"open" doc:"Of these, visits that are open and have no order."`
	Members       int64 `json:"memberCarts" doc:"Members' carts that have dishes and have not changed for a day, by the date of the last change."`
	MembersAmount int64 `json:"memberAmount" doc:"The dishes in members' carts, at the prices when they were added."`
}

type cartDay struct {
	Date string `json:"date"`
	CartFigures
}

type cartsView struct {
	Head
	Days   []cartDay   `json:"days"`
	Totals CartFigures `json:"totals"`
}

func (r routes) carts(ctx context.Context, _ *Span, s report.Span) (cartsView, error) {
	days, err := r.service.AbandonedCarts(ctx, s)
	return cartsView{
		Head: headOf(s), Totals: cartFiguresOf(report.TotalCarts(days)),
		Days: seq.Map(days, func(d report.CartDay) cartDay { return cartDay{d.Date, cartFiguresOf(d)} }),
	}, err
}

func cartFiguresOf(d report.CartDay) CartFigures {
	return CartFigures{d.Begun, d.Ordered, d.Abandoned, d.Open, d.Members, d.MembersAmount}
}

func (v cartsView) sheet() *sheet {
	s := &sheet{columns: []string{
		"date", "begun", "ordered", "abandoned", "open", "member_carts", "member_amount", "currency",
	}}
	for _, d := range v.Days {
		s.add(d.Date, d.Begun, d.Ordered, d.Abandoned, d.Open, d.Members, d.MembersAmount, v.Currency)
	}
	return s
}
