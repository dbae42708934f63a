package orderingsql

import (
	"cmp"
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// lastDate sorts after every business date. It replaces a missing end of a period.
const lastDate = "9999-12-31"

// Listed reads a page of a branch's orders with their items, newest first, and the total number of matches.
func (s *Orders) Listed(ctx context.Context, f ordering.OrderFilter) ([]ordering.Listed, int64, error) {
	list, count, args := stmt("listing_orders"), stmt("listing_orders_count"), []any{
		f.Branch, f.Dates.From, cmp.Or(f.Dates.To, lastDate), string(f.Status), string(f.PaymentStatus),
		string(f.CancelReason), f.Number.Whole, f.Number.Digits,
	}
	if f.Search != nil || f.Visit != "" {
		list, count, args = stmt("listing_found"), stmt("listing_found_count"), append(args, searchArgs(f)...)
	}
	page, total, err := sqldb.Page(ctx, s.db, func(r sqldb.Rows) (l ordering.Listed, err error) {
		err = r.Scan(&l.ID, &l.Table)
		return l, err
	}, count, list, f.Limit, f.Offset, args...)
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	return page, total, s.listed(ctx, page)
}

// afterWords is the highest code point. The range from a prefix to the prefix plus afterWords contains every word with
// that prefix, so the index on words serves prefix searches.
const afterWords = "\U0010FFFF"

// searchArgs returns the arguments of the search statement that follow the filter's other arguments.
func searchArgs(f ordering.OrderFilter) []any {
	s := f.Search
	if s == nil {
		s = &ordering.Search{}
	}
	return []any{
		sqldb.NewRowSet(len(s.Numbers)).Int("id", func(i int) int64 { return s.Numbers[i] }),
		s.Table, s.PhoneEnd(), "%" + s.Phone,
		sqldb.NewRowSet(len(s.Words)).
			Text("low", func(i int) string { return s.Words[i] }).
			Text("high", func(i int) string { return s.Words[i] + afterWords }),
		len(s.Words), f.Visit,
	}
}

// listed loads the orders of a page and keeps the page's order. Every id still exists, because orders are never
// deleted.
func (s *Orders) listed(ctx context.Context, page []ordering.Listed) error {
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
	return sqldb.Page(ctx, s.db, func(r sqldb.Rows) (a ordering.ListedAttempt, err error) {
		var created, settled int64
		err = r.Scan(&a.ID, &a.OrderID, &a.Method, &a.Amount, &a.Currency, &a.State, &a.GatewayRef, &created, &settled,
			&a.Number, &a.BizDate)
		a.CreatedAt, a.SettledAt = instant(created), instant(settled)
		return a, err
	}, stmt("listing_attempts_count"), stmt("listing_attempts"), f.Limit, f.Offset, args...)
}
