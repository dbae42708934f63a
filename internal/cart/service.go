package cart

import (
	"cmp"
	"context"
	"sync"
	"time"

	"comanda/internal/authz"
	"comanda/internal/cache"
	"comanda/internal/catalog"
	"comanda/internal/fault"
)

// Store stores carts; cartsql implements it.
type Store interface {
	// Cart returns a member's cart, with ID 0 if there is none.
	Cart(ctx context.Context, user int64) (Cart, error)
	// Change applies one change and returns the cart after it and the line that it concerns.
	Change(ctx context.Context, c Change) (Cart, LineKey, error)
	// DishNames returns the names of dishes, whether or not they are on a menu.
	DishNames(ctx context.Context, dishes []int64) (map[int64]catalog.Texts, error)
	// FirstBranch returns the first open branch, or the first if none is open, or 0 if there are no branches.
	FirstBranch(ctx context.Context) (int64, error)
}

// LiveMenus returns live menus; catalog.LiveMenus implements it.
type LiveMenus interface {
	Get(ctx context.Context, branch int64) (*catalog.LiveMenu, error)
}

// Service has the use cases of members' carts. The actor determines the cart, so a member cannot name another's.
type Service struct {
	Store     Store
	LiveMenus LiveMenus

	cache recentCarts
}

// errNoBranch is returned if there are no branches.
var errNoBranch = fault.New(fault.Conflict, "branch_closed", "The restaurant is not taking orders right now.")

// Get returns a member's cart priced by the menu of a branch. Branch 0 is the cart's own, or the first branch.
func (s *Service) Get(ctx context.Context, actor authz.Actor, branch int64) (View, error) {
	c, err := s.Store.Cart(ctx, actor.UserID)
	if err != nil {
		return View{}, err
	}
	s.cache.put(c)
	return s.view(ctx, c, branch)
}

// GetCached is Get with the cart that this process has read last; ok is false if there is none. The cart may be
// outdated, so the caller must handle ErrChanged (C5).
func (s *Service) GetCached(ctx context.Context, actor authz.Actor, branch int64) (View, bool) {
	c, ok := s.cache.get(actor.UserID)
	if !ok {
		return View{}, false
	}
	v, err := s.view(ctx, c, branch)
	return v, err == nil
}

// Evict removes a member's cart from the cache. Call it after the cart was deleted in SQL.
func (s *Service) Evict(actor authz.Actor) { s.cache.evict(actor.UserID) }

// Add adds a dish with options and returns its line. The dish must be active on the branch's menu, and offer the options.
func (s *Service) Add(
	ctx context.Context, actor authz.Actor, dish, quantity, branch int64, options ...catalog.ChosenOption,
) (View, Item, error) {
	if err := checkQuantity(quantity); err != nil {
		return View{}, Item{}, err
	}
	// Only a branch named in the request is stored with the cart, not one that is used to price the dish.
	chosen := branch
	if branch == 0 {
		c, err := s.Store.Cart(ctx, actor.UserID)
		if err != nil {
			return View{}, Item{}, err
		}
		branch = c.BranchID
	}
	menu, err := s.menu(ctx, Cart{}, branch)
	if err != nil {
		return View{}, Item{}, err
	}
	on, ok := menu.OfDish(dish, toTakeAway...)
	if !ok || !on.Active || !on.Shown(toTakeAway...) {
		return View{}, Item{}, ErrDish
	}
	configured, text, err := configure(on, options)
	if err != nil {
		return View{}, Item{}, err
	}
	return s.change(ctx, Change{UserID: actor.UserID, Add: &Add{
		DishID: dish, Quantity: quantity, Price: configured.Price, BranchID: chosen, Options: text,
	}})
}

// configure checks a choice of options and returns the item with it, and the choice in the form in which lines store it.
func configure(on catalog.Item, options []catalog.ChosenOption) (catalog.Configured, string, error) {
	canonical, err := catalog.CanonicalOptions(options)
	if err != nil {
		return catalog.Configured{}, "", err
	}
	configured, err := on.Configure(canonical, nil)
	return configured, catalog.EncodeOptions(canonical), err
}

// SetQuantity sets the quantity of a line.
func (s *Service) SetQuantity(ctx context.Context, actor authz.Actor, line, quantity int64) (View, Item, error) {
	return s.change(ctx, Change{UserID: actor.UserID, Set: &Set{line, quantity}})
}

// Remove removes a line.
func (s *Service) Remove(ctx context.Context, actor authz.Actor, line int64) (View, error) {
	v, _, err := s.change(ctx, Change{UserID: actor.UserID, Remove: line})
	return v, err
}

// Empty removes all lines.
func (s *Service) Empty(ctx context.Context, actor authz.Actor) (View, error) {
	v, _, err := s.change(ctx, Change{UserID: actor.UserID, Empty: true})
	return v, err
}

// change applies a change and returns the cart after it and the line of the changed dish.
func (s *Service) change(ctx context.Context, c Change) (View, Item, error) {
	after, of, err := s.Store.Change(ctx, c)
	if err != nil {
		return View{}, Item{}, err
	}
	s.cache.put(after)
	v, err := s.view(ctx, after, 0)
	for _, it := range v.Items {
		if it.Key() == of {
			return v, it, err
		}
	}
	return v, Item{}, err
}

// menu returns the live menu that prices a cart.
func (s *Service) menu(ctx context.Context, c Cart, branch int64) (*catalog.LiveMenu, error) {
	branch = cmp.Or(branch, c.BranchID)
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
	return s.LiveMenus.Get(ctx, branch)
}

// maxRecentCarts bounds the carts in memory: a cart with all of its lines has several kilobytes.
const maxRecentCarts = 4096

// recentCarts caches the carts that this process has read last. They may be outdated (C5). The zero value is ready to
// use.
type recentCarts struct {
	mu     sync.Mutex // held while a cart is compared with the one that it replaces
	bound  sync.Once
	byUser cache.Cache[int64, Cart] // see carts
}

// carts returns the cache with its bound.
func (r *recentCarts) carts() *cache.Cache[int64, Cart] {
	r.bound.Do(func() { r.byUser.Max = maxRecentCarts })
	return &r.byUser
}

// put stores a cart unless a newer one is cached.
func (r *recentCarts) put(c Cart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.get(c.UserID)
	switch {
	// Ids increase, so a higher id belongs to a later cart, created after an order. ID 0 means that the cart is
	// gone.
	case ok && (known.ID > c.ID && c.ID != 0 || known.ID == c.ID && known.Version > c.Version):
	case len(c.Lines) == 0:
		r.evict(c.UserID)
	default:
		r.carts().Put(c.UserID, c)
	}
}

// get returns a member's cached cart.
func (r *recentCarts) get(user int64) (Cart, bool) { return r.carts().Get(user, time.Time{}) }

func (r *recentCarts) evict(user int64) { r.carts().Delete(user) }
