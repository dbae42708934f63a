package stocksql

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// AddVoucher creates the counter of a voucher, a stock item of kind VOUCHER, within the caller's transaction. It returns
// the counter's number. Such an item is not listed as stock, and its SKU contains a character that no SKU of another system
// may have, so nothing but orders takes its units.
func (r *Reservations) AddVoucher(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, branch, uses int64,
) (item int64, err error) {
	now := r.now()
	sku := "voucher/" + uid.New(now)
	item, err = sqldb.Scalar[int64](ctx, tx, stmt("voucher_counter_insert"), branch, sku, now.UnixMilli())
	if err != nil {
		return 0, err
	}
	tx.Queue(stmt("inventory_insert"), branch, sku)
	return item, r.setVoucherUses(ctx, tx, by, stock.Item{ID: item, Branch: branch, SKU: sku}, uses, now)
}

// SetVoucherUses changes how many uses a voucher has in all, within the caller's transaction. It returns
// stock.ErrInsufficientStock if more are taken.
func (r *Reservations) SetVoucherUses(ctx context.Context, tx sqldb.Tx, by authz.Actor, branch, item, uses int64) error {
	return r.setVoucherUses(ctx, tx, by, stock.Item{ID: item, Branch: branch}, uses, r.now())
}

// setVoucherUses adjusts a counter like a stock item: the adjustments add up to its units.
func (r *Reservations) setVoucherUses(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, t stock.Item, uses int64, now time.Time,
) error {
	key := stock.Key{Scope: stock.StockScope(t.Branch), Item: t.ID}
	balances := stock.NewBalances()
	QueueLock(tx, []stock.Key{key}, balances)
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	before, _ := balances.Count(key)
	available, outcome := balances.Adjust(key, uses-before.Cap, false)
	switch outcome {
	case stock.Applied:
	case stock.AlreadyApplied:
		return nil
	default:
		return stock.ErrInsufficientStock
	}
	a := stock.Adjustment{Branch: t.Branch, SKU: t.SKU, Kind: stock.Counted, Units: available}
	level := stock.Level{Item: t, Available: available, Reserved: before.Held, Sold: before.Used}
	queueAdjustment(tx, by, a, level, available-before.Left(), now)
	return r.queueCounted(tx, balances, key, now)
}
