package cart

import (
	"context"

	"comanda/internal/catalog"
	"comanda/internal/money"
)

// View is a cart as it is worth today.
type View struct {
	Cart
	Branch        catalog.Branch
	MenuVersionID int64
	Items         []Item
	Total         int64 // of what can be ordered
	Currency      money.Currency
}

// Item is a line as it is worth today.
type Item struct {
	Line
	ItemID    int64 // on the menu; 0 when the dish is not on it
	Names     catalog.Texts
	ImageURL  string
	Price     int64 // today; what was shown before is Line.Price
	Total     int64
	Left      int64 // how many can still be ordered today
	Limited   bool  // whether Left says anything
	Available bool  // it is on the menu and can be ordered
}

// PriceChanged tells whether the dish costs something else than when it was last put in.
func (i Item) PriceChanged() bool { return i.ItemID != 0 && i.Price != i.Line.Price }

// SoldOut tells whether less is left than the cart wants.
func (i Item) SoldOut() bool { return i.Limited && i.Left < i.Quantity }

// priced puts a cart beside a branch's board. Dishes that the menu does not have stay, without a price.
func priced(c Cart, b *catalog.LiveMenu, names map[int64]catalog.Texts) View {
	v := View{
		Cart: c, Branch: b.Branch, MenuVersionID: b.VersionID, Currency: b.Branch.Currency, Items: make([]Item, len(c.Lines)),
	}
	for i, l := range c.Lines {
		it := Item{Line: l, Names: names[l.DishID]}
		if on, ok := b.OfDish(l.DishID); ok {
			it.ItemID, it.Names, it.ImageURL, it.Price, it.Available = on.ID, on.Names, on.ImageURL, on.Price, on.Active
			it.Left, it.Limited = b.Left(on.ID)
			it.Total = on.Price * l.Quantity // a price is far below what 20 of them could overflow
		}
		if it.Available {
			v.Total += it.Total
		}
		v.Items[i] = it
	}
	return v
}

// look prices a cart.
func (s *Carts) look(ctx context.Context, c Cart, branch int64) (View, error) {
	board, err := s.board(ctx, c, branch)
	if err != nil {
		return View{}, err
	}
	var vanished []int64
	for _, l := range c.Lines {
		if _, ok := board.OfDish(l.DishID); !ok {
			vanished = append(vanished, l.DishID)
		}
	}
	var names map[int64]catalog.Texts
	if len(vanished) > 0 {
		if names, err = s.Store.DishNames(ctx, vanished); err != nil {
			return View{}, err
		}
	}
	return priced(c, board, names), nil
}
