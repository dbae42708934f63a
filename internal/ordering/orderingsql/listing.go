package orderingsql

import (
	"cmp"
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/text"
)

// lastDate sorts after every business date. It replaces a missing end of a period.
const lastDate = "9999-12-31"

// Listed reads a page of a branch's orders with their items, newest first, and the total number of matches.
func (s *Orders) Listed(ctx context.Context, f ordering.OrderFilter) ([]ordering.ListedOrder, int64, error) {
	list, count, args := stmt("listing_orders"), stmt("listing_orders_count"), []any{
		f.Branch, f.Dates.From, cmp.Or(f.Dates.To, lastDate), string(f.Status), string(f.PaymentStatus),
		string(f.CancelReason), f.Number.Whole, f.Number.Digits,
	}
	// The plain statement reads the index in its order. A search collects matches first and sorts them.
	if f.Search != nil || f.Visit != "" {
		tables, err := s.labelled(ctx, f)
		if err != nil {
			return nil, 0, err
		}
		list, count, args = stmt("listing_found"), stmt("listing_found_count"), append(args, searchArgs(f, tables)...)
	}
	page, total, err := sqldb.Page(ctx, s.db, sqldb.Row(func(l *ordering.ListedOrder) []any {
		return []any{&l.ID, &l.Table}
	}), count, list, f.Limit, f.Offset, args...)
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	return page, total, s.listed(ctx, page)
}

// labelled returns the ids of the branch's tables whose label is the searched one. Labels are compared here, because lower
// of SQLite changes A to Z only, and a branch has few tables.
func (s *Orders) labelled(ctx context.Context, f ordering.OrderFilter) ([]int64, error) {
	if f.Search == nil || f.Search.Table == "" {
		return nil, nil
	}
	all, err := sqldb.Map[int64, string](ctx, s.db, stmt("listing_labels"), f.Branch)
	var found []int64
	for id, label := range all {
		if text.Fold(label) == f.Search.Table {
			found = append(found, id)
		}
	}
	return found, err
}

// afterWords is the highest code point. The range from a prefix to the prefix plus afterWords contains every word with
// that prefix, so the index on words serves prefix searches.
const afterWords = "\U0010FFFF"

// searchArgs returns the arguments of the search statement that follow the filter's other arguments. Empty parts of the
// search match no order.
func searchArgs(f ordering.OrderFilter, tables []int64) []any {
	s := f.Search
	if s == nil {
		s = &ordering.Search{}
	}
	return []any{
		sqldb.NewRowSet(len(s.Numbers)).Int("id", func(i int) int64 { return s.Numbers[i] }),
		sqldb.IDs(tables), s.PhoneEnd(), "%" + s.Phone,
		sqldb.NewRowSet(len(s.Words)).
			Text("low", func(i int) string { return s.Words[i] }).
			Text("high", func(i int) string { return s.Words[i] + afterWords }),
		len(s.Words), f.Visit,
	}
}

// listed loads the orders of a page and keeps the page's order. Every id still exists, because orders are never
// deleted.
func (s *Orders) listed(ctx context.Context, page []ordering.ListedOrder) error {
	ids, at := make([]string, len(page)), make(map[string]int, len(page))
	for i, l := range page {
		ids[i], at[l.ID] = l.ID, i
	}
	orders, err := selectOrders(ctx, s.db, stmt("order_select"), ids)
	if err != nil {
		return err
	}
	if err := loadItems(ctx, s.db, orders); err != nil {
		return err
	}
	for _, o := range orders {
		page[at[o.ID]].Order = o
	}
	return nil
}

// ListedAttempts reads a page of a branch's payment attempts, those of the newest orders first, and the total number of
// matches. It does not read their payment pages and check times.
func (s *Orders) ListedAttempts(
	ctx context.Context, f ordering.AttemptFilter,
) ([]ordering.ListedAttempt, int64, error) {
	args := []any{f.Branch, f.Dates.From, cmp.Or(f.Dates.To, lastDate), string(f.Method), string(f.State)}
	return sqldb.Page(ctx, s.db, sqldb.Row(func(a *ordering.ListedAttempt) []any {
		return []any{
			&a.ID, &a.OrderID, &a.Method, &a.Amount, &a.Currency, &a.State, &a.GatewayRef, sqldb.Time(&a.CreatedAt),
			sqldb.Time(&a.SettledAt), &a.Number, &a.BizDate,
		}
	}), stmt("listing_attempts_count"), stmt("listing_attempts"), f.Limit, f.Offset, args...)
}

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

// indexNames indexes up to namesPerTransaction orders and returns the number it found.
func (s *Orders) indexNames(ctx context.Context) (int, error) {
	found, err := sqldb.Collect(ctx, s.db, sqldb.Row(func(w *nameWord) []any {
		return []any{&w.order, &w.branch, &w.date, &w.word}
	}), stmt("word_unindexed"), namesPerTransaction)
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
	// The search reads the words only. If this transaction fails, the orders stay unindexed and the next run finds them.
	return len(found), s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The locks are taken in the ledger's order, to avoid deadlocks.
		tx.QueueQuery(func(sqldb.Rows) error { return nil }, stmt("order_lock"), sqldb.IDs(ids))
		if len(words) > 0 {
			tx.Queue(stmt("word_insert"), sqldb.NewRowSet(len(words)).
				Int("branch_id", func(i int) int64 { return words[i].branch }).
				Text("word", func(i int) string { return words[i].word }).
				Text("biz_date", func(i int) string { return words[i].date }).
				Text("order_id", func(i int) string { return words[i].order }))
		}
		// Orders whose names have no words are marked too, or they would be found forever.
		tx.Queue(stmt("word_indexed"), sqldb.IDs(ids), s.db.Now().UnixMilli())
		return tx.Flush(ctx)
	})
}
