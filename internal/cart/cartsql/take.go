package cartsql

import (
	"comanda/internal/cart"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
)

// QueueLock locks the carts of members in an order's transaction. The flush fills carts by member.
func QueueLock(tx sqldb.Tx, users []int64, carts map[int64]cart.Cart) {
	queueLocked(tx, users, carts)
}

// QueueDelete deletes locked carts that were ordered (C4) and returns the changes of their documents. The locks keep
// other transactions from changing these carts.
func QueueDelete(tx sqldb.Tx, carts []cart.Cart) []documentsql.Change {
	if len(carts) == 0 {
		return nil
	}
	var removed []cart.Line
	dead := make([]documentsql.Deletion, len(carts))
	for i, c := range carts {
		removed = append(removed, c.Lines...)
		dead[i] = documentsql.Deletion{ID: decimal(c.ID), Version: c.Version}
	}
	lines := queueDeleteLines(tx, removed)
	tx.Queue(stmt("cart_delete"), sqldb.NewRowSet(len(carts)).Int("id", func(i int) int64 { return carts[i].ID }))
	return []documentsql.Change{{Entity: "cart", Deleted: dead}, {Entity: "cartDetail", Deleted: lines}}
}
