package catalog

import (
	"cmp"
	"slices"
	"strconv"

	"comanda/internal/fault"
	"comanda/internal/price"
)

// GroupKind is the way in which the options of a group change a dish.
type GroupKind string

// The kinds of option groups.
const (
	SizeGroup   GroupKind = "SIZE"   // the price of the chosen option replaces the dish's price
	ChoiceGroup GroupKind = "CHOICE" // toppings, sauces, ways of cooking
	ComboGroup  GroupKind = "COMBO"  // each option stands for a dish, whose quota and recipe it takes
)

// Valid reports whether k is a kind of option groups.
func (k GroupKind) Valid() bool { return k == SizeGroup || k == ChoiceGroup || k == ComboGroup }

// Limits of the options of one order line. They bound the work of a check and the size of a stored line.
const (
	MaxChosen    = 30 // chosen options of a line, those of the second level included
	MaxOptionQty = 20 // units of one option in one unit of its dish
	maxDepth     = 2  // an option of an option has no options of its own
)

// OptionGroup is a group of options of a menu item in one version. Like prices, its rules never change once the version
// is published (I13).
type OptionGroup struct {
	ID             int64        `json:"id"`
	Kind           GroupKind    `json:"kind"`
	Names          Texts        `json:"names"`
	Min            int64        `json:"min,omitempty"` // fewest units that one unit of the dish needs
	Max            *int64       `json:"max,omitempty"` // most units; nil is no limit
	Free           int64        `json:"free,omitempty"`
	MaxEach        int64        `json:"maxEach"`                  // most units of one option
	Credit         bool         `json:"credit,omitempty"`         // the prices of the defaults are subtracted: substitution pricing
	DefaultsCharge bool         `json:"defaultsCharge,omitempty"` // a chosen default costs its price
	Options        []MenuOption `json:"options"`                  // the active ones in menu order
}

// MenuOption is one option of a group.
type MenuOption struct {
	ID          int64         `json:"id"`
	Names       Texts         `json:"names"`
	ShortName   string        `json:"shortName,omitempty"` // for the kitchen; empty: the name
	Price       int64         `json:"price"`
	Default     bool          `json:"default,omitempty"`
	DishID      int64         `json:"dishId,omitempty"`    // COMBO: the dish that it stands for
	Component   int64         `json:"component,omitempty"` // COMBO: that dish's menu item, whose units the order takes
	TaxClass    string        `json:"taxClass,omitempty"`  // empty: the tax class of the dish
	Groups      []OptionGroup `json:"groups,omitempty"`    // the second level
	Declaration               // COMBO: that of its dish
}

// ChosenOption is an option that a guest chose for one unit of a dish. The JSON form is part of the digest of orders and
// is stored with the lines of carts.
type ChosenOption struct {
	OptionID int64          `json:"o"`
	Qty      int64          `json:"q"`
	Options  []ChosenOption `json:"c,omitempty"` // the second level, for each unit of this option
}

// OptionLine is a chosen option as the order keeps it: with the names and prices of the menu version that it was made
// with. Quantities count for one unit of the dish, or of the option above. The JSON form is stored with the order line and
// is part of its document.
type OptionLine struct {
	GroupID   int64        `json:"groupId,string"`
	OptionID  int64        `json:"optionId,string"`
	Kind      GroupKind    `json:"kind"`
	Name      string       `json:"name"`            // in the first locale of the branch that has one
	Names     Texts        `json:"names,omitempty"` // in all locales of the branch
	ShortName string       `json:"shortName,omitempty"`
	Qty       int64        `json:"qty"`
	Price     int64        `json:"price"` // price of one unit as the menu states it, before free units and credits
	DishID    int64        `json:"dishId,string,omitempty"`
	Component int64        `json:"itemId,string,omitempty"`
	TaxClass  string       `json:"taxClass,omitempty"`
	Options   []OptionLine `json:"options,omitempty"`

	// Charge is the part of the price of one unit of the dish that is paid for the option, without its own options: 0 for a
	// free one, and all of the dish's own price for a size. It is not stored: only Configure returns it.
	Charge int64 `json:"-"`
}

// KitchenName returns the name for tickets.
func (l *OptionLine) KitchenName() string { return cmp.Or(l.ShortName, l.Name) }

// Configured is a menu item with a checked choice of options.
type Configured struct {
	Price   int64 // of one unit, in minor units
	Options []OptionLine
}

