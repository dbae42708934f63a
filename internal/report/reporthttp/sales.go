package reporthttp

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/httpapi"
	"comanda/internal/report"
	"comanda/internal/seq"
)

// Hourly counts the orders of one hour of the day, either on one day of the week or on all days.
type Hourly struct {
	Hour   int   `json:"hour" doc:"Branch local time, 0 to 23."`
	Placed int64 `json:"placed"`
	Sales  int64 `json:"sales" doc:"Number of the placed orders that were paid."`
	Gross  int64 `json:"gross" doc:"Total of the paid orders, before refunds."`
}

type cell struct {
	Weekday int `json:"weekday" doc:"1 is Monday, 7 is Sunday."`
	Hourly
}

type hoursView struct {
	Head
	Hours  []Hourly `json:"hours" doc:"All 24 hours."`
	Cells  []cell   `json:"cells" doc:"Hours with orders."`
	Totals Hourly   `json:"totals"`
}

func (r routes) hours(ctx context.Context, _ *Span, s report.Span) (hoursView, error) {
	cells, err := r.service.Cells(ctx, s)
	v := hoursView{Head: headOf(s), Hours: []Hourly{}, Cells: make([]cell, len(cells))}
	for i, c := range cells {
		v.Cells[i] = cell{c.Weekday, hourOf(c)}
	}
	for _, c := range report.Hours(cells) {
		h := hourOf(c)
		v.Hours = append(v.Hours, h)
		v.Totals.Placed, v.Totals.Sales, v.Totals.Gross = v.Totals.Placed+h.Placed, v.Totals.Sales+h.Sales, v.Totals.Gross+h.Gross
	}
	return v, err
}

func hourOf(c report.Cell) Hourly { return Hourly{c.Hour, c.Placed, c.Sales, c.Gross} }

func (v hoursView) sheet() *sheet {
	s := &sheet{columns: []string{"weekday", "hour", "placed", "sales", "gross", "currency"}}
	for _, c := range v.Cells {
		s.add(c.Weekday, c.Hour, c.Placed, c.Sales, v.amount(c.Gross), v.Currency)
	}
	return s
}

// Figures are the orders of one business date, or of all.
type Figures struct {
	Placed   int64 `json:"placed"`
	Sales    int64 `json:"sales" doc:"Number of the placed orders that were paid."`
	Canceled int64 `json:"canceled" doc:"Orders that ended unpaid."`
	Open     int64 `json:"open" doc:"Orders that are neither paid nor ended."`
	Gross    int64 `json:"gross"`
	Refunded int64 `json:"refunded" doc:"Refunds of these orders that are made or pending, whatever their date."`
	Net      int64 `json:"net"`
}

type day struct {
	Date string `json:"date"`
	Figures
}

type daysView struct {
	Head
	Days   []day   `json:"days" doc:"Dates with orders."`
	Totals Figures `json:"totals"`
}

func (r routes) days(ctx context.Context, _ *Span, s report.Span) (daysView, error) {
	days, err := r.service.Days(ctx, s)
	return daysView{
		Head: headOf(s), Totals: figuresOf(report.Total(days)),
		Days: seq.Map(days, func(d report.Day) day { return day{d.Date, figuresOf(d)} }),
	}, err
}

func figuresOf(d report.Day) Figures {
	return Figures{d.Placed, d.Sales, d.Canceled, d.Open, d.Gross, d.Refunded, d.Net()}
}

func (v daysView) sheet() *sheet {
	s := &sheet{columns: []string{
		"date", "placed", "sales", "canceled", "open", "gross", "refunded", "net", "currency",
	}}
	for _, d := range v.Days {
		s.add(d.Date, d.Placed, d.Sales, d.Canceled, d.Open, v.amount(d.Gross), v.amount(d.Refunded), v.amount(d.Net), v.Currency)
	}
	return s
}

type dish struct {
	Rank   int     `json:"rank"`
	DishID string  `json:"dishId"`
	Name   string  `json:"name" doc:"Empty for a deleted dish."`
	Qty    int64   `json:"qty"`
	Gross  int64   `json:"gross"`
	Share  float64 `json:"share" doc:"Share of all gross sales, 0 to 1."`
}

type dishSums struct {
	Qty   int64 `json:"qty"`
	Gross int64 `json:"gross"`
}

