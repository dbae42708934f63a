package stock

import (
	"context"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// MaxRecipe is how many stock items one dish may take of.
const MaxRecipe = 10

// ErrDish says that there is no such menu item.
var ErrMenuItemNotFound = fault.New(fault.NotFound, "menu_item_not_found", "There is no such menu item.")

// Cookbook keeps recipes, normally stocksql.Ledger. What belongs to a branch that the actor does not see is answered as
// if it did not exist.
type RecipeStore interface {
	// Recipe gives what one portion of a menu item takes, and the item's branch; ErrDish when there is no such item.
	Recipe(ctx context.Context, by identity.Actor, item int64) (branch int64, lines []SKULine, err error)
	// SetRecipe replaces it, and says so in the audit log. ErrItem names a stock item that the branch does not have.
	SetRecipe(ctx context.Context, by identity.Actor, item int64, lines []SKULine) (branch int64, err error)
}

// Cook says what dishes take of the stock.
type RecipeService struct {
	Store RecipeStore
	Cache *RecipeCache // told of changes; other processes see them within a second
}

// Recipe gives what one portion of a menu item takes.
func (c *RecipeService) Recipe(ctx context.Context, who identity.Actor, item int64) ([]SKULine, error) {
	_, lines, err := c.Store.Recipe(ctx, who, item)
	return lines, err
}

// SetRecipe says what one portion of a menu item takes from now on; nothing for a dish that takes nothing. Orders that
// were placed keep what they have taken.
func (c *RecipeService) SetRecipe(ctx context.Context, who identity.Actor, item int64, lines []SKULine) error {
	if err := checkRecipe(lines); err != nil {
		return err
	}
	branch, err := c.Store.SetRecipe(ctx, who, item, lines)
	if err == nil {
		c.Cache.invalidate(branch)
	}
	return err
}

func checkRecipe(lines []SKULine) error {
	if len(lines) > MaxRecipe {
		return fault.Newf(fault.Invalid, "invalid", "A dish takes of at most %d stock items.", MaxRecipe).With("field", "lines")
	}
	seen := map[string]bool{}
	for _, l := range lines {
		if err := ValidateExternalID("itemId", l.SKU); err != nil {
			return err
		}
		if l.Qty < 1 || l.Qty > MaxQty {
			return fault.Newf(fault.Invalid, "invalid", "A quantity is 1 to %d.", MaxQty).With("field", "quantity")
		}
		if seen[l.SKU] {
			return fault.New(fault.Invalid, "invalid", "A recipe names each stock item once.").With("field", "itemId")
		}
		seen[l.SKU] = true
	}
	return nil
}
