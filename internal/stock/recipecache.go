package stock

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"comanda/internal/fault"
)

// recipesFor is how long a branch's recipes are taken as they were read. An order takes what its recipe was a moment ago;
// what it has taken stands in its hold.
const recipeTTL = time.Second

// ErrRecipe refuses an order whose dishes take of too many stock items, or too much of one.
var ErrTooManyStockItems = fault.Newf(fault.Invalid, "invalid", "An order takes of at most %d stock items.", MaxStockLines)

// Recipes tells what dishes take of a branch's stock.
type RecipeCache struct {
	// Read gives what one portion of each menu item of a branch takes; items that take nothing are left out.
	Read func(ctx context.Context, branch int64) (map[int64][]Line, error)
	Now  func() time.Time

	mu      sync.Mutex
	entries map[int64]*recipeEntry
}

// recipeBook is a branch's recipes as they were read last. Whoever finds them too old reads them anew, others wait.
type recipeEntry struct {
	mu    sync.Mutex
	at    time.Time
	lines map[int64][]Line
}

// Of gives a branch's recipes by menu item. They must not be changed.
func (r *RecipeCache) ForBranch(ctx context.Context, branch int64) (map[int64][]Line, error) {
	r.mu.Lock()
	if r.entries == nil {
		r.entries = map[int64]*recipeEntry{}
	}
	b := r.entries[branch]
	if b == nil {
		b = &recipeEntry{}
		r.entries[branch] = b
	}
	r.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := r.Now()
	if b.lines != nil && now.Sub(b.at) < recipeTTL {
		return b.lines, nil
	}
	of, err := r.Read(ctx, branch)
	if err != nil {
		return nil, err
	}
	if of == nil {
		of = map[int64][]Line{}
	}
	b.at, b.lines = now, of
	return of, nil
}

// forget has a branch's recipes read anew, after this process has changed them.
func (r *RecipeCache) invalidate(branch int64) {
	r.mu.Lock()
	b := r.entries[branch]
	r.mu.Unlock()
	if b != nil {
		b.mu.Lock()
		b.lines = nil
		b.mu.Unlock()
	}
}

// Needs gives what portions of menu items take of the stock, merged and sorted; nil when they take nothing.
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

// Portions gives how many portions of each menu item that has a recipe the stock is enough for. What is not counted
// yet is enough for none.
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

// Scarce tells of a refusal by stock which menu items it concerns, and how many portions of each could be had. Lines of
// quotas stay as they are.
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
			lines = append(lines, Shortage{Item: p.Item, Requested: p.Qty, Available: min(n, p.Qty-1)})
		}
	}
	return lines
}
