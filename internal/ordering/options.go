package ordering

import (
	"cmp"
	"maps"
	"slices"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/stock"
)

// ErrTooManyParts refuses an order whose dishes and combos take units of too many different dishes.
var ErrTooManyParts = fault.Newf(fault.Invalid, "too_many_parts",
	"An order has at most %d different dishes, those of combos included.", stock.MaxLines)

// OptionAt is an option in a branch.
type OptionAt struct {
	Branch, Option int64
}

// OptionLines returns the options of the line, with the names and prices of the order's menu version.
func (it Item) OptionLines() []catalog.OptionLine { return catalog.DecodeOptionLines(it.Options) }

// canonicalItems returns the lines of a checked request with canonical options. It copies them only if there are any.
func canonicalItems(items []RequestItem) []RequestItem {
	if !slices.ContainsFunc(items, func(it RequestItem) bool { return len(it.Options) > 0 }) {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		items[i].Options, _ = catalog.CanonicalOptions(items[i].Options) // checkItems has reported the error
	}
	return items
}

// hasOptions reports whether any line has options.
func (o *Order) hasOptions() bool {
	return slices.ContainsFunc(o.Items, func(it Item) bool { return it.Options != "" })
}

// lineOptions are the options of each line of an order; nil if no line has any.
type lineOptions [][]catalog.OptionLine

// lineOptions decodes the options of all lines.
func (o *Order) lineOptions() lineOptions {
	if !o.hasOptions() {
		return nil
	}
	all := make(lineOptions, len(o.Items))
	for i, it := range o.Items {
		all[i] = it.OptionLines()
	}
	return all
}

// OptionIDs returns the options of all lines, sorted and each once.
func (o *Order) OptionIDs() []int64 { return o.lineOptions().ids() }

// ids returns the options of all lines, sorted and each once.
func (all lineOptions) ids() []int64 {
	var ids []int64
	for _, options := range all {
		for l := range catalog.All(options) {
			ids = append(ids, l.OptionID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// parts returns the units of menu items that the order takes, merged and sorted: those of its lines, and those of dishes
// that its combos contain. So a dish in a combo takes its own quota.
func (o *Order) parts(options lineOptions) ([]stock.Line, error) {
	lines := make([]stock.Line, 0, len(o.Items))
	for _, it := range o.Items {
		lines = append(lines, stock.Line{Item: it.ItemID, Qty: it.Qty})
	}
	for i, options := range options {
		it := &o.Items[i]
		for l, qty := range catalog.All(options) {
			if l.Component != 0 {
				lines = append(lines, stock.Line{Item: l.Component, Qty: qty * it.Qty})
			}
		}
	}
	if len(lines) > len(o.Items) { // a combo adds lines, often of one dish
		if lines = summed(lines); len(lines) > stock.MaxLines {
			return nil, ErrTooManyParts
		}
	}
	return stock.MergeLines(lines)
}

// summed adds the lines of each item and sorts them by item.
func summed(lines []stock.Line) []stock.Line {
	sum := map[int64]int64{}
	for _, l := range lines {
		sum[l.Item] += l.Qty
	}
	out := make([]stock.Line, 0, len(sum))
	for _, item := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, stock.Line{Item: item, Qty: sum[item]})
	}
	return out
}

// consuming returns the portions whose recipes the order consumes. parts are those of Order.parts. Options are among them
// under their level, see catalog.OptionLevel. The recipe of a size replaces that of its dish.
func (o *Order) consuming(parts []stock.Line, options lineOptions, recipes map[int64][]stock.Line) []stock.Line {
	if len(recipes) == 0 || options == nil {
		return parts
	}
	portions := slices.Clone(parts)
	for i, it := range o.Items {
		for l, qty := range catalog.All(options[i]) {
			level := catalog.OptionLevel(l.OptionID)
			if len(recipes[level]) == 0 {
				continue
			}
			portions = append(portions, stock.Line{Item: level, Qty: qty * it.Qty})
			if l.Kind == catalog.SizeGroup {
				portions = append(portions, stock.Line{Item: it.ItemID, Qty: -it.Qty})
			}
		}
	}
	return slices.DeleteFunc(summed(portions), func(l stock.Line) bool { return l.Qty == 0 })
}

// soldOut returns ErrSoldOut with the lines that exceed the available units. A dish that is short as a part of a combo,
// and an option whose stock is short, are reported as the option of the line that has it.
func (o *Order) soldOut(short []stock.Shortage, parts []stock.Line, recipes map[int64][]stock.Line) error {
	if o.usedUp(short) {
		return ErrVoucherUsedUp
	}
	if !o.hasOptions() {
		return SoldOut(stock.DishShortages(short, parts, recipes))
	}
	least := map[int64]stock.Shortage{}
	note := func(all []stock.Shortage) {
		for _, s := range all {
			if known, ok := least[s.Item]; !ok || s.Available < known.Available {
				least[s.Item] = s
			}
		}
	}
	// Quotas and stock are converted separately: a dish whose recipe a size replaces takes its quota only.
	byQuota := slices.DeleteFunc(slices.Clone(short), func(s stock.Shortage) bool { return s.Stock })
	byStock := slices.DeleteFunc(slices.Clone(short), func(s stock.Shortage) bool { return !s.Stock })
	note(stock.DishShortages(byQuota, parts, nil))
	note(stock.DishShortages(byStock, o.consuming(parts, o.lineOptions(), recipes), recipes))
	var lines []ShortLine
	add := func(item, option, level int64) {
		s, ok := least[level]
		line := ShortLine{ItemID: item, OptionID: option, Requested: s.Requested, Available: s.Available}
		if ok && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, it := range o.Items {
		add(it.ItemID, 0, it.ItemID)
		for l := range catalog.All(it.OptionLines()) {
			add(it.ItemID, l.OptionID, catalog.OptionLevel(l.OptionID))
			if l.Component != 0 {
				add(it.ItemID, l.OptionID, l.Component)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b ShortLine) int {
		return cmp.Or(cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.OptionID, b.OptionID))
	})
	return ErrSoldOut.With("lines", lines)
}

// offLines returns the chosen options that are off in this process's copy of the menu. The ledger checks again.
func offLines(menu *catalog.Snapshot, r RequestItem, lines []catalog.OptionLine) (off []ShortLine) {
	if len(menu.OffOptions) == 0 {
		return nil
	}
	for l, qty := range catalog.All(lines) {
		if menu.OptionOff(l.OptionID) {
			off = append(off, ShortLine{ItemID: r.ItemID, OptionID: l.OptionID, Requested: qty * r.Qty})
		}
	}
	return off
}

// anyOff reports whether one of the options is off in a branch.
func (b *Batch) anyOff(branch int64, options []int64) bool {
	return slices.ContainsFunc(options, func(o int64) bool { return b.OffOptions[OptionAt{branch, o}] })
}

// offOptions returns ErrSoldOut with the options of an order that are off.
func (b *Batch) offOptions(o *Order) error {
	var off []ShortLine
	for _, it := range o.Items {
		for l, qty := range catalog.All(it.OptionLines()) {
			if b.OffOptions[OptionAt{o.Scope.Branch, l.OptionID}] {
				off = append(off, ShortLine{ItemID: it.ItemID, OptionID: l.OptionID, Requested: qty * it.Qty})
			}
		}
	}
	return ErrSoldOut.With("lines", off)
}
