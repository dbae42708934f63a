package report

import (
	"cmp"
	"slices"

	"comanda/internal/catalog"
)

// OptionSale is how often guests chose an option of a dish, in paid orders.
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

// ConfiguredSale is the portions of a dish that were sold with the same options. Options is empty for those without.
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
