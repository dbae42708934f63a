package orderingsql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// Prefixes of the scope column: keys are unique per branch for guests and per member for members.
const (
	branchScope = "order:"
	memberScope = "member:"
)

func scopeOf(k ordering.IdempotencyKey) string {
	if k.User != 0 {
		return memberScope + strconv.FormatInt(k.User, 10)
	}
	return branchScope + strconv.FormatInt(k.Branch, 10)
}

// parseScope is the inverse of scopeOf. It sets the branch or the member.
func parseScope(k *ordering.IdempotencyKey, scope string) (err error) {
	if user, ok := strings.CutPrefix(scope, memberScope); ok {
		k.User, err = strconv.ParseInt(user, 10, 64)
		return err
	}
	k.Branch, err = strconv.ParseInt(strings.TrimPrefix(scope, branchScope), 10, 64)
	return err
}

// keyRows returns the columns scope and key, the primary key of the table.
func keyRows(keys []ordering.IdempotencyKey) *sqldb.RowSet {
	return sqldb.NewRowSet(len(keys)).
		Text("scope", func(i int) string { return scopeOf(keys[i]) }).
		Text("key", func(i int) string { return keys[i].ClientTxnID })
}

// queueKeys inserts the keys of new orders. The returned map contains, after the flush, only the keys that existed
// before.
func (l *loader) queueKeys(places []*ordering.Place) map[ordering.IdempotencyKey]*ordering.Place {
	if len(places) == 0 {
		return nil
	}
	first := map[ordering.IdempotencyKey]*ordering.Place{}
	for _, p := range places {
		k := p.Order.Key()
		// A key that repeats within the batch is inserted once; Place.decide finds the repetition.
		if _, ok := first[k]; !ok {
			first[k] = p
		}
	}
	keys := slices.SortedFunc(maps.Keys(first), func(a, b ordering.IdempotencyKey) int { // the lock order of keys
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.User, b.User),
			cmp.Compare(a.ClientTxnID, b.ClientTxnID))
	})
	// The statement returns the keys that it has inserted.
	l.tx.QueueQuery(sqldb.Scanned(scanKey, func(k ordering.IdempotencyKey) { delete(first, k) }),
		stmt("idempotency_insert"), keyRows(keys).
			Text("digest", func(i int) string { return first[keys[i]].Digest }).
			Text("ref", func(i int) string { return first[keys[i]].Order.ID }), l.batch.Now.UnixMilli())
	return first
}

func scanKey(r sqldb.Rows) (k ordering.IdempotencyKey, err error) {
	var scope string
	if err = r.Scan(&scope, &k.ClientTxnID); err != nil {
		return k, err
	}
	err = parseScope(&k, scope)
	return k, err
}

// loadStoredKeys reads the entries of keys that existed before, and their orders.
func (l *loader) loadStoredKeys(ctx context.Context, keys []ordering.IdempotencyKey) (err error) {
	if len(keys) == 0 {
		return nil
	}
	if l.batch.StoredKeys, err = selectStoredKeys(ctx, l.tx, keys); err != nil {
		return err
	}
	orders, err := ordersOf(ctx, l.tx, l.batch.StoredKeys)
	maps.Copy(l.batch.Orders, orders)
	return err
}

// priorResults reads the prior result of each key. Keys without an order return a result with Found false. It does not
// lock: an order that is being placed has no result yet.
func priorResults(ctx context.Context, db sqldb.Conn, keys []ordering.IdempotencyKey) ([]ordering.PriorResult, error) {
	known, err := selectStoredKeys(ctx, db, keys)
	if err != nil {
		return nil, err
	}
	all := make([]ordering.PriorResult, len(keys))
	if len(known) == 0 {
		return all, nil
	}
	orders, err := ordersOf(ctx, db, known)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		n, ok := known[k]
		if o := orders[n.OrderID]; ok && o != nil {
			all[i] = ordering.PriorResult{Order: *o, Digest: n.Digest, Found: true}
		}
	}
	return all, nil
}

// selectStoredKeys reads the stored entries of the given keys. Unused keys are missing in the result.
func selectStoredKeys(
	ctx context.Context, c sqldb.Conn, keys []ordering.IdempotencyKey,
) (map[ordering.IdempotencyKey]ordering.StoredKey, error) {
	all := map[ordering.IdempotencyKey]ordering.StoredKey{}
	err := sqldb.Each(ctx, c, func(rows sqldb.Rows) error {
		var scope, key string
		var known ordering.StoredKey
		if err := rows.Scan(&scope, &key, &known.Digest, &known.OrderID); err != nil {
			return err
		}
		k := ordering.IdempotencyKey{ClientTxnID: key}
		if err := parseScope(&k, scope); err != nil {
			return err
		}
		all[k] = known
		return nil
	}, stmt("idempotency_select"), keyRows(keys))
	return all, err
}

// ordersOf reads the orders placed under the given keys, by order id.
func ordersOf(
	ctx context.Context, c sqldb.Conn, known map[ordering.IdempotencyKey]ordering.StoredKey,
) (map[string]*ordering.Order, error) {
	ids := make([]string, 0, len(known))
	for _, k := range known {
		ids = append(ids, k.OrderID)
	}
	orders, err := selectOrders(ctx, c, stmt("order_select"), ids)
	byID := make(map[string]*ordering.Order, len(orders))
	for i := range orders {
		byID[orders[i].ID] = &orders[i]
	}
	return byID, err
}

// queueRefused deletes the keys of refused orders, so that the guest may use them again (decision 10).
func queueRefused(tx sqldb.Tx, keys []ordering.IdempotencyKey) {
	if len(keys) > 0 {
		tx.Queue(stmt("idempotency_delete"), keyRows(keys))
	}
}
