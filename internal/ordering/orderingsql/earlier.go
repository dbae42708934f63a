package orderingsql

import (
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// earlier reads the prior result of each key. Keys without an order return a result with Found false.
func earlier(ctx context.Context, db sqldb.Conn, keys []ordering.TxnKey) ([]ordering.Earlier, error) {
	known, err := selectKnown(ctx, db, keys)
	if err != nil {
		return nil, err
	}
	all := make([]ordering.Earlier, len(keys))
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
			all[i] = ordering.Earlier{Order: *o, Digest: n.Digest, Found: true}
		}
	}
	return all, nil
}

// selectKnown reads the stored entries of the given keys. Unused keys are missing in the result.
func selectKnown(ctx context.Context, c sqldb.Conn, keys []ordering.TxnKey) (map[ordering.TxnKey]ordering.Known, error) {
	rows, err := c.Query(ctx, idempotencySelect, keyRows(keys))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[ordering.TxnKey]ordering.Known{}
	for rows.Next() {
		var scope, key string
		var known ordering.Known
		if err := rows.Scan(&scope, &key, &known.Digest, &known.OrderID); err != nil {
			return nil, err
		}
		k := ordering.TxnKey{ClientTxnID: key}
		if err := enterScope(&k, scope); err != nil {
			return nil, err
		}
		all[k] = known
	}
	return all, rows.Err()
}

// ordersOf reads the orders placed under the given keys, by order id.
func ordersOf(
	ctx context.Context, c sqldb.Conn, known map[ordering.TxnKey]ordering.Known,
) (map[string]*ordering.Order, error) {
	ids := make([]string, 0, len(known))
	for _, k := range known {
		ids = append(ids, k.OrderID)
	}
	orders, err := selectOrders(ctx, c, orderSelect, ids)
	byID := make(map[string]*ordering.Order, len(orders))
	for i := range orders {
		byID[orders[i].ID] = &orders[i]
	}
	return byID, err
}
