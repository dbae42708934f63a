package stocksql

import (
	"context"
	"time"

	"comanda/internal/event/outbox"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Things finds stock items by what their owner calls them. Those that are not there are left out.
func (r *Reservations) Things(ctx context.Context, branch int64, skus []string) ([]stock.Thing, error) {
	return Things(ctx, r.db, branch, skus)
}

// Things is the same within a transaction.
func Things(ctx context.Context, c sqldb.Conn, branch int64, skus []string) ([]stock.Thing, error) {
	rows, err := c.Query(ctx, thingFind, sqldb.NewRowSet(len(skus)).
		Int("branch_id", func(int) int64 { return branch }).
		Text("sku", func(i int) string { return skus[i] }))
	return sqldb.Collect(rows, err, scanNamed)
}

func scanNamed(r sqldb.Rows) (t stock.Thing, err error) {
	err = r.Scan(&t.ID, &t.Branch, &t.SKU, &t.Name, &t.Unit, &t.LowAt)
	return t, err
}

// bring makes a stock item with nothing of it, and tells whether it was not there.
func bring(ctx context.Context, tx sqldb.Tx, branch int64, sku string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, thingInsert, branch, sku, now.UnixMilli())
	if n > 0 {
		tx.Queue(inventoryInsert, branch, sku)
	}
	return n > 0, err
}

// Add makes a stock item with nothing of it.
func (r *Reservations) Add(ctx context.Context, by identity.Actor, t stock.Thing) error {
	now := r.now()
	return r.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		made, err := bring(ctx, tx, t.Branch, t.SKU, now)
		if err != nil {
			return err
		}
		found, err := Things(ctx, tx, t.Branch, []string{t.SKU})
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return stock.ErrBranch
		case !made:
			return stock.ErrTaken
		}
		t.ID = found[0].ID
		update(tx, t, now)
		return identitysql.Record(ctx, tx,
			by.Did(now, identity.ActionStockEdited, "stockItem", t.SKU, t.Branch).To(described(t)))
	})
}

// Describe changes the name, the unit and the mark of a stock item.
func (r *Reservations) Describe(ctx context.Context, by identity.Actor, t stock.Thing) error {
	now := r.now()
	return r.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		rows, err := tx.Query(ctx, thingLock, t.ID)
		before, found, err := sqldb.One(rows, err, scanNamed)
		switch {
		case err != nil:
			return err
		case !found:
			return stock.ErrItem
		case before == t:
			return nil
		}
		if err := mark(ctx, tx, before, t.LowAt, now); err != nil {
			return err
		}
		update(tx, t, now)
		return identitysql.Record(ctx, tx, by.Did(now, identity.ActionStockEdited, "stockItem", t.SKU, t.Branch).
			From(described(before)).To(described(t)))
	})
}

// mark raises the alarm that a new mark asks for. The counter is locked until the mark stands, so that whoever takes units
// meanwhile goes by the one or by the other.
func mark(ctx context.Context, tx sqldb.Tx, t stock.Thing, lowAt int64, now time.Time) error {
	if lowAt == t.LowAt {
		return nil
	}
	key := stock.Key{Scope: stock.StockOf(t.Branch), Item: t.ID}
	book := stock.NewBook()
	QueueLock(tx, []stock.Key{key}, book)
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	book.Mark(key, lowAt)
	outbox.Queue(tx, book.Warnings(now))
	return nil
}

func update(tx sqldb.Tx, t stock.Thing, now time.Time) {
	var lowAt *int64
	if t.LowAt != stock.NoAlarm {
		lowAt = &t.LowAt
	}
	tx.QueueExactly(1, thingUpdate, t.ID, t.Name, t.Unit, lowAt, now.UnixMilli())
}

// described is a stock item as the audit log writes it.
func described(t stock.Thing) map[string]any {
	return map[string]any{"name": t.Name, "unit": t.Unit, "lowAt": t.LowAt}
}
