package orderingsql

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/uid"
)

// History writes imported orders. It implements ordering.HistoryStore.
type History struct {
	db    *sqldb.DB
	names *itemNames
}

// NewHistory returns a History on a database.
func NewHistory(db *sqldb.DB) *History { return &History{db, newItemNames(db)} }

// Dishes implements ordering.HistoryStore.
func (h *History) Dishes(ctx context.Context) (map[int64]catalog.Texts, error) {
	all := map[int64]catalog.Texts{}
	err := sqldb.Each(ctx, h.db, func(r sqldb.Rows) error {
		var id int64
		var names catalog.Texts
		err := r.Scan(&id, sqldb.JSON(&names))
		all[id] = names
		return err
	}, stmt("history_dishes"))
	return all, err
}

// Members implements ordering.HistoryStore.
func (h *History) Members(ctx context.Context, ids []int64) (map[int64]bool, error) {
	found, err := sqldb.Collect(ctx, h.db, sqldb.Value[int64], stmt("history_members"), sqldb.IDs(ids))
	all := map[int64]bool{}
	for _, id := range found {
		all[id] = true
	}
	return all, err
}

// Existing implements ordering.HistoryStore.
func (h *History) Existing(ctx context.Context, orders []*ordering.Order) (map[string]bool, error) {
	rows := sqldb.NewRowSet(len(orders)).Text("id", func(i int) string { return orders[i].ID }).
		Int("branch_id", func(i int) int64 { return orders[i].Scope.Branch }).
		Text("key", func(i int) string { return orders[i].ClientTxnID })
	all, err := sqldb.Map[string, string](ctx, h.db, stmt("history_existing_keys"), rows)
	if err != nil {
		return nil, err
	}
	ids := seq.Map(orders, func(o *ordering.Order) string { return o.ID })
	digests, err := sqldb.Map[string, string](ctx, h.db, stmt("history_existing"), sqldb.IDs(ids))
	maps.Copy(all, digests)
	existing := map[string]bool{}
	for id, digest := range all {
		existing[id] = digest == ordering.HistoryDigest
	}
	return existing, err
}

// Numbered implements ordering.HistoryStore.
func (h *History) Numbered(ctx context.Context, orders []*ordering.Order) (map[string]bool, error) {
	return numbered(ctx, h.db, orders)
}

func numbered(ctx context.Context, conn sqldb.Reader, orders []*ordering.Order) (map[string]bool, error) {
	orders = seq.Filter(orders, func(o *ordering.Order) bool { return o.Number > 0 })
	found, err := sqldb.Collect(ctx, conn, sqldb.Value[string], stmt("history_numbered"), sqldb.NewRowSet(len(orders)).
		Text("id", func(i int) string { return orders[i].ID }).
		Int("branch_id", func(i int) int64 { return orders[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return orders[i].Scope.Date }).
		Int("number", func(i int) int64 { return orders[i].Number }))
	all := map[string]bool{}
	for _, id := range found {
		all[id] = true
	}
	return all, err
}

// errHistoryMenu refuses orders of a branch that has no menu, because a unit is counted by the item of a menu.
var errHistoryMenu = fault.New(fault.Conflict, "import_conflict",
	"The branch needs a menu before its past orders are imported.")

// errHistoryChanged reports that another process has written an order with the id or the number of one since it was
// checked.
var errHistoryChanged = fault.New(fault.Conflict, "import_conflict",
	"The data has changed during the import. Please import again.")

// AddHistory implements ordering.HistoryStore. It locks in the order of the ledger: counters, numbers, then new rows.
func (h *History) AddHistory(ctx context.Context, orders []*ordering.Order, highest map[stock.Scope]int64) error {
	for _, o := range orders {
		if err := h.names.Set(ctx, o.Items); err != nil {
			return err
		}
	}
	err := h.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := setMenuItems(ctx, tx, orders); err != nil {
			return err
		}
		holds, used, err := historyHolds(orders)
		if err != nil {
			return err
		}
		stocksql.QueueUsed(tx, used)
		if err := numberHistory(ctx, tx, orders, highest); err != nil {
			return err
		}
		now := h.db.Now()
		attempts, refunds := historyPayments(orders)
		stocksql.QueueHolds(tx, holds, now.UnixMilli())
		queueOrders(tx, orders)
		queueItems(tx, orders)
		queueDaybook(tx, ordering.HistoryDays(orders))
		paymentsql.QueueAttempts(tx, attempts)
		paymentsql.QueueRefunds(tx, refunds)
		ids := make([]string, len(orders))
		refunded := map[string]int64{}
		for i, o := range orders {
			ids[i] = o.ID
			if o.Refunded > 0 {
				refunded[o.ID] = o.Refunded
			}
		}
		if len(refunded) > 0 {
			of := slices.Sorted(maps.Keys(refunded))
			tx.QueueExactly(int64(len(of)), stmt("history_refunded"), sqldb.NewRowSet(len(of)).
				Text("id", func(i int) string { return of[i] }).Int("amount", func(i int) int64 { return refunded[of[i]] }))
		}
		documentsql.Queue(tx, now, documentsql.Change{Entity: "order", IDs: ids},
			documentsql.Change{Entity: "orderDetail", IDs: ids})
		return nil
	})
	if errors.Is(err, sqldb.ErrUnique) {
		return errHistoryChanged.Because(err)
	}
	return err
}

