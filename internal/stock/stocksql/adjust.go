package stocksql

import (
	"context"
	"errors"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// Adjust changes the available units of a stock item, writes an adjustment and an audit row, and queues the change for
// the admission cache. With a.Create it creates a missing item. An adjustment already made under the key of a is not
// repeated: Adjust returns the level that it left. It returns ErrKeyReused for the same key with other content.
func (r *Reservations) Adjust(ctx context.Context, by authz.Actor, a stock.Adjustment) (level stock.Level, err error) {
	for range maxAttempts {
		err = r.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
			level, err = r.adjust(ctx, tx, by, a)
			return err
		})
		if !errors.Is(err, sqldb.ErrUnique) { // the same key was used for another item at the same moment
			break
		}
	}
	return level, err
}

// adjust is one attempt of Adjust. The lock of the counter serializes adjustments of an item with each other and with
// sales.
func (r *Reservations) adjust(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, a stock.Adjustment,
) (level stock.Level, err error) {
	now, made := r.now(), false
	if a.Create {
		if made, err = ensureItem(ctx, tx, a.Branch, a.SKU, now); err != nil {
			return level, err
		}
	}
	found, err := Items(ctx, tx, a.Branch, []string{a.SKU})
	if err != nil {
		return level, err
	}
	if len(found) == 0 {
		return level, stock.ErrItemNotFound
	}
	key := stock.Key{Scope: stock.StockScope(a.Branch), Item: found[0].ID}
	balances, first := stock.NewBalances(), priorAdjustment{Level: stock.Level{Item: found[0]}}
	QueueLock(tx, []stock.Key{key}, balances)
	first.queue(tx, a) // read after the lock, so that a concurrent equal adjustment is found
	if err := tx.Flush(ctx); err != nil {
		return level, err
	}
	if first.digest != "" {
		return first.answer(a)
	}
	before, _ := balances.Count(key)
	units, set := a.Change()
	available, outcome := balances.Adjust(key, units, set)
	count, _ := balances.Count(key)
	level = stock.Level{Item: found[0], Available: available, Reserved: count.Held, Sold: count.Used}
	switch {
	case outcome == stock.Insufficient:
		return level, stock.ErrInsufficientStock.With("lines",
			[]stock.SKUShortage{{ItemID: a.SKU, Requested: a.Units, Available: available}})
	case outcome == stock.ExceedsMax:
		return level, stock.ErrLevelTooHigh.With("available", available).With("maximum", stock.MaxAvailable)
	case outcome == stock.AlreadyApplied && a.ClientTxnID == "" && !made:
		return level, nil
	}
	if outcome == stock.Applied || a.ClientTxnID != "" { // recorded even without a change, so that a repetition finds it
		queueAdjustment(tx, by, a, level, available-before.Left(), now)
	}
	switch {
	case outcome == stock.Applied:
		err = r.queueCounted(tx, balances, key, now)
	case made:
		err = r.queueCap(tx, count, key, now)
	}
	if err != nil || outcome == stock.AlreadyApplied && !made {
		return level, err
	}
	return level, auditsql.Record(ctx, tx, entryOf(by, a, before.Left(), available, now))
}

// entryOf returns the audit row of an adjustment. An adjustment that changes no number, such as one that only creates
// an item, is recorded as an edit.
func entryOf(by authz.Actor, a stock.Adjustment, before, after int64, now time.Time) audit.Entry {
	if before == after {
		return audit.NewEntry(by, now, audit.ActionStockEdited, "stockItem", a.SKU, a.Branch)
	}
	return audit.NewEntry(by, now, audit.ActionStockAdjusted, "stockItem", a.SKU, a.Branch).
		WithBefore(map[string]any{"available": before}).
		WithAfter(map[string]any{"available": after, "kind": a.Kind, "note": a.Note})
}

// queueCounted writes the changes of one item and, after the commit, passes them to the admission cache.
func (r *Reservations) queueCounted(tx sqldb.Tx, balances *stock.Balances, key stock.Key, now time.Time) error {
	QueueDeltas(tx, balances)
	outbox.Queue(tx, balances.LowStockEvents(now))
	count, _ := balances.Count(key)
	return r.queueCap(tx, count, key, now)
}

// queueCap passes the sum of an item's units to the admission cache after the commit. It is the new sum and not the
// difference, so applying it twice does no harm. A new item is passed on too: one that only SQL has is a difference, for
// which Reconcile rebuilds the whole scope.
func (r *Reservations) queueCap(tx sqldb.Tx, count stock.Count, key stock.Key, now time.Time) error {
	ops := []stock.Op{{Kind: stock.OpCap, Hold: stock.Hold{
		Scope: key.Scope, Lines: []stock.Line{{Item: key.Item, Qty: count.Cap}},
	}}}
	entries, err := QueueOps(tx, ops, func() string { return uid.New(now) }, now.UnixMilli())
	if err == nil {
		tx.OnCommit(func() { r.cache.EnqueueCommitted(entries) })
	}
	return err
}

func queueAdjustment(tx sqldb.Tx, by authz.Actor, a stock.Adjustment, l stock.Level, change int64, now time.Time) {
	var key *string
	digest := ""
	if a.ClientTxnID != "" {
		key, digest = &a.ClientTxnID, a.Digest()
	}
	tx.Queue(stmt("adjustment_insert"), uid.New(now), a.Branch, l.ID, string(a.Kind), change, l.Available, l.Reserved, l.Sold,
		a.Note, by.String(), now.UnixMilli(), key, digest)
}

// priorAdjustment is the result of an earlier adjustment under the same key; its digest is empty for none.
type priorAdjustment struct {
	stock.Level

	digest string
}

func (e *priorAdjustment) queue(tx sqldb.Tx, a stock.Adjustment) {
	if a.ClientTxnID == "" {
		return
	}
	tx.QueueQuery(func(rows sqldb.Rows) error {
		return rows.Scan(&e.digest, &e.Available, &e.Reserved, &e.Sold)
	}, stmt("adjustment_by_key"), a.Branch, a.ClientTxnID)
}

func (e *priorAdjustment) answer(a stock.Adjustment) (stock.Level, error) {
	if e.digest != a.Digest() {
		return stock.Level{}, stock.ErrKeyReused
	}
	return e.Level, nil
}
