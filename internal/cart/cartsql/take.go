package cartsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/cart"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
)

// Lock locks and reads the carts of members within an order's transaction, by member.
func Lock(ctx context.Context, tx sqldb.Tx, users []int64) (map[int64]cart.Cart, error) {
	all, err := locked(ctx, tx, slices.Sorted(slices.Values(users)))
	if err != nil {
		return nil, err
	}
	carts := make(map[int64]cart.Cart, len(all))
	for user, c := range maps.All(all) {
		carts[user] = *c
	}
	return carts, nil
}

// QueueTaken deletes carts that were locked and ordered from (C4).
func QueueTaken(tx sqldb.Tx, carts []cart.Cart, now time.Time) {
	if len(carts) == 0 {
		return
	}
	var gone []cart.Line
	dead := make([]documentsql.Dead, len(carts))
	for i, c := range carts {
		gone = append(gone, c.Lines...)
		dead[i] = documentsql.Dead{ID: decimal(c.ID), Version: c.Version}
	}
	queueGone(tx, gone, now)
	tx.QueueExactly(int64(len(carts)), cartDelete,
		sqldb.NewRowSet(len(carts)).Int("id", func(i int) int64 { return carts[i].ID }))
	documentsql.Erased(tx, now, "cart", dead)
}