// branchDish is a dish as a branch sells it.
type branchDish struct{ branch, dish int64 }

// setMenuItems sets the menu items of the lines. A dish that the branch has never offered gets an item on the branch's first
// menu, which no version of the menu shows.
func setMenuItems(ctx context.Context, tx sqldb.Tx, orders []*ordering.Order) error {
	wanted := map[branchDish]int64{}
	for _, o := range orders {
		for _, it := range o.Items {
			wanted[branchDish{o.Scope.Branch, it.DishID}] = 0
		}
	}
	all := slices.SortedFunc(maps.Keys(wanted), func(a, b branchDish) int {
		return cmp.Or(cmp.Compare(a.branch, b.branch), cmp.Compare(a.dish, b.dish))
	})
	rows := func() *sqldb.RowSet {
		return sqldb.NewRowSet(len(all)).Int("branch", func(i int) int64 { return all[i].branch }).
			Int("dish", func(i int) int64 { return all[i].dish })
	}
	tx.Queue(stmt("history_item_ensure"), rows())
	err := sqldb.Each(ctx, tx, func(r sqldb.Rows) error {
		var of branchDish
		var item int64
		err := r.Scan(&of.branch, &of.dish, &item)
		wanted[of] = item
		return err
	}, stmt("history_items"), rows())
	if err != nil {
		return err
	}
	for _, o := range orders {
		for i := range o.Items {
			it := &o.Items[i]
			if it.ItemID = wanted[branchDish{o.Scope.Branch, it.DishID}]; it.ItemID == 0 {
				return errHistoryMenu
			}
		}
	}
	return nil
}

// historyHolds returns the holds of orders as they ended, and the units that count as used.
func historyHolds(orders []*ordering.Order) (holds []stock.NewHold, used map[stock.Key]int64, err error) {
	used = map[stock.Key]int64{}
	for _, o := range orders {
		lines := make([]stock.Line, len(o.Items))
		for i, it := range o.Items {
			lines[i] = stock.Line{Item: it.ItemID, Qty: it.Qty}
		}
		merged, err := stock.MergeLines(lines)
		if err != nil {
			return nil, nil, err
		}
		h := stock.NewHold{State: stock.Confirmed}
		h.Hold = stock.Hold{ID: o.HoldID, Scope: o.Scope, Lines: merged, Until: o.ExpiresAt}
		if o.Status == ordering.Canceled {
			h.State, h.Reason = stock.Released, string(o.CancelReason)
		} else {
			for _, l := range h.Lines {
				used[stock.Key{Scope: o.Scope, Item: l.Item}] += l.Qty
			}
		}
		holds = append(holds, h)
	}
	return holds, used, nil
}

// numberHistory sets the numbers of orders without one to the next ones of their business date, and raises the last numbers,
// by which orders are found. highest are those of the file: an order of a later batch may have one.
func numberHistory(
	ctx context.Context, tx sqldb.Tx, orders []*ordering.Order, highest map[stock.Scope]int64,
) error {
	last := map[stock.Scope]int64{}
	for _, o := range orders {
		last[o.Scope] = 0
	}
	scopes := slices.SortedFunc(maps.Keys(last), func(a, b stock.Scope) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Date, b.Date))
	})
	tx.Queue(stmt("number_ensure"), scopeRows(scopes))
	err := sqldb.Each(ctx, tx, func(r sqldb.Rows) error {
		var s stock.Scope
		var n int64
		err := r.Scan(&s.Branch, &s.Date, &n)
		last[s] = max(n, highest[s])
		return err
	}, stmt("number_lock"), scopeRows(scopes))
	if err != nil {
		return err
	}
	// No unique index has the numbers: under the lock they are compared again, because two imports may run at once.
	if taken, err := numbered(ctx, tx, orders); err != nil || len(taken) > 0 {
		return cmp.Or(err, error(errHistoryChanged))
	}
	for _, o := range orders {
		if o.Number == 0 {
			last[o.Scope]++
			o.Number = last[o.Scope]
		}
	}
	tx.Queue(stmt("number_set"), scopeRows(scopes).Int("last", func(i int) int64 { return last[scopes[i]] }))
	return nil
}

// historyPayments returns the captures of paid orders, and the refunds of those that were refunded (I6).
func historyPayments(orders []*ordering.Order) (attempts []payment.Attempt, refunds []payment.Refund) {
	for _, o := range orders {
		if o.PaymentStatus != ordering.Paid && o.PaymentStatus != ordering.Refunded {
			continue
		}
		a := payment.Attempt{
			ID: o.ID, OrderID: o.ID, Method: o.Method, Amount: o.Total, Currency: o.Currency, State: payment.Paid,
			CreatedAt: o.CreatedAt, SettledAt: o.PaidAt,
		}
		attempts = append(attempts, a)
		if o.Refunded > 0 {
			refunds = append(refunds, payment.Refund{
				ID: uid.Named(o.UpdatedAt, "refund", o.ID), OrderID: o.ID, AttemptID: a.ID, Method: o.Method, Amount: o.Refunded,
				Currency: o.Currency, State: payment.RefundDone, Reason: payment.RefundedByStaff, By: authz.System().String(),
				CreatedAt: o.UpdatedAt, DoneAt: o.UpdatedAt,
			})
		}
	}
	return attempts, refunds
}
