package orderingsql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"comanda/internal/cart/cartsql"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

// loader loads and locks everything that a batch's commands touch, in the package's lock order. It is used for one
// batch.
type loader struct {
	tx    sqldb.Tx
	batch *ordering.Batch
}

// load reads the lines of existing holds first and without locks: the lines name the counters, which must be locked
// before the holds. Statements that are queued afterwards travel with the first flush, which saves round trips.
func (l *loader) load(ctx context.Context, commands []ordering.Command) error {
	var places []*ordering.Place
	existing, moving, marked := map[string]struct{}{}, map[string]struct{}{}, map[string]struct{}{}
	// Counting unpaid orders costs two statements, which an installation without limits does not need.
	limited := false
	for _, c := range commands {
		switch c := c.(type) {
		case *ordering.Place:
			places = append(places, c)
			limited = limited || c.Limits != ordering.Limits{}
		// The kitchen must not wait for the counters of popular items.
		case *ordering.Step:
			existing[c.Target()] = struct{}{}
		case *ordering.MarkItem:
			existing[c.Target()], marked[c.Target()] = struct{}{}, struct{}{}
		default:
			existing[c.Target()], moving[c.Target()] = struct{}{}, struct{}{}
		}
	}
	// Orders are locked in the order of their ids.
	ids := slices.Sorted(maps.Keys(existing))
	held, err := l.holdsOf(ctx, slices.Sorted(maps.Keys(moving)))
	if err != nil {
		return err
	}
	stocksql.QueueLock(l.tx, stocksql.KeysOf(placedHolds(places), holdsIn(held)), l.batch.Balances)
	l.queueForPlacing(places, limited)
	if err := l.lockHolds(ctx, held); err != nil {
		return err
	}
	if err := l.lockOrders(ctx, ids, slices.Collect(maps.Keys(marked))); err != nil {
		return err
	}
	// loadLate comes last, because it depends on the state of the locked orders.
	return l.loadLate(ctx, commands)
}

// loadLate reads the items of canceled orders that are paid, which visits are open, which branches are paused and which
// options are off: only with an open visit and branch, and with all options, can a late payment revive its order. It
// includes orders that this batch itself ends.
func (l *loader) loadLate(ctx context.Context, commands []ordering.Command) error {
	paid, ended := map[string]bool{}, map[string]bool{}
	for _, c := range commands {
		switch c := c.(type) {
		case *ordering.Settle:
			if c.State == payment.Paid {
				paid[c.OrderID] = true
			}
		case *ordering.End:
			ended[c.OrderID] = true
		}
	}
	var late []*ordering.Order
	var withoutItems []string
	for id := range paid {
		if o := l.batch.Orders[id]; o != nil && (o.Status == ordering.Canceled || ended[id]) {
			late = append(late, o)
			if o.Items == nil {
				withoutItems = append(withoutItems, id)
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	l.queueItems(withoutItems)
	if err := l.tx.Flush(ctx); err != nil {
		return err
	}
	visits, branches := map[string]struct{}{}, map[int64]struct{}{}
	options, vouchers := map[ordering.OptionAt]struct{}{}, map[ordering.VoucherUser]struct{}{}
	for _, o := range late {
		visits[o.VisitID], branches[o.Scope.Branch] = struct{}{}, struct{}{}
		for _, option := range o.OptionIDs() {
			options[ordering.OptionAt{Branch: o.Scope.Branch, Option: option}] = struct{}{}
		}
		if o.Voucher != 0 {
			vouchers[o.VoucherUser()] = struct{}{}
		}
	}
	l.tx.QueueQuery(l.readOpen, stmt("open_select"), sqldb.IDs(slices.Collect(maps.Keys(visits))), numberRows(nil),
		numberRows(branches), l.batch.Now.UnixMilli())
	l.queueOffOptions(options)
	l.queueVouchers(vouchers)
	return l.tx.Flush(ctx)
}

// queueForPlacing queues the reads for new orders other than those of counters. They are independent of each other, so
// they share one round trip. Statements that lock come first, in lock order. The orders of repeated keys are read last.
func (l *loader) queueForPlacing(places []*ordering.Place, limited bool) {
	if len(places) == 0 {
		return
	}
	l.queueNumbers(scopesOf(places))
	l.queueCarts(places)
	l.queueOpen(places)
	l.queuePlacedOptions(places)
	l.queuePlacedVouchers(places)
	if limited {
		l.queueUnpaid(places)
		l.queueUnpaidOfMembers(places)
	}
	l.queuePrior(places)
}

// placedHolds returns the holds that new orders will take.
func placedHolds(places []*ordering.Place) []stock.Hold {
	holds := make([]stock.Hold, len(places))
	for i, p := range places {
		holds[i] = p.Hold
	}
	return holds
}

func holdsIn(held []stock.HoldState) []stock.Hold {
	holds := make([]stock.Hold, len(held))
	for i, h := range held {
		holds[i] = h.Hold
	}
	return holds
}

// holdsOf reads the holds of existing orders with their lines, without locks: lines never change.
func (l *loader) holdsOf(ctx context.Context, ids []string) ([]stock.HoldState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	holds, err := sqldb.Collect(ctx, l.tx, sqldb.Value[string], stmt("order_holds"), sqldb.IDs(ids))
	if err != nil {
		return nil, err
	}
	return stocksql.Holds(ctx, l.tx, holds)
}

// scopesOf returns the scopes of new orders in lock order, each once.
func scopesOf(places []*ordering.Place) []stock.Scope {
	set := map[stock.Scope]struct{}{}
	for _, p := range places {
		set[p.Order.Scope] = struct{}{}
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b stock.Scope) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Date, b.Date))
	})
}

