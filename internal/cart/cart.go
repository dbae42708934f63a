package cart

import (
	"slices"
	"time"

	"comanda/internal/fault"
)

// Limits of a cart. They are those of an order, so that what fits here can be ordered.
const (
	MaxLines    = 50
	MaxQuantity = 20  // of one dish
	MaxUnits    = 100 // of all dishes together
)

// Cart is what a member means to order. The zero ID is a cart that is not there, which is an empty one.
type Cart struct {
	ID        int64
	UserID    int64
	BranchID  int64 // whose menu it is priced by; 0 for the house's first
	Version   int64 // rises with every change of a member's, also of a line; an import raises that of lines alone
	UpdatedAt time.Time
	Lines     []Line // in the order in which they were added
}

// Same tells whether a cart, which was locked, is what somebody saw of it before, line by line.
func (c Cart) Same(seen Cart) bool {
	if c.ID != seen.ID || c.Version != seen.Version || len(c.Lines) != len(seen.Lines) {
		return false
	}
	return !slices.ContainsFunc(c.Lines, func(l Line) bool { return !slices.Contains(seen.Lines, l) })
}

// Line is a dish in a cart.
type Line struct {
	ID       int64
	DishID   int64
	Quantity int64
	Price    int64 // what the dish cost when it was last put in, in minor units
	Version  int64
}

// Change is one thing to be done to a member's cart: exactly one of its parts is set.
type Change struct {
	UserID int64
	Add    *Add
	Set    *Set
	Remove int64 // id of a line
	Empty  bool
}

// Add puts a dish into the cart. One that is there already gets so many more.
type Add struct {
	DishID   int64
	Quantity int64
	Price    int64 // as shown now
	BranchID int64 // 0 leaves the cart with the branch that it has
}

// Set changes how many of a dish there are.
type Set struct {
	Line     int64
	Quantity int64
}

// The faults of carts.
var (
	ErrLine     = fault.New(fault.NotFound, "cart_item_not_found", "There is no such dish in the cart.")
	ErrFull     = fault.Newf(fault.Conflict, "cart_full", "A cart has at most %d dishes.", MaxLines)
	ErrUnits    = fault.Newf(fault.Conflict, "cart_full", "A cart has at most %d units in all.", MaxUnits)
	ErrQuantity = fault.Newf(fault.Invalid, "invalid", "The quantity of a dish is 1 to %d.", MaxQuantity)
	ErrDish     = fault.New(fault.NotFound, "dish_not_found", "There is no such dish on this menu.")
	ErrEmpty    = fault.New(fault.Conflict, "cart_empty", "The cart is empty.")
	ErrChanged  = fault.New(fault.Conflict, "cart_changed", "The cart was changed meanwhile; look at it again.")
)

// ErrRetry says that nothing has changed, because others were about the same cart each time.
var ErrRetry = &fault.Error{
	Kind: fault.Unavailable, Code: "try_again", Detail: "That could not be done just now; send it again.",
	RetryAfter: time.Second,
}

func checkQuantity(n int64) error {
	if n < 1 || n > MaxQuantity {
		return ErrQuantity.With("maximum", MaxQuantity)
	}
	return nil
}
