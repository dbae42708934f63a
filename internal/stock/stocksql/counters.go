package stocksql

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// Counters creates counters before a transaction locks them. It caches which counters exist, so that only the first
// order of an item on a business date costs a statement.
//
// Counters are created outside of the ordering transaction, because two processes that each had inserted a row and
// waited for the other's row would deadlock. It is safe for concurrent use. Counters are never deleted, so the cache
// is never wrong.
type Counters struct {
	db    *sqldb.DB
	mu    sync.RWMutex
	known map[stock.Key]struct{}
}

// maxKnown bounds the cache to the counters of some days of a large branch. A full cache is emptied.
const maxKnown = 100_000

// NewCounters returns Counters with an empty cache.
func NewCounters(db *sqldb.DB) *Counters {
	return &Counters{db: db, known: map[stock.Key]struct{}{}}
}

// Ensure creates the missing counters of a hold. Items that are not on the branch's menus get no counter, so SQL
// refuses them. Call it before the transaction. If two callers create the same counter, the second one changes
// nothing.
func (c *Counters) Ensure(ctx context.Context, h stock.Hold) error {
	if h.Scope.IsStock() {
		return nil // stock counters are created with their items
	}
	var missing []stock.Key
	c.mu.RLock()
	for _, l := range h.Lines {
		k := stock.Key{Scope: h.Scope, Item: l.Item}
		if _, ok := c.known[k]; !ok {
			missing = append(missing, k)
		}
	}
	c.mu.RUnlock()
	if missing == nil {
		return nil
	}
	if _, err := c.db.Exec(ctx, stmt("counter_ensure"), keyRows(missing)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > maxKnown {
		clear(c.known)
	}
	for _, k := range missing {
		c.known[k] = struct{}{}
	}
	return nil
}

// keyRows returns keys as the rows of a statement. Keys must be sorted where the statement locks rows.
func keyRows(keys []stock.Key) *sqldb.RowSet {
	return sqldb.NewRowSet(len(keys)).
		Int("branch_id", func(i int) int64 { return keys[i].Scope.Branch }).
		Text("stat_date", func(i int) string { return keys[i].Scope.Date }).
		Int("item", func(i int) int64 { return keys[i].Item })
}

// KeysOf returns the counters that holds touch, each once, in lock order. Transactions that lock in this order cannot
// deadlock with each other.
func KeysOf(holds ...[]stock.Hold) []stock.Key {
	set := map[stock.Key]struct{}{}
	for _, group := range holds {
		for _, h := range group {
			for key := range h.Quantities {
				set[key] = struct{}{}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(set), compareKeys)
}

func compareKeys(a, b stock.Key) int {
	return cmp.Or(cmp.Compare(a.Scope.Branch, b.Scope.Branch), cmp.Compare(a.Scope.Date, b.Scope.Date),
		cmp.Compare(a.Item, b.Item))
}

// splitKeys separates the counters of quotas from those of stock, which are locked after them.
func splitKeys(keys []stock.Key) (quotas, items []stock.Key) {
	for _, k := range keys {
		if k.Scope.IsStock() {
			items = append(items, k)
		} else {
			quotas = append(quotas, k)
		}
	}
	return quotas, items
}

// QueueLock locks counters in their order with the next flush and loads them into the balances. Counters that do not
// exist are not loaded, so operations on them return NotFound.
func QueueLock(tx sqldb.Tx, keys []stock.Key, balances *stock.Balances) {
	quotas, items := splitKeys(keys)
	queueLockQuotas(tx, quotas, balances)
	queueLockItems(tx, items, balances)
}

// queueLockQuotas queues the statement that locks the counters of quotas and loads them into balances. The statement locks
// in the order of the keys, which is the same in every transaction.
func queueLockQuotas(tx sqldb.Tx, keys []stock.Key, balances *stock.Balances) {
	if len(keys) == 0 {
		return
	}
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var scope stock.Scope
		var c stock.Count
		var limit sql.NullInt64
		if err := rows.Scan(&scope.Branch, &scope.Date, &c.Item, &limit, &c.Held, &c.Used); err != nil {
			return err
		}
		c.Cap = capOf(limit)
		balances.LoadCount(scope, c)
		return nil
	}, stmt("counter_lock"), keyRows(keys))
}

func capOf(limit sql.NullInt64) int64 {
	if !limit.Valid {
		return stock.Unlimited
	}
	return limit.Int64
}

// QueueDeltas writes the changes of the counters in the balances. The changes are differences and not sums. Each row
// must exist: an update that finds fewer rows fails the transaction, because units would be lost silently.
func QueueDeltas(tx sqldb.Tx, balances *stock.Balances) {
	var quotas, items counterChanges
	balances.Deltas(func(k stock.Key, c stock.Counter) {
		if k.Scope.IsStock() {
			items.add(k, c)
		} else {
			quotas.add(k, c)
		}
	})
	if n := len(quotas.keys); n > 0 {
		tx.QueueExactly(int64(n), stmt("counter_add"), keyRows(quotas.keys).
			Int("held", func(i int) int64 { return quotas.counters[i].DeltaHeld }).
			Int("used", func(i int) int64 { return quotas.counters[i].DeltaUsed }))
	}
	queueItemDeltas(tx, items)
}

// QueueUsed counts units of orders that were sold elsewhere, and creates missing counters. It locks the counters in their
// order.
func QueueUsed(tx sqldb.Tx, used map[stock.Key]int64) {
	keys := slices.SortedFunc(maps.Keys(used), compareKeys)
	if len(keys) == 0 {
		return
	}
	tx.Queue(stmt("counter_ensure"), keyRows(keys))
	tx.QueueExactly(int64(len(keys)), stmt("counter_add"), keyRows(keys).
		Int("held", func(int) int64 { return 0 }).Int("used", func(i int) int64 { return used[keys[i]] }))
}

type counterChanges struct {
	keys     []stock.Key
	counters []stock.Counter
}

func (c *counterChanges) add(k stock.Key, n stock.Counter) {
	c.keys, c.counters = append(c.keys, k), append(c.counters, n)
}

// Counts returns a scope's counters without locking them. They are compared with the admission cache, so they may be
// slightly outdated.
func (l *Store) Counts(ctx context.Context, s stock.Scope) ([]stock.Count, error) {
	return counts(ctx, l.db, s)
}

func counts(ctx context.Context, c sqldb.Reader, s stock.Scope) ([]stock.Count, error) {
	if s.IsStock() {
		return sqldb.Collect(ctx, c, scanItemCount, stmt("inventory_select_branch"), s.Branch)
	}
	return sqldb.Collect(ctx, c, scanCount, stmt("counter_select_scope"), s.Branch, s.Date)
}

// OpenHolds returns the number of unpaid holds of a business date that contain a menu item, and their units of it.
func (l *Store) OpenHolds(ctx context.Context, s stock.Scope, item int64) (holds, units int64, err error) {
	open, err := sqldb.Collect(ctx, l.db, scanHold, stmt("hold_open"), s.Branch, s.Date)
	for _, h := range open {
		for _, line := range h.Hold.Lines {
			if line.Item == item {
				holds, units = holds+1, units+line.Qty
			}
		}
	}
	return holds, units, err
}

func scanCount(r sqldb.Rows) (c stock.Count, err error) {
	var limit sql.NullInt64
	err = r.Scan(&c.Item, &limit, &c.Held, &c.Used)
	c.Cap = capOf(limit)
	return c, err
}

// SetCap changes the cap of an item from a business date on and queues the change for the admission cache. It runs in
// the caller's transaction; nil means unlimited. Later dates without a counter take the standing quota when their
// counter is created.
func SetCap(ctx context.Context, tx sqldb.Tx, s stock.Scope, item int64, quota *int64, now time.Time) error {
	key := []stock.Key{{Scope: s, Item: item}}
	if _, err := tx.Exec(ctx, stmt("counter_ensure"), keyRows(key)); err != nil {
		return err
	}
	dates, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("counter_cap"), s.Branch, item, s.Date, quota)
	if err != nil {
		return err
	}
	limit := stock.Unlimited
	if quota != nil {
		limit = *quota
	}
	ops := make([]stock.Op, len(dates))
	for i, d := range dates {
		ops[i] = stock.Op{Kind: stock.OpCap, Hold: stock.Hold{
			Scope: stock.Scope{Branch: s.Branch, Date: d}, Lines: []stock.Line{{Item: item, Qty: limit}},
		}}
	}
	_, err = QueueOps(tx, ops, func() string { return uid.New(now) }, now.UnixMilli()) // one entry per date
	return err
}
