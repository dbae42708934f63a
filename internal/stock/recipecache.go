package stock

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"comanda/internal/cache"
	"comanda/internal/fault"
)

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