type dishesView struct {
	Head
	Items  []dish   `json:"items"`
	Page   int      `json:"page"`
	Size   int      `json:"size"`
	Total  int      `json:"total"`
	Totals dishSums `json:"totals" doc:"Totals of all pages."`

	all []dish
}

func (r routes) dishes(ctx context.Context, in *Paged, s report.Span) (dishesView, error) {
	dishes, err := r.service.Dishes(ctx, s)
	v := dishesView{Head: headOf(s), Page: in.Page, Size: in.Size, Total: len(dishes), all: make([]dish, len(dishes))}
	for _, d := range dishes {
		v.Totals.Qty, v.Totals.Gross = v.Totals.Qty+d.Qty, v.Totals.Gross+d.Gross
	}
	for i, d := range dishes {
		v.all[i] = dish{
			i + 1, httpapi.FormatID(d.ID), in.name(d.Names, s.Branch), d.Qty, d.Gross, report.Share(d.Gross, v.Totals.Gross),
		}
	}
	// all keeps the complete list: the CSV has every row, and ranks and shares refer to all rows.
	v.Items = httpapi.PageOf(httpapi.Paging(in.ShortPaging), v.all)
	return v, err
}

func (v dishesView) sheet() *sheet {
	s := &sheet{columns: []string{"rank", "dish_id", "name", "qty", "gross", "share", "currency"}}
	for _, d := range v.all {
		s.add(d.Rank, d.DishID, d.Name, d.Qty, v.amount(d.Gross), portion(d.Share), v.Currency)
	}
	return s
}

// portion formats a share with four decimals, which is a hundredth of a percent.
func portion(f float64) string { return strconv.FormatFloat(f, 'f', 4, 64) }

type quota struct {
	Date        string     `json:"date"`
	ItemID      string     `json:"itemId"`
	Name        string     `json:"name"`
	Cap         *int64     `json:"cap" doc:"Last value on that date; on the current date the daily quota of a dish that is 86'd. Null for a past date that ended with the dish 86'd: its quota of that date is not stored."`
	Held        int64      `json:"held" doc:"Held by unpaid orders."`
	Sold        int64      `json:"sold"`
	SellThrough *float64   `json:"sellThrough" doc:"sold divided by cap; above 1 if the cap was lowered below sold. Null without cap."`
	SoldOut     bool       `json:"soldOut" doc:"False without cap."`
	SoldOutAt   *time.Time `json:"soldOutAt" doc:"When the last unit was ordered; null if any is left, none was sold or cap is null."`
	EightySixed bool       `json:"eightySixed" doc:"The dish was 86'd when the date ended, or is now."`
}

type quotasView struct {
	Head
	Items []quota `json:"items"`
	Page  int     `json:"page"`
	Size  int     `json:"size"`
	Total int     `json:"total"`

	all []quota
}

func (r routes) quotas(ctx context.Context, in *Paged, s report.Span) (quotasView, error) {
	quotas, err := r.service.Quotas(ctx, s)
	v := quotasView{Head: headOf(s), Page: in.Page, Size: in.Size, Total: len(quotas), all: make([]quota, len(quotas))}
	for i, q := range quotas {
		v.all[i] = quota{
			q.Date, httpapi.FormatID(q.ItemID), in.name(q.Names, s.Branch), q.Cap, q.Held, q.Sold,
			q.SellThrough(), q.SoldOut(), httpapi.TimeOrNull(q.SoldOutAt()), q.Off,
		}
	}
	v.Items = httpapi.PageOf(httpapi.Paging(in.ShortPaging), v.all)
	return v, err
}

func (v quotasView) sheet() *sheet {
	s := &sheet{columns: []string{
		"date", "item_id", "name", "cap", "held", "sold", "sell_through", "sold_out_at", "eighty_sixed",
	}}
	for _, q := range v.all {
		at, limit, through := "", "", ""
		if q.SoldOutAt != nil {
			at = q.SoldOutAt.Format(time.RFC3339)
		}
		if q.Cap != nil {
			limit, through = strconv.FormatInt(*q.Cap, 10), portion(*q.SellThrough)
		}
		s.add(q.Date, q.ItemID, q.Name, limit, q.Held, q.Sold, through, at, q.EightySixed)
	}
	return s
}

// option counts how often guests chose an option of a dish.
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
