package cart

import (
	"slices"
	"time"

	"comanda/internal/fault"
)

// The limits of a cart. They equal those of an order, so that every cart can be ordered.
const (
	MaxLines    = 50
	MaxQuantity = 20  // per dish
	MaxUnits    = 100 // units of all dishes together
)

// Cart is a member's cart. With ID 0 it does not exist and is empty.
type Cart struct {
	ID        int64
	UserID    int64
	BranchID  int64 // the branch whose menu prices it; 0 for the first branch
	Version   int64 // increases with every change by a member, including a change of a line, but not with an import of lines
	UpdatedAt time.Time
	Lines     []Line // in the order of adding
}

// Equal reports whether a locked cart equals the cart that was read before, line by line.
func (c Cart) Equal(seen Cart) bool {
	if c.ID != seen.ID || c.Version != seen.Version || len(c.Lines) != len(seen.Lines) {
		return false
	}
	return !slices.ContainsFunc(c.Lines, func(l Line) bool { return !slices.Contains(seen.Lines, l) })
}

// Line is a dish in a cart, with options.
type Line struct {
	ID       int64
	DishID   int64
	Quantity int64
	Price    int64 // the dish's price when it was last added, in minor units
	Version  int64
	Options  string // see catalog.EncodeOptions; empty: none
}

// Change is one change to a member's cart. Exactly one of its fields after UserID is set.
type Change struct {
	UserID int64
	Add    *Add
	Set    *Set
	Remove int64 // line id
	Empty  bool
}

// Add adds a dish. It increases the quantity of a dish that is in the cart with the same options.
type Add struct {
	DishID   int64
	Quantity int64
	Price    int64 // the current price
	BranchID int64 // 0 keeps the cart's branch
	Options  string
}

// Set sets the quantity of a line.
type Set struct {
	Line     int64
	Quantity int64
}

// The faults of carts.
var (
	ErrLine     = fault.New(fault.NotFound, "cart_item_not_found", "This dish is not in the cart.")
	ErrFull     = fault.Newf(fault.Conflict, "cart_full", "A cart can have at most %d dishes.", MaxLines)
	ErrUnits    = fault.Newf(fault.Conflict, "cart_full", "A cart can have at most %d units in total.", MaxUnits)
	ErrQuantity = fault.Newf(fault.Invalid, "invalid", "The quantity of a dish must be from 1 to %d.", MaxQuantity)
	ErrDish     = fault.New(fault.NotFound, "dish_not_found", "This dish is not on the menu.")
	ErrEmpty    = fault.New(fault.Conflict, "cart_empty", "The cart is empty.")
	ErrChanged  = fault.New(fault.Conflict, "cart_changed", "Your cart has changed. Please check it again.")
)

// ErrRetry refuses a change after several conflicts with other changes to the same cart. Nothing has changed.
var ErrRetry = &fault.Error{
	Kind: fault.Unavailable, Code: "try_again", Detail: "The cart was not changed. Please try again.",
	RetryAfter: time.Second,
}

func checkQuantity(n int64) error {
	if n < 1 || n > MaxQuantity {
		return ErrQuantity.With("maximum", MaxQuantity)
	}
	return nil
}

// Draft applies a batch of changes to a locked cart in memory. It does no I/O.
type Draft struct {
	Cart
	Loaded  Cart      // the cart before the batch
	Removed []Line    // lines to delete
	changed []LineKey // of changed lines
}

// LineKey identifies a line in its cart: a dish with options.
type LineKey struct {
	DishID  int64
	Options string
}

// Key returns the key of the line.
func (l Line) Key() LineKey { return LineKey{l.DishID, l.Options} }

// NewDraft returns a draft of a cart.
func NewDraft(c Cart) *Draft {
	d := &Draft{Cart: c, Loaded: c}
	d.Lines = slices.Clone(c.Lines)
	return d
}

// Changed reports whether the cart differs from the loaded one.
func (d *Draft) Changed() bool { return d.Version != d.Loaded.Version }

// ChangedLines returns the new and changed lines in the order of the cart.
func (d *Draft) ChangedLines() []Line {
	return slices.DeleteFunc(slices.Clone(d.Lines), func(l Line) bool { return !slices.Contains(d.changed, l.Key()) })
}

