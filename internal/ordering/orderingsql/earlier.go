package orderingsql

import (
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// priorResults reads the prior result of each key. Keys without an order return a result with Found false.
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
