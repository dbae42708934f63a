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
		s.add(d.Date, d.Begun, d.Ordered, d.Abandoned, d.Open, d.Members, v.amount(d.MembersAmount), v.Currency)
	}
	return s
}

type memberDay struct {
	Date      string `json:"date"`
	Daily     int64  `json:"daily" doc:"Members who used their account on the date."`
	Weekly    int64  `json:"weekly" doc:"Members of the seven dates that end with it."`
	Monthly   int64  `json:"monthly" doc:"Members of the thirty dates that end with it."`
	Returning int64  `json:"returning" doc:"Members of the date who were also active on one of the thirty dates before it."`
}

type membersView struct {
	Head
	Days []memberDay `json:"days" doc:"Of the whole restaurant, because a member belongs to no branch; none after today."`
}

func (r routes) members(ctx context.Context, _ *Span, s report.Span) (membersView, error) {
	days, err := r.service.Members.MemberDays(ctx, s.From, s.To)
	return membersView{
		Head: headOf(s), Days: seq.Map(days, func(d report.MemberDay) memberDay { return memberDay(d) }),
	}, err
}

func (v membersView) sheet() *sheet {
	s := &sheet{columns: []string{"date", "daily", "weekly", "monthly", "returning"}}
	for _, d := range v.Days {
		s.add(d.Date, d.Daily, d.Weekly, d.Monthly, d.Returning)
	}
	return s
}

type searched struct {
	Text     string `json:"text" doc:"In lower case and without accents, as searches compare texts."`
	Searches int64  `json:"searches"`
	Missed   int64  `json:"missed" doc:"Searches that found no dish on a published menu."`
}

// searchSums are the sums of all texts.
type searchSums struct {
	Texts    int   `json:"texts" doc:"Number of different texts."`
	Searches int64 `json:"searches"`
	Missed   int64 `json:"missed"`
}

type searchesView struct {
	Head
	Missed   []searched `json:"missed" doc:"The 50 texts that were searched for most and not found."`
	Searched []searched `json:"searched" doc:"The 50 texts that were searched for most."`
	Totals   searchSums `json:"totals" doc:"Totals of all texts, at most 10,000."`

	all []searched
}

// shownSearches is the number of rows of each list. The CSV file has all texts.
const shownSearches = 50

func (r routes) searches(ctx context.Context, _ *Span, s report.Span) (searchesView, error) {
	texts, err := r.service.Searches(ctx, s, report.MaxSearched)
	v := searchesView{Head: headOf(s), Totals: searchSums{Texts: len(texts)}}
	for _, t := range texts {
		v.Totals.Searches, v.Totals.Missed = v.Totals.Searches+t.Searches, v.Totals.Missed+t.Missed
	}
	rows := func(all []report.Searched) []searched {
		return seq.Map(all, func(t report.Searched) searched { return searched{t.Text, t.Searches, t.Missed} })
	}
	missed := rows(report.MissedSearches(texts))
	v.all = rows(texts)
	v.Missed, v.Searched = missed[:min(len(missed), shownSearches)], v.all[:min(len(v.all), shownSearches)]
	return v, err
}

func (v searchesView) sheet() *sheet {
	s := &sheet{columns: []string{"text", "searches", "without_result"}}
	for _, t := range v.all {
		s.add(t.Text, t.Searches, t.Missed)
	}
	return s
}