// Apply applies one change and returns what it concerns. A change that fails leaves the cart as it is.
func (d *Draft) Apply(c Change, now time.Time) (of LineKey, err error) {
	switch {
	case c.Add != nil:
		return LineKey{c.Add.DishID, c.Add.Options}, d.add(*c.Add, now)
	case c.Set != nil:
		i := d.find(c.Set.Line)
		if i < 0 {
			return LineKey{}, ErrLine
		}
		if err := checkTotal(c.Set.Quantity, d.Lines[i].Quantity, d.units()); err != nil {
			return LineKey{}, err
		}
		if d.Lines[i].Quantity != c.Set.Quantity {
			d.Lines[i].Quantity = c.Set.Quantity
			d.touchLine(i, now)
		}
		return d.Lines[i].Key(), nil
	case c.Remove != 0:
		i := d.find(c.Remove)
		if i < 0 {
			return LineKey{}, ErrLine
		}
		d.remove(i, now)
	case c.Empty:
		for len(d.Lines) > 0 {
			d.remove(len(d.Lines)-1, now)
		}
	}
	return LineKey{}, nil
}

// add puts units of a dish into the cart, or refuses without a change.
func (d *Draft) add(a Add, now time.Time) error {
	i := slices.IndexFunc(d.Lines, func(l Line) bool { return l.Key() == LineKey{a.DishID, a.Options} })
	var had int64
	if i >= 0 {
		had = d.Lines[i].Quantity
	}
	if err := checkQuantity(a.Quantity); err != nil {
		return err
	}
	quantity := had + a.Quantity
	if err := checkTotal(quantity, had, d.units()); err != nil {
		return err
	}
	switch {
	case i >= 0:
	case len(d.Lines) >= MaxLines:
		return ErrFull
	default:
		i = len(d.Lines)
		d.Lines = append(d.Lines, Line{DishID: a.DishID, Options: a.Options})
	}
	d.Lines[i].Quantity, d.Lines[i].Price = quantity, a.Price
	if a.BranchID != 0 {
		d.BranchID = a.BranchID
	}
	d.touchLine(i, now)
	return nil
}

func (d *Draft) units() (sum int64) {
	for _, l := range d.Lines {
		sum += l.Quantity
	}
	return sum
}

// checkTotal checks the new quantity of a line, alone and in a cart that now has so many units. A cart above the limit,
// from before a change of limits, may shrink.
func checkTotal(quantity, had, units int64) error {
	if err := checkQuantity(quantity); err != nil {
		return err
	}
	if units-had+quantity > MaxUnits && quantity > had {
		return ErrUnits
	}
	return nil
}

// find returns the index of a line by its id, or -1. Lines added by this batch have no id yet.
func (d *Draft) find(line int64) int {
	return slices.IndexFunc(d.Lines, func(l Line) bool { return l.ID == line && line != 0 })
}

func (d *Draft) touchLine(i int, now time.Time) {
	l := &d.Lines[i]
	if !slices.Contains(d.changed, l.Key()) { // one version per transaction
		d.changed = append(d.changed, l.Key())
		l.Version++
	}
	d.bumpVersion(now)
}

// remove deletes a line. A line that this batch added was never stored, so it needs no tombstone.
func (d *Draft) remove(i int, now time.Time) {
	if d.Lines[i].ID != 0 {
		d.Removed = append(d.Removed, d.Lines[i])
	}
	d.changed = slices.DeleteFunc(d.changed, func(w LineKey) bool { return w == d.Lines[i].Key() })
	d.Lines = slices.Delete(d.Lines, i, i+1)
	d.bumpVersion(now)
}

// MarkCreated marks a cart that was just inserted as changed, so that it is written even if its changes fail.
func (d *Draft) MarkCreated(now time.Time) { d.bumpVersion(now) }

func (d *Draft) bumpVersion(now time.Time) {
	// The version increases once per transaction, whatever the number of changes, because documents are written once
	// for all.
	d.Version, d.UpdatedAt = d.Loaded.Version+1, now
}
