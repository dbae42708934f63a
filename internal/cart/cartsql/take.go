package cartsql

import (
	"comanda/internal/cart"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
)

// QueueLock locks the carts of members within an order's transaction. With the flush they are in carts, by member.
func QueueLock(tx sqldb.Tx, users []int64, carts map[int64]cart.Cart) {
	queueLocked(tx, users, carts)
}

// QueueTaken deletes carts that were locked and ordered from (C4), and gives the documents that go with them. Their
// locks keep everybody else from deleting anything of them.
func QueueTaken(tx sqldb.Tx, carts []cart.Cart) []documentsql.Change {
	if len(carts) == 0 {
		return nil
	}
	var gone []cart.Line
	dead := make([]documentsql.Deletion, len(carts))
	for i, c := range carts {
		gone = append(gone, c.Lines...)
		dead[i] = documentsql.Deletion{ID: decimal(c.ID), Version: c.Version}
	}
	lines := queueGone(tx, gone)
	tx.Queue(cartDelete, sqldb.NewRowSet(len(carts)).Int("id", func(i int) int64 { return carts[i].ID }))
	return []documentsql.Change{{Entity: "cart", Deleted: dead}, {Entity: "cartDetail", Deleted: lines}}
}
