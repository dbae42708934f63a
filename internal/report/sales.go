package report

import (
	"cmp"
	"slices"
	"time"

	"comanda/internal/catalog"
)

// Cell contains the figures of the orders of one hour of one day of the week. Amounts here and below are minor units of
// the branch's currency.
type Cell struct {
	Weekday int // 1 is Monday, 7 is Sunday
	Hour    int // branch local time, 0 to 23
	Placed  int64
	Sales   int64 // part of Placed that was paid
	Gross   int64 // total of the paid orders
}

// Hours sums the cells over the days of the week: 24 cells, whose Weekday is 0.
func Hours(cells []Cell) []Cell {
	hours := make([]Cell, 24)
	for i := range hours {
		hours[i].Hour = i
	}
	for _, c := range cells {
		h := &hours[c.Hour]
		h.Placed, h.Sales, h.Gross = h.Placed+c.Placed, h.Sales+c.Sales, h.Gross+c.Gross
	}
	return hours
}

// Day contains the figures of the orders of one business date (R1).
type Day struct {
	Date     string
	Placed   int64
	Sales    int64
	Canceled int64 // ended unpaid, for any reason
	Open     int64 // neither paid nor ended
	Gross    int64
	Refunded int64 // part of Gross that is refunded or due
}

// Net returns Gross less Refunded.
func (d Day) Net() int64 { return d.Gross - d.Refunded }

// Total returns the sum of days, without a date.
func Total(days []Day) (sum Day) {
	for _, d := range days {
		sum.Placed += d.Placed
		sum.Sales += d.Sales
		sum.Canceled += d.Canceled
		sum.Open += d.Open
		sum.Gross += d.Gross
		sum.Refunded += d.Refunded
	}
	return sum
}

// Dish contains the sales of a dish.
type Dish struct {
	ID    int64
	Names catalog.Texts // empty for a deleted dish
	Qty   int64
	Gross int64
}

// Share returns part/whole, from 0 to 1; 0 if whole is 0.
func Share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Quota is a menu item's quota on one business date.
type Quota struct {
	Date     string
	ItemID   int64
	Names    catalog.Texts
	Cap      *int64 // last value; it may be lower than Sold. If Off, the item's daily quota; nil for a past date
	Held     int64  // by unpaid orders
	Sold     int64
	LastUnit time.Time // time of the newest order with the item, also in a combo; zero if none
	Off      bool      // staff took the item off sale, and it was off when the date ended
}

// SoldOut reports whether no units are left. It is false if the quota is unknown.
func (q Quota) SoldOut() bool { return q.Cap != nil && q.Held+q.Sold >= *q.Cap }

// SellThrough returns the part of the quota that was sold; nil if the quota is unknown.
func (q Quota) SellThrough() *float64 {
	if q.Cap == nil {
		return nil
	}
	return new(Share(q.Sold, *q.Cap))
}

// SoldOutAt returns when the last unit of a sold-out item was ordered; zero if the item is not sold out. If the item
// is sold out because staff lowered the quota, SoldOutAt still returns the time of its last order.
func (q Quota) SoldOutAt() time.Time {
	if !q.SoldOut() {
		return time.Time{}
	}
	return q.LastUnit
}

// ComboOrder has the last time on a business date at which combos with the same options were ordered.
type ComboOrder struct {
	Date    string
	Options string // as order lines store them
	At      time.Time
}

// WithCombos returns the quotas with the orders of combos, which take units of the items that they contain.
func WithCombos(all []Quota, combos []ComboOrder) []Quota {
	type unit struct {
		date string
		item int64
	}
	newest := map[unit]time.Time{}
	for _, c := range combos {
		for l := range catalog.All(catalog.DecodeOptionLines(c.Options)) {
			if u := (unit{c.Date, l.Component}); c.At.After(newest[u]) {
				newest[u] = c.At
			}
		}
	}
	for i, q := range all {
		if at := newest[unit{q.Date, q.ItemID}]; at.After(q.LastUnit) {
			all[i].LastUnit = at
		}
	}
	return all
}

// OptionSale counts how often guests chose an option of a dish, in paid orders.
type OptionSale struct {
	DishID   int64
	Dish     catalog.Texts // empty for a deleted dish
	GroupID  int64
	Group    catalog.Texts // as it is called now; empty for a deleted group
	OptionID int64
	Option   catalog.Texts // as it was called in one of the orders
	Kind     catalog.GroupKind
	Qty      int64 // units of the option
	Portions int64 // portions of the dish that were sold, with the option or without
}

// ConfiguredSale counts the portions of a dish that were sold with the same options. Options is empty for those
// without.
type ConfiguredSale struct {
	DishID  int64
	Dish    catalog.Texts
	Options string // as order lines store them
	Qty     int64
}

// OptionSales counts options. Dishes are in the order of their portions, and groups of a dish in the order of their ids; the
// most chosen option of a group is first. Options of options are counted under their own group. groups are the names of
// groups.
func OptionSales(sales []ConfiguredSale, groups map[int64]catalog.Texts) []OptionSale {
	type key struct{ dish, group, option int64 }
	portions := map[int64]int64{}
	found := map[key]*OptionSale{}
	for _, s := range sales {
		portions[s.DishID] += s.Qty
		for l, qty := range catalog.All(catalog.DecodeOptionLines(s.Options)) {
			k := key{s.DishID, l.GroupID, l.OptionID}
			if found[k] == nil {
				found[k] = &OptionSale{
					DishID: s.DishID, Dish: s.Dish, GroupID: l.GroupID, Group: groups[l.GroupID], OptionID: l.OptionID,
					Option: l.Names, Kind: l.Kind,
				}
			}
			found[k].Qty += qty * s.Qty
		}
	}
	all := make([]OptionSale, 0, len(found))
	for _, o := range found {
		o.Portions = portions[o.DishID]
		all = append(all, *o)
	}
	slices.SortFunc(all, func(a, b OptionSale) int {
		return cmp.Or(cmp.Compare(b.Portions, a.Portions), cmp.Compare(a.DishID, b.DishID), cmp.Compare(a.GroupID, b.GroupID),
			cmp.Compare(b.Qty, a.Qty), cmp.Compare(a.OptionID, b.OptionID))
	})
	return all
}
