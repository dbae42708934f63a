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
	Kind: fault.Unavailable, Code: "try_again", Detail: "That did not work. Please try again.",
	RetryAfter: time.Second,
}

func checkQuantity(n int64) error {
	if n < 1 || n > MaxQuantity {
		return ErrQuantity.With("maximum", MaxQuantity)
	}
	return nil
}
