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
const recipesFor = time.Second

// ErrRecipe refuses an order whose dishes take of too many stock items, or too much of one.
var ErrRecipe = fault.Newf(fault.Invalid, "invalid", "An order takes of at most %d stock items.", MaxStockLines)

// Recipes tells what dishes take of a branch's stock.
type Recipes struct {
	// Read gives what one portion of each menu item of a branch takes; items that take nothing are left out.
	Read func(ctx context.Context, branch int64) (map[int64][]Line, error)
	Now  func() time.Time

	mu    sync.Mutex
	known map[int64]*recipeBook
}

// recipeBook is a branch's recipes as they were read last. Whoever finds them too old reads them anew, others wait.
type recipeBook struct {
	mu sync.Mutex
	at time.Time
	of map[int64][]Line
}

// Of gives a branch's recipes by menu item. They must not be changed.
func (r *Recipes) Of(ctx context.Context, branch int64) (map[int64][]Line, error) {
	r.mu.Lock()
	if r.known == nil {
		r.known = map[int64]*recipeBook{}
	}
	b := r.known[branch]
	if b == nil {
		b = &recipeBook{}
		r.known[branch] = b
	}
	r.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := r.Now()
	if b.of != nil && now.Sub(b.at) < recipesFor {
		return b.of, nil
	}
	of, err := r.Read(ctx, branch)
	if err != nil {
		return nil, err
	}
	if of == nil {
		of = map[int64][]Line{}
	}
	b.at, b.of = now, of
	return of, nil
}

// forget has a branch's recipes read anew, after this process has changed them.
func (r *Recipes) forget(branch int64) {
	r.mu.Lock()
	b := r.known[branch]
	r.mu.Unlock()
	if b != nil {
		b.mu.Lock()
		b.of = nil
		b.mu.Unlock()
	}
}

// Needs gives what portions of menu items take of the stock, merged and sorted; nil when they take nothing.
func Needs(recipes map[int64][]Line, portions []Line) ([]Line, error) {
	sum := map[int64]int64{}
	for _, p := range portions {
		for _, l := range recipes[p.Item] {
			if sum[l.Item] += p.Qty * l.Qty; sum[l.Item] > MaxUnits {
				return nil, ErrRecipe
			}
		}
	}
	if len(sum) > MaxStockLines {
		return nil, ErrRecipe
	}
	var lines []Line
	for _, item := range slices.Sorted(maps.Keys(sum)) {
		lines = append(lines, Line{item, sum[item]})
	}
	return lines, nil
}

// Portions gives how many portions of each menu item that has a recipe the stock is enough for. What is not counted
// yet is enough for none.
func Portions(recipes map[int64][]Line, levels []Count) map[int64]int64 {
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
func Scarce(short []Shortage, portions []Line, recipes map[int64][]Line) []Shortage {
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
