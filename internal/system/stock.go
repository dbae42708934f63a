package system

import (
	"context"
	"math"
	"slices"
	"strconv"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

// StockLine is a counter of a menu item on its branch's current business date, or of a stock item.
type StockLine struct {
	Kind     string `json:"kind"` // QUOTA or STOCK
	BranchID int64  `json:"branchId,string"`
	BizDate  string `json:"bizDate,omitempty"`
	ItemID   string `json:"itemId"` // the id that other systems use; of a stock item only
	Name     string `json:"name"`
	Cap      *int64 `json:"cap"` // null is unlimited; of a stock item, the quantity in stock
	Held     int64  `json:"held"`
	Used     int64  `json:"used"`
	Left     *int64 `json:"left"`
	Low      bool   `json:"low,omitempty"` // the rest is at or below the stock item's low mark
}

// The kinds of counters.
const (
	quotaKind = "QUOTA"
	stockKind = "STOCK"
)

// StockToday lists by branch the items of the published menus with today's counters, and the stock items. An item
// without a counter yet has its initial values.
func (s *Service) StockToday(ctx context.Context, branch int64) ([]StockLine, error) {
	store := catalogsql.New(s.DB, nil)
	branches, err := store.Branches(ctx)
	if err != nil {
		return nil, err
	}
	lines := []StockLine{}
	for _, b := range branches {
		if branch != 0 && b.ID != branch {
			continue
		}
		quotas, err := s.quotaLines(ctx, store, b)
		if err != nil {
			return nil, err
		}
		items, err := s.stockLines(ctx, b.ID)
		if err != nil {
			return nil, err
		}
		lines = slices.Concat(lines, quotas, items)
	}
	return lines, nil
}

// stockLines returns the stock items of a branch. Their cap is all that is or was there: available, reserved and sold.
func (s *Service) stockLines(ctx context.Context, branch int64) ([]StockLine, error) {
	levels, _, err := stocksql.New(s.DB).Levels(ctx, stock.LevelFilter{Branch: branch, Limit: math.MaxInt32})
	lines := make([]StockLine, len(levels))
	for i, l := range levels {
		all := l.Available + l.Reserved + l.Sold
		lines[i] = StockLine{
			Kind: stockKind, BranchID: l.Branch, ItemID: l.SKU, Name: l.Name, Cap: &all, Held: l.Reserved, Used: l.Sold,
			Left: &l.Available, Low: l.Low(),
		}
	}
	return lines, err
}

// quotaLines returns the items of a branch's published menu with the counters of its current business date.
func (s *Service) quotaLines(ctx context.Context, store *catalogsql.Store, b catalog.Branch) ([]StockLine, error) {
	content, err := store.Content(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	date := b.Calendar().BizDate(s.DB.Now())
	counts, err := stocksql.New(s.DB).Counts(ctx, stock.Scope{Branch: b.ID, Date: date})
	if err != nil {
		return nil, err
	}
	byItem := map[int64]stock.Count{}
	for _, c := range counts {
		byItem[c.Item] = c
	}
	lines := make([]StockLine, len(content.Edition.Items))
	for i, it := range content.Edition.Items {
		c, counted := byItem[it.ID]
		// The ledger creates a missing counter with its first order.
		if quota, limited := content.Quotas[it.ID]; !counted {
			c.Cap = stock.Unlimited
			if limited {
				c.Cap = quota
			}
		}
		lines[i] = StockLine{
			Kind: quotaKind, BranchID: b.ID, BizDate: date, ItemID: strconv.FormatInt(it.ID, 10),
			Name: it.Names.In(b.Locales...), Held: c.Held, Used: c.Used,
		}
		if c.Cap != stock.Unlimited {
			limit, left := c.Cap, c.Left()
			lines[i].Cap, lines[i].Left = &limit, &left
		}
	}
	return lines, nil
}