// The faults of chosen options.
var (
	// ErrOption refuses an option that the item does not offer. It carries itemId and optionId.
	ErrOption = fault.New(fault.Invalid, "option_unknown", "An option is not offered with this dish.")
	// ErrOptions refuses a choice that breaks a group's limits. It carries itemId, groupId, min, max and got.
	ErrOptions = fault.New(fault.Invalid, "options_invalid", "Please check the options of this dish.")
)

// CanonicalOptions returns a choice in its canonical form: sorted by option, equal options added. Two requests with the
// same wish thus have the same digest. It needs no menu, because a repeated request must have the digest of its original
// whatever the menu has become. The argument is not changed.
func CanonicalOptions(chosen []ChosenOption) ([]ChosenOption, error) {
	total := 0
	canonical, err := canonicalOptions(chosen, 1, &total)
	if err == nil && total > MaxChosen {
		err = invalid("A line has at most %d options.", MaxChosen)
	}
	return canonical, err
}

// canonicalOptions merges equal options and sorts the rest, so that the same choice has the same text whatever the order
// of taps. It counts the options in total.
func canonicalOptions(chosen []ChosenOption, depth int, total *int) ([]ChosenOption, error) {
	if len(chosen) == 0 {
		return nil, nil
	}
	if depth > maxDepth {
		return nil, invalid("Options have at most %d levels.", maxDepth)
	}
	out := make([]ChosenOption, 0, len(chosen))
	for _, c := range chosen {
		if c.OptionID <= 0 || c.Qty < 1 || c.Qty > MaxOptionQty {
			return nil, invalid("The quantity of an option must be from 1 to %d.", MaxOptionQty)
		}
		below := 0 // options of the second level, which count once if equal options are added
		var err error
		if c.Options, err = canonicalOptions(c.Options, depth+1, &below); err != nil {
			return nil, err
		}
		i, equal := slices.BinarySearchFunc(out, c, compareChosen)
		if !equal {
			out = slices.Insert(out, i, c)
			*total += 1 + below
			continue
		}
		if out[i].Qty += c.Qty; out[i].Qty > MaxOptionQty {
			return nil, invalid("The quantity of an option must be from 1 to %d.", MaxOptionQty)
		}
	}
	return out, nil
}

// compareChosen orders by option and then by the options of the second level. It ignores the quantity, so that two
// choices that compare as equal can be added.
func compareChosen(a, b ChosenOption) int {
	return cmp.Or(cmp.Compare(a.OptionID, b.OptionID), slices.CompareFunc(a.Options, b.Options, func(a, b ChosenOption) int {
		return cmp.Or(cmp.Compare(a.OptionID, b.OptionID), cmp.Compare(a.Qty, b.Qty))
	}))
}

// All yields the lines and those of the second level, with their quantity in one unit of the dish. It is an iterator for
// range.
func All(lines []OptionLine) func(yield func(l *OptionLine, qty int64) bool) {
	return func(yield func(*OptionLine, int64) bool) {
		for i := range lines {
			if !yield(&lines[i], lines[i].Qty) {
				return
			}
			for j := range lines[i].Options {
				if !yield(&lines[i].Options[j], lines[i].Qty*lines[i].Options[j].Qty) {
					return
				}
			}
		}
	}
}

// Configure checks a choice of options for the item and returns the price of one unit and the options as the order keeps
// them, in the order of the menu. Names are copied in the given locales. Defaults are not added: a choice is what the
// guest saw and sent.
func (it *Item) Configure(chosen []ChosenOption, locales []Locale) (Configured, error) {
	out := Configured{Price: it.Price}
	if len(it.Groups) == 0 && len(chosen) == 0 { // nearly all lines
		return out, nil
	}
	canonical, err := CanonicalOptions(chosen)
	if err != nil {
		return Configured{}, err
	}
	c := configuration{item: it.ID, locales: locales}
	picked, err := c.assign(it.Groups, canonical)
	if err != nil {
		return Configured{}, err
	}
	for i := range it.Groups {
		lines, charge, err := c.group(&it.Groups[i], picked[i])
		if err != nil {
			return Configured{}, err
		}
		if it.Groups[i].Kind == SizeGroup && len(lines) > 0 {
			charge -= it.Price
		}
		out.Price += charge
		out.Options = append(out.Options, lines...)
	}
	return out, nil
}

// configuration is a check in progress. item is for faults.
type configuration struct {
	item    int64
	locales []Locale
}

// pick is a chosen option with its declaration.
type pick struct {
	*MenuOption

	chosen ChosenOption
}

