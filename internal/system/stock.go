package system

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/clock"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
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
	if branch != 0 && !slices.ContainsFunc(branches, func(b catalog.Branch) bool { return b.ID == branch }) {
		return nil, catalog.ErrBranch
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

// stockLines returns the stock items of a branch. Their cap is the sum of available, reserved and sold units.
func (s *Service) stockLines(ctx context.Context, branch int64) ([]StockLine, error) {
	levels, _, err := stocksql.New(s.DB).Levels(ctx, stock.LevelFilter{Branch: branch, Limit: math.MaxInt32})
	return seq.Map(levels, func(l stock.Level) StockLine {
		return StockLine{
			Kind: stockKind, BranchID: l.Branch, ItemID: l.SKU, Name: l.Name, Cap: new(l.Available + l.Reserved + l.Sold),
			Held: l.Reserved, Used: l.Sold, Left: &l.Available, Low: l.Low(),
		}
	}), err
}

// quotaLines returns the items of a branch's published menu with the counters of its current business date.
func (s *Service) quotaLines(ctx context.Context, store *catalogsql.Store, b catalog.Branch) ([]StockLine, error) {
	content, err := store.Content(ctx, b.ID)
	if errors.Is(err, catalog.ErrMenu) {
		return nil, nil // a new branch has stock before it has a menu
	}
	if err != nil {
		return nil, err
	}
	date := b.Calendar().BizDate(s.DB.Now())
	counts, err := stocksql.New(s.DB).Counts(ctx, stock.Scope{Branch: b.ID, Date: date})
	if err != nil {
		return nil, err
	}
	byItem := seq.Index(counts, func(c stock.Count) int64 { return c.Item })
	lines := make([]StockLine, len(content.Edition.Items))
	for i, it := range content.Edition.Items {
		c, counted := byItem[it.ID]
		// The ledger creates a missing counter with the first order of the item.
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
			lines[i].Cap, lines[i].Left = new(c.Cap), new(c.Left())
		}
	}
	return lines, nil
}

// A comparison covers reconcileDays. A difference is reported only if up to reconcileRounds comparisons find it:
// between a commit and its application in Redis, the two differ legitimately.
const (
	reconcileDays   = 7
	reconcileRounds = 4
	reconcilePause  = 700 * time.Millisecond
)

// Reconcile compares ledger, holds, orders, money and Redis, of one branch or, with 0, of all. It only reads, and
// reports only differences that every comparison finds. Without Redis it compares SQL with itself. An unknown branch is
// catalog.ErrBranch.
func (s *Service) Reconcile(ctx context.Context, branch int64) (Reconciliation, error) {
	return exclusive(s, func() (Reconciliation, error) {
		switch {
		case s.Cache != nil:
			return s.reconcile(ctx, s.Cache, branch, "")
		case s.Redis == nil:
			return s.reconcile(ctx, nil, branch, "The store is in the server's process, which is not running; only SQL was compared.")
		case !s.Redis.Up():
			return s.reconcile(ctx, nil, branch, "Redis is out of reach; only SQL was compared.")
		}
		cache := stockredis.New(s.Redis, stockredis.Config{Now: s.DB.Now, Log: slog.New(slog.DiscardHandler)})
		return s.reconcile(ctx, cache, branch, "")
	})
}

// reconcile keeps only the differences that every round has found, compared by text: a difference whose numbers change
// has not settled yet. It ends with the first round that leaves no difference.
func (s *Service) reconcile(
	ctx context.Context, cache stock.AdmissionCache, branch int64, note string,
) (Reconciliation, error) {
	r := Reconciliation{Differences: []string{}, Note: note, Cache: CacheUnavailable}
	if branch != 0 {
		if _, err := catalogsql.New(s.DB, nil).Branch(ctx, branch); err != nil {
			return r, err
		}
	}
	for round := range reconcileRounds {
		found, scopes, err := differences(ctx, s.DB, cache, branch)
		if err != nil {
			return r, err
		}
		r.Scopes = scopes
		if cache != nil {
			r.Cache, r.Note = cacheState(scopes)
		}
		if round > 0 {
			found = slices.DeleteFunc(found, func(d string) bool { return !slices.Contains(r.Differences, d) })
		}
		r.Differences = found
		if len(found) == 0 {
			r.Differences, r.Clean = []string{}, true
			return r, nil
		}
		if round < reconcileRounds-1 {
			if err := clock.Wait(ctx, reconcilePause); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// cacheState reports whether the admission cache was compared. An empty cache agrees with everything, which proves
// nothing.
func cacheState(scopes int) (state, note string) {
	if scopes > 0 {
		return CacheCompared, ""
	}
	return CacheNotLoaded, "The admission cache holds nothing yet; only SQL was compared. The next menus and orders load it."
}

// differences runs one comparison. scopes is the number of scopes compared with the cache.
func differences(ctx context.Context, db *sqldb.DB, cache stock.AdmissionCache, branch int64) ([]string, int, error) {
	now := db.Now()
	from := now.AddDate(0, 0, -reconcileDays).Format(time.DateOnly)
	ledger := stocksql.New(db)
	all, err := ledger.DriftOf(ctx, branch, from)
	if err != nil {
		return nil, 0, err
	}
	orders, err := orderingsql.NewOrders(db).DriftOf(ctx, branch, from, now)
	if err != nil {
		return nil, 0, err
	}
	all = append(all, orders...)
	if cache == nil {
		return all, 0, nil
	}
	cached, scopes, err := cacheDifferences(ctx, ledger, cache, branch, now)
	return append(all, cached...), scopes, err
}

// cacheDifferences compares each scope in the admission cache. A scope that the cache lacks is not a difference:
// the cache answers Cold for it and is rebuilt when needed.
func cacheDifferences(
	ctx context.Context, ledger *stocksql.Store, cache stock.AdmissionCache, branch int64, now time.Time,
) ([]string, int, error) {
	// Two days back in UTC include the current business date of every time zone.
	scopes, err := ledger.Scopes(ctx, now.Add(-48*time.Hour).Format(time.DateOnly))
	if err != nil {
		return nil, 0, err
	}
	var all []string
	known := 0
	for s := range scopes {
		if branch != 0 && s.Branch != branch {
			continue
		}
		shown, ok, err := cache.ReadScope(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		known++
		truth, err := ledger.Counts(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		if _, text := stock.Difference(truth, shown.Counts); text != "" {
			all = append(all, fmt.Sprintf("branch %d, %s: %s", s.Branch, cmp.Or(s.Date, "stock"), text))
		}
	}
	slices.Sort(all)
	return all, known, nil
}
