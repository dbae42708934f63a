package stocksql

import (
	"context"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Items returns stock items by SKU. Missing ones are left out.
func (r *Reservations) Items(ctx context.Context, branch int64, skus []string) ([]stock.Item, error) {
	return Items(ctx, r.db, branch, skus)
}

// Items is Reservations.Items within a transaction.
func Items(ctx context.Context, c sqldb.Conn, branch int64, skus []string) ([]stock.Item, error) {
	return sqldb.Collect(ctx, c, scanItem, stmt("stock_item_find"), sqldb.NewRowSet(len(skus)).
		Int("branch_id", func(int) int64 { return branch }).
		Text("sku", func(i int) string { return skus[i] }))
}

var scanItem = sqldb.Row(func(t *stock.Item) []any {
	return []any{&t.ID, &t.Branch, &t.SKU, &t.Name, &t.Unit, &t.LowAt}
})

// ensureItem creates a missing stock item without units and reports whether it did. If two processes create the same
// item, one of them inserts it and the other finds it. In an unknown branch nothing is created.
func ensureItem(ctx context.Context, tx sqldb.Tx, branch int64, sku string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, stmt("stock_item_insert"), branch, sku, now.UnixMilli())
	if n > 0 {
		tx.Queue(stmt("inventory_insert"), branch, sku)
	}
	return n > 0, err
}

// Add creates a stock item without units.
func (r *Reservations) Add(ctx context.Context, by authz.Actor, t stock.Item) error {
	now := r.now()
	return r.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		made, err := ensureItem(ctx, tx, t.Branch, t.SKU, now)
		if err != nil {
			return err
		}
		found, err := Items(ctx, tx, t.Branch, []string{t.SKU})
		switch {
		case err != nil:
			return err
		// The statement inserts only into an existing branch.
		case len(found) == 0:
			return stock.ErrBranchNotFound
		case !made:
			return stock.ErrItemExists
		}
		t.ID = found[0].ID
		update(tx, t, now)
		key := stock.Key{Scope: stock.StockScope(t.Branch), Item: t.ID}
		if err := r.queueCap(tx, stock.Count{Item: t.ID}, key, now); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionStockEdited, "stockItem", t.SKU, t.Branch).WithAfter(auditText(t)))
	})
}

// Update changes the name, unit and alarm threshold of a stock item.
func (r *Reservations) Update(ctx context.Context, by authz.Actor, t stock.Item) error {
	now := r.now()
	return r.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		before, found, err := sqldb.One(ctx, tx, scanItem, stmt("stock_item_lock"), t.ID)
		switch {
		case err != nil:
			return err
		case !found:
			return stock.ErrItemNotFound
		case before == t:
			return nil
		}
		if err := setThreshold(ctx, tx, before, t.LowAt, now); err != nil {
			return err
		}
		update(tx, t, now)
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionStockEdited, "stockItem", t.SKU, t.Branch).
				WithBefore(auditText(before)).WithAfter(auditText(t)))
	})
}

// setThreshold publishes the low-stock event that a new threshold causes. The counter stays locked until the commit,
// so that a concurrent sale sees either the old or the new threshold.
func setThreshold(ctx context.Context, tx sqldb.Tx, t stock.Item, lowAt int64, now time.Time) error {
	if lowAt == t.LowAt {
		return nil
	}
	key := stock.Key{Scope: stock.StockScope(t.Branch), Item: t.ID}
	balances := stock.NewBalances()
	QueueLock(tx, []stock.Key{key}, balances)
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	balances.SetThreshold(key, lowAt)
	outbox.Queue(tx, balances.LowStockEvents(now))
	return nil
}

func update(tx sqldb.Tx, t stock.Item, now time.Time) {
	var lowAt *int64
	if t.LowAt != stock.NoAlarm {
		lowAt = &t.LowAt
	}
	tx.QueueExactly(1, stmt("stock_item_update"), t.ID, t.Name, t.Unit, lowAt, now.UnixMilli())
}

// auditText returns a stock item in the form of the audit log.
func auditText(t stock.Item) map[string]any {
	return map[string]any{"name": t.Name, "unit": t.Unit, "lowAt": t.LowAt}
}

// queueLockItems locks the counters of stock items with the next flush and loads them into the balances. A second
// statement of the same round trip reads the thresholds. The locking statement would return thresholds from before its
// wait for the lock.
func queueLockItems(tx sqldb.Tx, keys []stock.Key, balances *stock.Balances) {
	if len(keys) == 0 {
		return
	}
	counts := make(map[int64]stock.Count, len(keys))
	tx.QueueQuery(sqldb.Scanned(scanItemCount, func(c stock.Count) { counts[c.Item] = c }),
		stmt("inventory_lock"), itemKeyRows(keys))
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var t stock.Item
		if err := rows.Scan(&t.ID, &t.Branch, &t.SKU, &t.LowAt); err != nil {
			return err
		}
		if c, ok := counts[t.ID]; ok {
			balances.LoadItem(t, c)
		}
		return nil
	}, stmt("stock_item_low_at"), sqldb.NewRowSet(len(keys)).Int("item", func(i int) int64 { return keys[i].Item }))
}

func itemKeyRows(keys []stock.Key) *sqldb.RowSet {
	return sqldb.NewRowSet(len(keys)).
		Int("branch_id", func(i int) int64 { return keys[i].Scope.Branch }).
		Int("item", func(i int) int64 { return keys[i].Item })
}

// queueItemDeltas writes the changes of stock items.
func queueItemDeltas(tx sqldb.Tx, c counterChanges) {
	n := len(c.keys)
	if n == 0 {
		return
	}
	tx.QueueExactly(int64(n), stmt("inventory_add"), itemKeyRows(c.keys).
		Int("available", func(i int) int64 {
			d := c.counters[i]
			return d.DeltaCap - d.DeltaHeld - d.DeltaUsed
		}).
		Int("reserved", func(i int) int64 { return c.counters[i].DeltaHeld }).
		Int("sold", func(i int) int64 { return c.counters[i].DeltaUsed }))
}

// scanItemCount reads a stock item's row as a count whose cap is the sum of all units. The table stores the available
// units, as inventory-tcc.md does; a Count has the sum, like the Count of a quota.
func scanItemCount(r sqldb.Rows) (c stock.Count, err error) {
	var available int64
	err = r.Scan(&c.Item, &available, &c.Held, &c.Used)
	c.Cap = available + c.Held + c.Used
	return c, err
}