func scopeRows(scopes []stock.Scope) *sqldb.RowSet {
	return sqldb.NewRowSet(len(scopes)).
		Int("branch_id", func(i int) int64 { return scopes[i].Branch }).
		Text("biz_date", func(i int) string { return scopes[i].Date })
}

// queueNumbers locks the last number of each scope. Before the lock it always queues an insertion of missing rows,
// which are needed once per business date. An insertion after carts are locked could deadlock with transactions that
// hold numbers and wait for carts.
func (l *loader) queueNumbers(scopes []stock.Scope) {
	l.tx.Queue(stmt("number_ensure"), scopeRows(scopes))
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		var s stock.Scope
		var last int64
		err := rows.Scan(&s.Branch, &s.Date, &last)
		l.batch.Numbers[s] = last
		return err
	}, stmt("number_lock"), scopeRows(scopes))
}

// queueOpen reads the preconditions of new orders: an open visit, a published version, a branch that is not paused. It
// locks none of them.
func (l *loader) queueOpen(places []*ordering.Place) {
	visits, versions, branches := visitsOf(places), map[int64]struct{}{}, map[int64]struct{}{}
	for _, p := range places {
		branches[p.Order.Scope.Branch] = struct{}{}
		for _, v := range p.Versions {
			versions[v] = struct{}{}
		}
	}
	l.tx.QueueQuery(l.readOpen, stmt("open_select"), sqldb.IDs(visits), numberRows(versions), numberRows(branches),
		l.batch.Now.UnixMilli())
}

// queuePlacedOptions reads which options of new orders are off.
func (l *loader) queuePlacedOptions(places []*ordering.Place) {
	set := map[ordering.OptionAt]struct{}{}
	for _, p := range places {
		for _, option := range p.Options {
			set[ordering.OptionAt{Branch: p.Order.Scope.Branch, Option: option}] = struct{}{}
		}
	}
	l.queueOffOptions(set)
}

// queueOffOptions reads which options are off. Orders without options cost no statement.
func (l *loader) queueOffOptions(set map[ordering.OptionAt]struct{}) {
	if len(set) == 0 {
		return
	}
	named := slices.Collect(maps.Keys(set))
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		var at ordering.OptionAt
		err := rows.Scan(&at.Branch, &at.Option)
		l.batch.OffOptions[at] = true
		return err
	}, stmt("option_off"), sqldb.NewRowSet(len(named)).
		Int("branch_id", func(i int) int64 { return named[i].Branch }).
		Int("choice_id", func(i int) int64 { return named[i].Option }))
}

// queuePlacedVouchers reads who has used the vouchers of new orders. The counters of the vouchers are locked, so no other
// transaction places or ends an order with them meanwhile.
func (l *loader) queuePlacedVouchers(places []*ordering.Place) {
	set := map[ordering.VoucherUser]struct{}{}
	for _, p := range places {
		if p.Order.Voucher != 0 {
			set[p.Order.VoucherUser()] = struct{}{}
		}
	}
	l.queueVouchers(set)
}

// queueVouchers reads the orders of members with vouchers that each member may use once.
func (l *loader) queueVouchers(set map[ordering.VoucherUser]struct{}) {
	if len(set) == 0 {
		return
	}
	named := slices.Collect(maps.Keys(set))
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		var use ordering.VoucherUser
		var order string
		err := rows.Scan(&use.Voucher, &use.User, &order)
		l.batch.VoucherOrders[use] = append(l.batch.VoucherOrders[use], order)
		return err
	}, stmt("voucher_orders"), sqldb.NewRowSet(len(named)).
		Int("voucher_id", func(i int) int64 { return named[i].Voucher }).
		Int("user_id", func(i int) int64 { return named[i].User }))
}

// numberRows returns a set of ids as rows. Their order does not matter, because no statement locks by them.
func numberRows(set map[int64]struct{}) *sqldb.RowSet {
	return sqldb.IDs(slices.Collect(maps.Keys(set)))
}

