package orderingsql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"comanda/internal/ordering"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

// loader fills a batch with what its commands touch, taking locks in the one order.
type loader struct {
	tx    sqldb.Tx
	batch *ordering.Batch
}

func (l *loader) load(ctx context.Context, commands []ordering.Command) error {
	var places []*ordering.Place
	existing := map[string]struct{}{}
	limited := false
	for _, c := range commands {
		if c.Place != nil {
			places = append(places, c.Place)
			limited = limited || c.Place.Limits != ordering.Limits{}
		} else {
			existing[c.OrderID()] = struct{}{}
		}
	}
	ids := slices.Sorted(maps.Keys(existing))
	if err := l.enterKeys(ctx, places); err != nil {
		return err
	}
	held, err := l.holdsOf(ctx, ids)
	if err != nil {
		return err
	}
	if err := stocksql.LockCounters(ctx, l.tx, stocksql.KeysOf(wanted(places), plain(held)), l.batch.Book); err != nil {
		return err
	}
	if len(places) > 0 {
		if err := l.loadForPlacing(ctx, places, limited); err != nil {
			return err
		}
	}
	return l.lockOrders(ctx, ids, held)
}

// loadForPlacing reads what a new order depends on besides its counters.
func (l *loader) loadForPlacing(ctx context.Context, places []*ordering.Place, limited bool) error {
	if err := l.lockNumbers(ctx, places); err != nil {
		return err
	}
	if err := l.loadOpen(ctx, places); err != nil {
		return err
	}
	if limited {
		return l.loadUnpaid(ctx, places)
	}
	return nil
}

func wanted(places []*ordering.Place) []stock.Hold {
	holds := make([]stock.Hold, len(places))
	for i, p := range places {
		holds[i] = p.Hold
	}
	return holds
}

func plain(held []stock.HoldState) []stock.Hold {
	holds := make([]stock.Hold, len(held))
	for i, h := range held {
		holds[i] = h.Hold
	}
	return holds
}

func scopeOf(k ordering.TxnKey) string { return "order:" + strconv.FormatInt(k.Branch, 10) }

// enterKeys enters the keys of new orders; those that exist already are read, with the orders that they made.
func (l *loader) enterKeys(ctx context.Context, places []*ordering.Place) error {
	if len(places) == 0 {
		return nil
	}
	first := map[ordering.TxnKey]*ordering.Place{}
	for _, p := range places {
		k := ordering.TxnKey{Branch: p.Order.Scope.Branch, ClientTxnID: p.Order.ClientTxnID}
		if _, ok := first[k]; !ok {
			first[k] = p
		}
	}
	keys := slices.Collect(maps.Keys(first))
	rows, err := l.tx.Query(ctx, idempotencyInsert, keyRows(keys).
		Text("digest", func(i int) string { return first[keys[i]].Digest }).
		Text("ref", func(i int) string { return first[keys[i]].Order.ID }), l.batch.Now.UnixMilli())
	entered, err := sqldb.Collect(rows, err, scanKey)
	if err != nil || len(entered) == len(keys) {
		return err
	}
	for _, k := range entered {
		delete(first, k)
	}
	return l.loadKnown(ctx, slices.Collect(maps.Keys(first)))
}

func keyRows(keys []ordering.TxnKey) *sqldb.RowSet {
	return sqldb.NewRowSet(len(keys)).
		Text("scope", func(i int) string { return scopeOf(keys[i]) }).
		Text("key", func(i int) string { return keys[i].ClientTxnID })
}

func scanKey(r sqldb.Rows) (k ordering.TxnKey, err error) {
	var scope string
	if err = r.Scan(&scope, &k.ClientTxnID); err != nil {
		return k, err
	}
	k.Branch, err = branchOf(scope)
	return k, err
}

func branchOf(scope string) (int64, error) {
	return strconv.ParseInt(scope[len("order:"):], 10, 64)
}