// assign returns the chosen options of each group, by option id, or ErrOption for one that no group has.
func (c configuration) assign(groups []OptionGroup, chosen []ChosenOption) ([][]pick, error) {
	picked := make([][]pick, len(groups))
next:
	for _, w := range chosen {
		for i := range groups {
			j := slices.IndexFunc(groups[i].Options, func(o MenuOption) bool { return o.ID == w.OptionID })
			if j >= 0 {
				picked[i] = append(picked[i], pick{&groups[i].Options[j], w})
				continue next
			}
		}
		return nil, ErrOption.With("itemId", decimal(c.item)).With("optionId", decimal(w.OptionID))
	}
	return picked, nil
}

// group checks the choice of one group, and returns its lines and what it adds to the price of one unit.
func (c configuration) group(g *OptionGroup, picked []pick) ([]OptionLine, int64, error) {
	if err := c.checkLimits(g, picked); err != nil {
		return nil, 0, err
	}
	lines := make([]OptionLine, 0, len(picked))
	var charge int64
	free := g.Free
	var waived map[int64]bool // made for a free default only
	for _, p := range picked {
		below, err := c.assign(p.Groups, p.chosen.Options)
		if err != nil {
			return nil, 0, err
		}
		l := c.line(g, p)
		var extra int64 // what the second level adds to one unit of the option
		for i := range p.Groups {
			nested, charge, err := c.group(&p.Groups[i], below[i])
			if err != nil {
				return nil, 0, err
			}
			for j := range nested {
				nested[j].Charge *= l.Qty
			}
			l.Options = append(l.Options, nested...)
			extra += charge
		}
		paid := l.Qty
		// The price of a size replaces that of the dish, even if the size is a default.
		if !g.Credit && g.Kind != SizeGroup {
			// A chosen default is waived up to its quantity of 1, whether it is sent as one choice or as several.
			if p.Default && !g.DefaultsCharge && !waived[p.ID] {
				if waived == nil {
					waived = map[int64]bool{}
				}
				waived[p.ID] = true
				paid--
			}
			without := min(free, paid)
			free, paid = free-without, paid-without
		}
		l.Charge = p.Price * paid
		lines = append(lines, l)
		charge += l.Charge + extra*l.Qty
	}
	if g.Credit {
		for i := range g.Options {
			if g.Options[i].Default {
				charge -= g.Options[i].Price
			}
		}
		charge = max(0, charge)
		credit(lines, charge)
	}
	return lines, charge, nil
}

// credit sets what each option of a group with credit adds to the price: its part of the group's charge, in proportion to
// the prices.
func credit(lines []OptionLine, charge int64) {
	var weights []int64
	for l := range All(lines) {
		weights = append(weights, l.Charge)
	}
	parts, err := price.Allocate(charge, weights)
	i := 0
	for l := range All(lines) {
		if l.Charge = 0; err == nil { // prices are limited, so that their sum is never refused
			l.Charge = parts[i]
		}
		i++
	}
}

// checkLimits refuses too few or too many units of a group, or of one option.
func (c configuration) checkLimits(g *OptionGroup, picked []pick) error {
	wrong := func(most any, got int64) *fault.Error { // made only if it is needed: this runs for each group of each line
		return ErrOptions.With("itemId", decimal(c.item)).With("groupId", decimal(g.ID)).With("min", g.Min).
			With("max", most).With("got", got)
	}
	units := func(of func(o *MenuOption) bool) (n int64) {
		for _, p := range picked {
			if of(p.MenuOption) {
				n += p.chosen.Qty
			}
		}
		return n
	}
	if got := units(func(*MenuOption) bool { return true }); got < g.Min || g.Max != nil && got > *g.Max {
		return wrong(g.Max, got)
	}
	for _, p := range picked {
		// One option may be chosen several times, with different options of its own.
		if got := units(func(o *MenuOption) bool { return o.ID == p.ID }); got > g.MaxEach {
			return wrong(g.MaxEach, got).With("optionId", decimal(p.ID))
		}
	}
	return nil
}

func (c configuration) line(g *OptionGroup, p pick) OptionLine {
	return OptionLine{
		GroupID: g.ID, OptionID: p.ID, Kind: g.Kind, Name: p.Names.In(c.locales...), Names: p.Names.only(c.locales),
		ShortName: p.ShortName, Qty: p.chosen.Qty, Price: p.Price, DishID: p.DishID, Component: p.Component, TaxClass: p.TaxClass,
	}
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }
