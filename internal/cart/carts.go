package cart

import (
	"context"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Store keeps carts, normally cartsql.
type Store interface {
	// Cart gives a member's cart; one without an id is not there.
	Cart(ctx context.Context, user int64) (Cart, error)
	// Change makes one change, and gives the cart after it and the dish that it was about.
	Change(ctx context.Context, c Change) (Cart, int64, error)
	// DishNames gives the names of dishes, whatever menu they are on.
	DishNames(ctx context.Context, dishes []int64) (map[int64]catalog.Texts, error)
	// FirstBranch is the house's first branch that is open, or its first; 0 when it has none.
	FirstBranch(ctx context.Context) (int64, error)
}

// Boards gives branches' menus with what is left of them.
type Boards interface {
	Get(ctx context.Context, branch int64) (*catalog.LiveMenu, error)
}

// Carts is the use cases. Whose cart it is follows from who asks: there is no way to name another's.
type Carts struct {
	Store  Store
	Boards Boards

	seen recent
}

// errNoBranch answers a house without a branch.
var errNoBranch = fault.New(fault.Conflict, "branch_closed", "The restaurant takes no orders at the moment.")

// Get gives a member's cart by the menu of a branch; 0 for the one that the cart was begun with, or the house's first.
func (s *Carts) Get(ctx context.Context, who identity.Actor, branch int64) (View, error) {
	c, err := s.Store.Cart(ctx, who.UserID)
	if err != nil {
		return View{}, err
	}
	s.seen.see(c)
	return s.look(ctx, c, branch)
}

// Recall is Get with the cart as it was last seen here, without asking for it; false when there is none. It may have
// changed since, and who goes by it must find out (ErrChanged).
func (s *Carts) Recall(ctx context.Context, who identity.Actor, branch int64) (View, bool) {
	c, ok := s.seen.recall(who.UserID)
	if !ok {
		return View{}, false
	}
	v, err := s.look(ctx, c, branch)
	return v, err == nil
}

// Forget is told when a cart is known to be gone.
func (s *Carts) Forget(who identity.Actor) { s.seen.forget(who.UserID) }

// Add puts a dish into the cart and gives its line. The dish must be on the branch's menu.
func (s *Carts) Add(ctx context.Context, who identity.Actor, dish, quantity, branch int64) (View, Item, error) {
	if err := checkQuantity(quantity); err != nil {
		return View{}, Item{}, err
	}
	chosen := branch
	if branch == 0 {
		c, err := s.Store.Cart(ctx, who.UserID)
		if err != nil {
			return View{}, Item{}, err
		}
		branch = c.BranchID
	}
	board, err := s.board(ctx, Cart{}, branch)
	if err != nil {
		return View{}, Item{}, err
	}
	on, ok := board.OfDish(dish)
	if !ok || !on.Active {
		return View{}, Item{}, ErrDish
	}
	return s.change(ctx, Change{UserID: who.UserID, Add: &Add{dish, quantity, on.Price, chosen}})
}

// SetQuantity changes how many of a dish there are.
func (s *Carts) SetQuantity(ctx context.Context, who identity.Actor, line, quantity int64) (View, Item, error) {
	return s.change(ctx, Change{UserID: who.UserID, Set: &Set{line, quantity}})
}

// Remove takes a dish out.
func (s *Carts) Remove(ctx context.Context, who identity.Actor, line int64) (View, error) {
	v, _, err := s.change(ctx, Change{UserID: who.UserID, Remove: line})
	return v, err
}

// Empty takes everything out.
func (s *Carts) Empty(ctx context.Context, who identity.Actor) (View, error) {
	v, _, err := s.change(ctx, Change{UserID: who.UserID, Empty: true})
	return v, err
}

// change gives the cart after a change, and the line of the dish that it was about.
func (s *Carts) change(ctx context.Context, c Change) (View, Item, error) {
	after, dish, err := s.Store.Change(ctx, c)
	if err != nil {
		return View{}, Item{}, err
	}
	s.seen.see(after)
	v, err := s.look(ctx, after, 0)
	for _, it := range v.Items {
		if it.DishID == dish {
			return v, it, err
		}
	}
	return v, Item{}, err
}

// board finds the menu by which a cart is priced.
func (s *Carts) board(ctx context.Context, c Cart, branch int64) (*catalog.LiveMenu, error) {
	if branch == 0 {
		branch = c.BranchID
	}
	if branch == 0 {
		first, err := s.Store.FirstBranch(ctx)
		if err != nil {
			return nil, err
		}
		if first == 0 {
			return nil, errNoBranch
		}
		branch = first
	}
	return s.Boards.Get(ctx, branch)
}