func (l *loader) loadKnown(ctx context.Context, keys []ordering.TxnKey) error {
	rows, err := l.tx.Query(ctx, idempotencySelect, keyRows(keys))
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var scope, key string
		var known ordering.Known
		if err := rows.Scan(&scope, &key, &known.Digest, &known.OrderID); err != nil {
			return err
		}
		branch, err := branchOf(scope)
		if err != nil {
			return err
		}
		l.batch.Known[ordering.TxnKey{Branch: branch, ClientTxnID: key}] = known
		ids = append(ids, known.OrderID)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows.Close()
	orders, err := selectOrders(ctx, l.tx, orderSelect, ids)
	if err != nil {
		return err
	}
	for i := range orders {
		l.batch.Orders[orders[i].ID] = &orders[i]
	}
	return nil
}

// holdsOf reads the holds of existing orders with their lines. Lines never change, so no lock is needed yet.
func (l *loader) holdsOf(ctx context.Context, ids []string) ([]stock.HoldState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := l.tx.Query(ctx, orderHolds, idRows(ids))
	holds, err := sqldb.Collect(rows, err, sqldb.Value[string])
	if err != nil {
		return nil, err
	}
	return stocksql.Holds(ctx, l.tx, holds)
}

func idRows(ids []string) *sqldb.RowSet {
	return sqldb.NewRowSet(len(ids)).Text("id", func(i int) string { return ids[i] })
}

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

// lockNumbers locks the last number of each scope; the first order of a business date makes the row.
func (l *loader) lockNumbers(ctx context.Context, places []*ordering.Place) error {
	scopes := scopesOf(places)
	for {
		rows, err := l.tx.Query(ctx, numberLock, scopeRows(scopes))
		if err != nil {
			return err
		}
		for rows.Next() {
			var s stock.Scope
			var last int64
			if err := rows.Scan(&s.Branch, &s.Date, &last); err != nil {
				rows.Close()
				return err
			}
			l.batch.Numbers[s] = last
		}
		rows.Close()
		if err := rows.Err(); err != nil || len(l.batch.Numbers) == len(scopes) {
			return err
		}
		if _, err := l.tx.Exec(ctx, numberEnsure, scopeRows(scopes)); err != nil {
			return err
		}
	}
}

func (l *loader) loadOpen(ctx context.Context, places []*ordering.Place) error {
	visits, versions := visitsOf(places), map[int64]struct{}{}
	for _, p := range places {
		versions[p.Order.MenuVersionID] = struct{}{}
	}
	list := slices.Collect(maps.Keys(versions))
	rows, err := l.tx.Query(ctx, openSelect, idRows(visits),
		sqldb.NewRowSet(len(list)).Int("id", func(i int) int64 { return list[i] }))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, id string
		if err := rows.Scan(&kind, &id); err != nil {
			return err
		}
		if kind == "visit" {
			l.batch.Visits[id] = true
			continue
		}
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return err
		}
		l.batch.Versions[n] = true
	}
	return rows.Err()
}

func visitsOf(places []*ordering.Place) []string {
	set := map[string]struct{}{}
	for _, p := range places {
		set[p.Order.VisitID] = struct{}{}
	}
	return slices.Collect(maps.Keys(set))
}

func (l *loader) loadUnpaid(ctx context.Context, places []*ordering.Place) error {
	rows, err := l.tx.Query(ctx, unpaidCount, idRows(visitsOf(places)))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var visit, guest string
		var n int
		if err := rows.Scan(&visit, &guest, &n); err != nil {
			return err
		}
		l.batch.Unpaid[visit] += n
		l.batch.Unpaid[guest] += n
	}
	return rows.Err()
}

// lockOrders locks holds, then orders, and reads the attempts that the orders' locks protect.
func (l *loader) lockOrders(ctx context.Context, ids []string, held []stock.HoldState) error {
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(held, func(a, b stock.HoldState) int { return cmp.Compare(a.Hold.ID, b.Hold.ID) })
	if err := stocksql.LockHolds(ctx, l.tx, held, l.batch.Book); err != nil {
		return err
	}
	orders, err := selectOrders(ctx, l.tx, orderLock, ids)
	if err != nil {
		return err
	}
	if err := loadItems(ctx, l.tx, orders); err != nil {
		return err
	}
	for i := range orders {
		l.batch.Orders[orders[i].ID] = &orders[i]
	}
	attempts, err := paymentsql.Attempts(ctx, l.tx, ids)
	if err != nil {
		return err
	}
	for _, a := range attempts {
		l.batch.Attempts[a.OrderID] = append(l.batch.Attempts[a.OrderID], a)
	}
	return nil
}
