package stock

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/cache"
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

// recipeTTL is how long a branch's recipes are reused, because reading them for each order would cost a query per
// order. An order may use a recipe that is this old, also one that another process has changed; its hold records the
// units that it has taken.
const recipeTTL = time.Second

// ErrTooManyStockItems refuses an order whose dishes consume too many stock items, or too much of one.
var ErrTooManyStockItems = fault.Newf(fault.Invalid, "invalid", "An order may use at most %d stock items.", MaxStockLines)

// RecipeCache caches the recipes of branches for recipeTTL. It is safe for concurrent use. Orders of one branch that
// arrive together share one read.
type RecipeCache struct {
	// Read returns the stock that one portion of each menu item of a branch consumes; items without a recipe are left
	// out.
	Read func(ctx context.Context, branch int64) (map[int64][]Line, error)
	Now  func() time.Time

	entries cache.Cache[int64, map[int64][]Line]
}

// ForBranch returns a branch's recipes by menu item. The caller must not change them.
func (r *RecipeCache) ForBranch(ctx context.Context, branch int64) (map[int64][]Line, error) {
	return r.entries.Load(branch, r.Now, recipeTTL, func() (map[int64][]Line, error) { return r.Read(ctx, branch) })
}

// invalidate makes the next call read a branch's recipes again, after this process has changed them.
func (r *RecipeCache) invalidate(branch int64) { r.entries.Delete(branch) }

// Consumption returns the stock that portions of menu items consume, merged and sorted; nil for none. The sum is
// checked after every addition, so it cannot overflow: one addition is at most MaxUnits times MaxQty.
func Consumption(recipes map[int64][]Line, portions []Line) ([]Line, error) {
	sum := map[int64]int64{}
	for _, p := range portions {
		for _, l := range recipes[p.Item] {
			if sum[l.Item] += p.Qty * l.Qty; sum[l.Item] > MaxUnits {
				return nil, ErrTooManyStockItems
			}
		}
	}
	if len(sum) > MaxStockLines {
		return nil, ErrTooManyStockItems
	}
	var lines []Line
	for _, item := range slices.Sorted(maps.Keys(sum)) {
		lines = append(lines, Line{item, sum[item]})
	}
	return lines, nil
}

// PortionsLeft returns, for each menu item with a recipe, how many portions the stock suffices for. A stock item
// without a counter suffices for none. Each dish is computed alone: two dishes that share a stock item cannot both be
// sold that often.
func PortionsLeft(recipes map[int64][]Line, levels []Count) map[int64]int64 {
	left := make(map[int64]int64, len(levels))
	for _, c := range levels {
		left[c.Item] = c.Left()
	}
	portions := make(map[int64]int64, len(recipes))
	for item, lines := range recipes {
		n := int64(math.MaxInt64)
		for _, l := range lines {
			n = min(n, left[l.Item]/l.Qty)
		}
		portions[item] = n
	}
	return portions
}

// DishShortages converts a refusal by stock into the menu items that it concerns, and the portions still available of
// each. Shortages of quotas stay as they are. Stock items mean nothing to a guest, so they are not in the answer.
func DishShortages(short []Shortage, portions []Line, recipes map[int64][]Line) []Shortage {
	least := map[int64]int64{}
	left := map[int64]int64{}
	var lines []Shortage
	for _, s := range short {
		if s.Stock {
			left[s.Item] = s.Available
		} else {
			least[s.Item] = s.Available
		}
	}
	for _, p := range portions {
		for _, l := range recipes[p.Item] {
			if have, ok := left[l.Item]; ok {
				n := have / l.Qty
				if before, ok := least[p.Item]; ok {
					n = min(n, before)
				}
				least[p.Item] = n
			}
		}
		if n, ok := least[p.Item]; ok {
			// Each of two dishes may fit alone while both together do not. The number returned is always below the requested
			// one, so that the guest sees which dishes to reduce.
			lines = append(lines, Shortage{Item: p.Item, Requested: p.Qty, Available: min(n, p.Qty-1)})
		}
	}
	return lines
}
