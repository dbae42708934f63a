package stocksql

import (
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// queueLockItems locks the counters of stock items with the next flush and loads them into the balances. The thresholds
// are read by a second statement of the same round trip. In the locking statement they would be those from before the
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
	}, stmt("thing_marks"), sqldb.NewRowSet(len(keys)).Int("item", func(i int) int64 { return keys[i].Item }))
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

// scanItemCount reads a stock item's row as a count, the cap of which is the sum of all units. The table stores the
// available units, as the reference does; a Count has the sum, like that of a quota.
func scanItemCount(r sqldb.Rows) (c stock.Count, err error) {
	var available int64
	err = r.Scan(&c.Item, &available, &c.Held, &c.Used)
	c.Cap = available + c.Held + c.Used
	return c, err
}
