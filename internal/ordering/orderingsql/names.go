package orderingsql

import (
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// namesPerTransaction is the maximum number of orders that one transaction locks. Small transactions keep the ledger's
// waits short.
const namesPerTransaction = 100

// nameWord is one word of the name of an order's receiver, or the whole name before it is split.
type nameWord struct {
	branch            int64
	word, date, order string
}

// IndexNames indexes the receivers' names of all orders not indexed yet, so that Listed finds them. It runs outside the
// ledger: orders need not wait for it, and it also indexes orders of processes of an older version. Several processes
// may run it concurrently.
func (s *Orders) IndexNames(ctx context.Context) error {
	for {
		n, err := s.indexNames(ctx)
		if err != nil || n < namesPerTransaction {
			return err
		}
	}
}

// indexNames indexes up to namesAtOnce orders and returns the number it found.
func (s *Orders) indexNames(ctx context.Context) (int, error) {
	found, err := sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (w nameWord, err error) {
		err = r.Scan(&w.order, &w.branch, &w.date, &w.word)
		return w, err
	}, stmt("name_unentered"), namesPerTransaction)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	ids := make([]string, len(found))
	var words []nameWord
	for i, f := range found {
		ids[i] = f.order
		for _, w := range ordering.NameWords(f.word) {
			words = append(words, nameWord{f.branch, w, f.date, f.order})
		}
	}
	return len(found), s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The locks are taken in the ledger's order, to avoid deadlocks.
		tx.QueueQuery(func(sqldb.Rows) error { return nil }, stmt("order_lock"), idRows(ids))
		if len(words) > 0 {
			tx.Queue(stmt("name_enter"), sqldb.NewRowSet(len(words)).
				Int("branch_id", func(i int) int64 { return words[i].branch }).
				Text("word", func(i int) string { return words[i].word }).
				Text("biz_date", func(i int) string { return words[i].date }).
				Text("order_id", func(i int) string { return words[i].order }))
		}
		tx.Queue(stmt("name_entered"), idRows(ids), s.db.Now().UnixMilli())
		return tx.Flush(ctx)
	})
}