// readOpen reads a row of open_select: a kind and an id. A visit without a row is closed, a version without a row is
// not published, and a branch without a row is not paused.
func (l *loader) readOpen(rows sqldb.Rows) error {
	var kind, id string
	if err := rows.Scan(&kind, &id); err != nil {
		return err
	}
	if kind == "visit" {
		l.batch.Visits[id] = true
		return nil
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	if kind == "paused" {
		l.batch.Paused[n] = true
	} else {
		l.batch.Versions[n] = true
	}
	return nil
}

func visitsOf(places []*ordering.Place) []string {
	set := map[string]struct{}{}
	for _, p := range places {
		set[p.Order.VisitID] = struct{}{}
	}
	return slices.Collect(maps.Keys(set))
}

// queueUnpaid counts the unpaid orders of the visits, and of each phone within them.
func (l *loader) queueUnpaid(places []*ordering.Place) {
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		var visit, guest string
		var n int
		err := rows.Scan(&visit, &guest, &n)
		l.batch.Unpaid[visit] += n
		l.batch.Unpaid[guest] += n
		return err
	}, stmt("unpaid_count"), sqldb.IDs(visitsOf(places)))
}

// membersOf returns the members who place orders in lock order, each once.
func membersOf(places []*ordering.Place) []int64 {
	set := map[int64]struct{}{}
	for _, p := range places {
		if p.Order.UserID != 0 {
			set[p.Order.UserID] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// queueUnpaidOfMembers counts the unpaid orders of members, in all branches.
func (l *loader) queueUnpaidOfMembers(places []*ordering.Place) {
	members := membersOf(places)
	if len(members) == 0 {
		return
	}
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		var user int64
		var n int
		err := rows.Scan(&user, &n)
		l.batch.Unpaid[ordering.MemberKey(user)] += n
		return err
	}, stmt("unpaid_count_member"), sqldb.IDs(members))
}

// queueCarts locks the carts whose lines are ordered, of members and of visits. A concurrent change of a cart waits
// for this transaction, so the order has exactly the lines that are removed from the cart.
func (l *loader) queueCarts(places []*ordering.Place) {
	if members := membersOf(places); len(members) > 0 {
		cartsql.QueueLock(l.tx, members, l.batch.Carts)
	}
	named := map[string][]string{}
	for _, p := range places {
		for _, line := range p.SharedLines {
			named[p.Order.VisitID] = append(named[p.Order.VisitID], line.ID)
		}
	}
	if len(named) > 0 {
		cartsql.QueueLockShared(l.tx, named, l.batch.SharedCarts)
	}
}

// lockHolds flushes everything queued and locks the holds of existing orders in the same round trip.
func (l *loader) lockHolds(ctx context.Context, held []stock.HoldState) error {
	if len(held) == 0 {
		return l.tx.Flush(ctx)
	}
	// Holds are locked by id.
	slices.SortFunc(held, func(a, b stock.HoldState) int { return cmp.Compare(a.Hold.ID, b.Hold.ID) })
	return stocksql.LockHolds(ctx, l.tx, held, l.batch.Balances)
}

// lockOrders locks orders and reads the rows that these locks protect: attempts, refunds, and the items of orders with
// marked lines. Few other commands need items, see loadLate. One flush sends all statements. The lock is the first one, so
// the others read the protected state.
func (l *loader) lockOrders(ctx context.Context, ids, marked []string) error {
	if len(ids) == 0 {
		return nil
	}
	l.tx.QueueQuery(sqldb.Scanned(scanOrder, func(o ordering.Order) { l.batch.Orders[o.ID] = &o }),
		stmt("order_lock"), sqldb.IDs(ids))
	l.queueItems(marked)
	paymentsql.QueueSelect(l.tx, ids,
		func(a payment.Attempt) { l.batch.Attempts[a.OrderID] = append(l.batch.Attempts[a.OrderID], a) },
		func(r payment.Refund) {
			l.batch.RefundsByOrder[r.OrderID] = append(l.batch.RefundsByOrder[r.OrderID], r)
		})
	if err := l.tx.Flush(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if o := l.batch.Orders[id]; o != nil && len(l.batch.Attempts[id]) == 0 {
			l.batch.Attempts[id] = []payment.Attempt{o.FirstAttempt()}
		}
	}
	return nil
}

// queueItems reads the items of locked orders.
func (l *loader) queueItems(ids []string) {
	if len(ids) == 0 {
		return
	}
	l.tx.QueueQuery(func(rows sqldb.Rows) error {
		id, it, err := scanItem(rows)
		if err != nil {
			return err
		}
		o := l.batch.Orders[id]
		o.Items = append(o.Items, it)
		return nil
	}, stmt("item_select"), sqldb.IDs(ids))
}
