package stock

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// MaxRecipe is the largest number of stock items in one recipe.
const MaxRecipe = 10

// The faults of recipes of unknown dishes and options.
var (
	ErrMenuItemNotFound = fault.New(fault.NotFound, "menu_item_not_found", "Menu item not found.")
	ErrOptionNotFound   = fault.New(fault.NotFound, "option_not_found", "Option not found.")
)

// RecipeStore stores recipes; stocksql.Store implements it. Items of branches that the actor may not see are answered
// as missing.
type RecipeStore interface {
	// Recipe returns the stock that one portion of a menu item consumes, and the item's branch. It returns
	// ErrMenuItemNotFound for an unknown item.
	Recipe(ctx context.Context, by authz.Actor, item int64) (branch int64, lines []SKULine, err error)
	// SetRecipe replaces a recipe and writes an audit row. It returns ErrItemNotFound for a stock item that the branch
	// lacks.
	SetRecipe(ctx context.Context, by authz.Actor, item int64, lines []SKULine) (branch int64, err error)
	// OptionRecipe returns the stock that one unit of an option consumes in a branch. It returns ErrBranchNotFound for an
	// unknown branch and ErrOptionNotFound for an unknown or retired option.
	OptionRecipe(ctx context.Context, branch, option int64) ([]SKULine, error)
	// SetOptionRecipe replaces an option's recipe in a branch, with the faults of OptionRecipe and SetRecipe.
	SetOptionRecipe(ctx context.Context, by authz.Actor, branch, option int64, lines []SKULine) error
}

// RecipeService reads and changes recipes.
type RecipeService struct {
	Store RecipeStore
	Cache *RecipeCache // invalidated by changes; other processes see them within recipeTTL
}

// Recipe returns the stock that one portion of a menu item consumes.
func (c *RecipeService) Recipe(ctx context.Context, actor authz.Actor, item int64) ([]SKULine, error) {
	_, lines, err := c.Store.Recipe(ctx, actor, item)
	return lines, err
}

// SetRecipe replaces the stock that one portion of a menu item consumes; no lines remove the recipe. Placed orders keep
// the units that they have taken. The cache is invalidated after the commit: before it, another order could cache the
// old recipe again.
func (c *RecipeService) SetRecipe(ctx context.Context, actor authz.Actor, item int64, lines []SKULine) error {
	if err := checkRecipe(lines); err != nil {
		return err
	}
	branch, err := c.Store.SetRecipe(ctx, actor, item, lines)
	if err == nil {
		c.Cache.invalidate(branch)
	}
	return err
}

// OptionRecipe returns the stock that one unit of an option consumes in a branch. Options are the restaurant's, stock is
// a branch's, so an option has a recipe in each branch.
func (c *RecipeService) OptionRecipe(ctx context.Context, actor authz.Actor, branch, option int64) ([]SKULine, error) {
	if !actor.Sees(branch) {
		return nil, ErrBranchNotFound
	}
	return c.Store.OptionRecipe(ctx, branch, option)
}

// SetOptionRecipe replaces the stock that one unit of an option consumes in a branch, beside that of its dish. The recipe
// of a size replaces that of the dish. Like SetRecipe it does not change placed orders.
func (c *RecipeService) SetOptionRecipe(
	ctx context.Context, actor authz.Actor, branch, option int64, lines []SKULine,
) error {
	if !actor.Sees(branch) {
		return ErrBranchNotFound
	}
	if err := checkRecipe(lines); err != nil {
		return err
	}
	err := c.Store.SetOptionRecipe(ctx, actor, branch, option, lines)
	if err == nil {
		c.Cache.invalidate(branch)
	}
	return err
}

// checkRecipe returns a fault for a recipe that breaks a limit. It does no I/O: the store checks in its transaction
// whether the items exist.
func checkRecipe(lines []SKULine) error {
	if len(lines) > MaxRecipe {
		return fault.Newf(fault.Invalid, "invalid", "A recipe has at most %d stock items.", MaxRecipe).With("field", "lines")
	}
	seen := map[string]bool{}
	for _, l := range lines {
		if err := ValidateExternalID("itemId", l.SKU); err != nil {
			return err
		}
		if l.Qty < 1 || l.Qty > MaxQty {
			return fault.Newf(fault.Invalid, "invalid", "The quantity must be between 1 and %d.", MaxQty).With("field", "quantity")
		}
		if seen[l.SKU] {
			return fault.New(fault.Invalid, "invalid", "A stock item may appear only once in a recipe.").With("field", "itemId")
		}
		seen[l.SKU] = true
	}
	return nil
}
