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

	menu *catalog.LiveMenu
}

// For returns the cart as an order of a kind. Menus for delivery and for pick-up may have a dish at different prices. A view
// without a kind has each dish as the menu's page shows it to members, see catalog.LiveMenu.OfDish.
func (v View) For(kind catalog.OrderKind) View {
	if v.menu == nil {
		return v
	}
	names := map[int64]catalog.Texts{}
	for _, it := range v.Items {
		names[it.DishID] = it.Names
	}
	return newView(v.Cart, v.menu, names, kind)
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
	Available bool  // on the menu and active, and it offers the options

	Configured []catalog.OptionLine // the options with names and prices of the current menu
}

// PriceChanged reports whether the price has changed since the dish was last added.
func (i Item) PriceChanged() bool { return i.ItemID != 0 && i.Price != i.Line.Price }

// SoldOut reports whether fewer units are left than the cart contains.
func (i Item) SoldOut() bool { return i.Limited && i.Left < i.Quantity }

// newView prices a cart by a live menu, for one of these kinds of orders. Dishes that are not on the menu stay, without a
// price.
func newView(c Cart, b *catalog.LiveMenu, names map[int64]catalog.Texts, kinds ...catalog.OrderKind) View {
	v := View{
		Cart: c, Branch: b.Branch, MenuVersionID: b.VersionID, Currency: b.Branch.Currency, Items: make([]Item, len(c.Lines)),
		menu: b,
	}
	for i, l := range c.Lines {
		it := Item{Line: l, Names: names[l.DishID]}
		if on, ok := b.OfDish(l.DishID, kinds...); ok {
			it.ItemID, it.Names, it.ImageURL, it.Price = on.ID, on.Names, on.ImageURL, on.Price
			it.Available = on.Active && on.Shown(kinds...)
			it.Left, it.Limited = b.Left(on.ID)
			it = it.configured(on, b)
			it.Total = it.Price * l.Quantity // cannot overflow: see the limits of package catalog
		}
		if it.Available {
			v.Total += it.Total
		}
		v.Items[i] = it
	}
	return v
}

// toTakeAway are the kinds of orders that members make.
var toTakeAway = []catalog.OrderKind{catalog.Delivery, catalog.PickUp}

// configured returns the item priced with its options. If the menu no longer offers them, the item is not
// available. An option that cannot be ordered now makes it sold out.
func (i Item) configured(on catalog.Item, b *catalog.LiveMenu) Item {
	chosen := catalog.DecodeOptions(i.Options)
	configured, err := on.Configure(chosen, b.Branch.Locales)
	if err != nil {
		i.Available = false
		return i
	}
	i.Price, i.Configured = configured.Price, configured.Options
	for _, option := range b.Unavailable(&on) {
		for l := range catalog.All(configured.Options) {
			if l.OptionID == option {
				i.Left, i.Limited = 0, true
			}
		}
	}
	return i
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
	return newView(c, menu, names, toTakeAway...), nil
}
