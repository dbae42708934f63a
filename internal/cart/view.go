package cart

import (
	"context"

	"comanda/internal/catalog"
	"comanda/internal/money"
)

// View is a cart priced by the current menu.
type View struct {
	Cart
	Branch        catalog.Branch
	MenuVersionID int64
	Items         []Item
	Total         int64 // sum of the available items
	Currency      money.Currency
}

// Item is a line priced by the current menu.
type Item struct {
	Line
	ItemID    int64 // menu item id; 0 if the dish is not on the menu
	Names     catalog.Texts
	ImageURL  string
	Price     int64 // the current price; Line.Price is the price when the dish was added
	Total     int64
	Left      int64 // units that can still be ordered today
	Limited   bool  // false: no limit, and Left is not used
	Available bool  // on the menu and active
}

// PriceChanged reports whether the price has changed since the dish was last added.
func (i Item) PriceChanged() bool { return i.ItemID != 0 && i.Price != i.Line.Price }

// SoldOut reports whether fewer units are left than the cart contains.
func (i Item) SoldOut() bool { return i.Limited && i.Left < i.Quantity }

// newView prices a cart by a live menu. Dishes that are not on the menu stay, without a price.
func newView(c Cart, b *catalog.LiveMenu, names map[int64]catalog.Texts) View {
	v := View{
		Cart: c, Branch: b.Branch, MenuVersionID: b.VersionID, Currency: b.Branch.Currency, Items: make([]Item, len(c.Lines)),
	}
	for i, l := range c.Lines {
		it := Item{Line: l, Names: names[l.DishID]}
		if on, ok := b.OfDish(l.DishID); ok {
			it.ItemID, it.Names, it.ImageURL, it.Price, it.Available = on.ID, on.Names, on.ImageURL, on.Price, on.Active
			it.Left, it.Limited = b.Left(on.ID)
			it.Total = on.Price * l.Quantity // cannot overflow: prices are at most catalog.MaxPrice and quantities MaxQuantity
		}
		if it.Available {
			v.Total += it.Total
		}
		v.Items[i] = it
	}
	return v
}

// view prices a cart by the menu of a branch; 0 is the cart's own. It also reads the names of dishes that left the
// menu, in one query and only if there are any.
func (s *Service) view(ctx context.Context, c Cart, branch int64) (View, error) {
	menu, err := s.menu(ctx, c, branch)
	if err != nil {
		return View{}, err
	}
	var missing []int64
	for _, l := range c.Lines {
		if _, ok := menu.OfDish(l.DishID); !ok {
			missing = append(missing, l.DishID)
		}
	}
	var names map[int64]catalog.Texts
	if len(missing) > 0 {
		if names, err = s.Store.DishNames(ctx, missing); err != nil {
			return View{}, err
		}
	}
	return newView(c, menu, names), nil
}
