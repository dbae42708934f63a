// Package reportsql reads the figures from orders, payments and counters. It writes nothing and takes no locks: a
// report reflects the instant at which its statement began.
package reportsql

import (
	"cmp"
	"context"
	"embed"
	"slices"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/report"
	"comanda/internal/sqldb"
)

// Store reads from a database. It implements report.Store.
type Store struct{ db *sqldb.DB }

// New returns a Store.
func New(db *sqldb.DB) *Store { return &Store{db} }

// querySpan runs a statement whose only input is a span.
func querySpan[T any](
	ctx context.Context, b *Store, q *sqldb.Stmt, s report.Span, scan func(sqldb.Rows) (T, error), more ...any,
) ([]T, error) {
	return sqldb.Collect(ctx, b.db, scan, q, append([]any{s.Branch.ID, s.From, s.To}, more...)...)
}

// Cells implements report.Store. It groups orders by local hour (R5).
func (st *Store) Cells(ctx context.Context, s report.Span) ([]report.Cell, error) {
	all, err := s.OffsetPeriods()
	if err != nil {
		return nil, err
	}
	return querySpan(ctx, st, stmt("sales_cells"), s, sqldb.Row(func(c *report.Cell) []any {
		return []any{&c.Weekday, &c.Hour, &c.Placed, &c.Sales, &c.Gross}
	}), sqldb.NewRowSet(len(all)).
		Int("starts", func(i int) int64 { return all[i].Start }).
		Int("ends", func(i int) int64 { return all[i].End }).
		Int("shift", func(i int) int64 { return all[i].Shift }))
}

// Days implements report.Store.
func (st *Store) Days(ctx context.Context, s report.Span) ([]report.Day, error) {
	return querySpan(ctx, st, stmt("sales_days"), s, func(r sqldb.Rows) (d report.Day, err error) {
		err = r.Scan(&d.Date, &d.Placed, &d.Sales, &d.Canceled, &d.Gross, &d.Refunded)
		// Open is the rest of the orders and not counted separately, so that R1 holds by construction.
		d.Open = d.Placed - d.Sales - d.Canceled
		return d, err
	})
}

// Dishes implements report.Store.
func (st *Store) Dishes(ctx context.Context, s report.Span) ([]report.Dish, error) {
	return querySpan(ctx, st, stmt("dish_sales"), s, sqldb.Row(func(d *report.Dish) []any {
		return []any{&d.ID, sqldb.JSON(&d.Names), &d.Qty, &d.Gross}
	}))
}

// Options implements report.Store. It counts in Go: engines read JSON differently.
func (st *Store) Options(ctx context.Context, s report.Span) ([]report.OptionSale, error) {
	sales, err := querySpan(ctx, st, stmt("configured_sales"), s, sqldb.Row(func(c *report.ConfiguredSale) []any {
		return []any{&c.DishID, sqldb.JSON(&c.Dish), &c.Options, &c.Qty}
	}))
	if err != nil {
		return nil, err
	}
	groups := map[int64]catalog.Texts{}
	err = sqldb.Each(ctx, st.db, func(r sqldb.Rows) error {
		var id int64
		var names catalog.Texts
		err := r.Scan(&id, sqldb.JSON(&names))
		groups[id] = names
		return err
	}, stmt("group_names"))
	return report.OptionSales(sales, groups), err
}

// Quotas implements report.Store. It reads the options of combos in Go, as Options does.
func (st *Store) Quotas(ctx context.Context, s report.Span) ([]report.Quota, error) {
	all, err := querySpan(ctx, st, stmt("quota_days"), s, sqldb.Row(func(q *report.Quota) []any {
		return []any{&q.Date, &q.ItemID, sqldb.JSON(&q.Names), &q.Cap, &q.Held, &q.Sold, sqldb.Time(&q.LastUnit), &q.Off}
	}), s.Branch.Calendar().BizDate(st.db.Now()))
	if err != nil || len(all) == 0 {
		return all, err
	}
	combos, err := querySpan(ctx, st, stmt("combo_orders"), s, sqldb.Row(func(c *report.ComboOrder) []any {
		return []any{&c.Date, &c.Options, sqldb.Time(&c.At)}
	}))
	return report.WithCombos(all, combos), err
}

// Interest implements report.InterestStore.
func (st *Store) Interest(ctx context.Context, s report.Span) ([]report.DishInterest, error) {
	return querySpan(ctx, st, stmt("dish_interest"), s, sqldb.Row(func(d *report.DishInterest) []any {
		return []any{&d.ID, sqldb.JSON(&d.Names), &d.Viewed, &d.Added, &d.Orders}
	}))
}

// Pages implements report.InterestStore.
func (st *Store) Pages(ctx context.Context, s report.Span) (map[string]int64, error) {
	return sqldb.Map[string, int64](ctx, st.db, stmt("page_views"), s.Branch.ID, s.From, s.To)
}

// Carts implements report.InterestStore.
func (st *Store) Carts(ctx context.Context, s report.Span) ([]report.CartDay, error) {
	return querySpan(ctx, st, stmt("cart_days"), s, func(r sqldb.Rows) (d report.CartDay, err error) {
		err = r.Scan(&d.Date, &d.Begun, &d.Ordered, &d.Abandoned)
		// Open is the rest, so that the three add up by construction.
		d.Open = d.Begun - d.Ordered - d.Abandoned
		return d, err
	})
}

// Searches implements report.InterestStore.
func (st *Store) Searches(ctx context.Context, s report.Span, limit int) ([]report.Searched, error) {
	return querySpan(ctx, st, stmt("searched_texts"), s, sqldb.Row(func(d *report.Searched) []any {
		return []any{&d.Text, &d.Searches, &d.Missed}
	}), limit)
}

// MemberCarts implements report.InterestStore. Their business dates follow from the branch's calendar.
func (st *Store) MemberCarts(ctx context.Context, s report.Span, unchanged time.Duration) ([]report.MemberCart, error) {
	first, last, err := s.Ends()
	if err != nil {
		return nil, err
	}
	end := last.End
	if before := st.db.Now().Add(-unchanged); before.Before(end) {
		end = before
	}
	return sqldb.Collect(ctx, st.db, func(r sqldb.Rows) (c report.MemberCart, err error) {
		var changed time.Time
		err = r.Scan(sqldb.Time(&changed), &c.Units, &c.Amount)
		c.Date = s.Branch.Calendar().BizDate(changed)
		return c, err
	}, stmt("member_carts"), s.Branch.ID, first.Start.UnixMilli(), end.UnixMilli())
}

// Taxes implements report.Store. It adds up the quotes in Go, one at a time: engines read JSON differently.
func (st *Store) Taxes(ctx context.Context, s report.Span) (*report.TaxBook, error) {
	book := report.NewTaxBook()
	return book, sqldb.Each(ctx, st.db, func(r sqldb.Rows) error {
		var o report.Quoted
		if err := r.Scan(&o.Date, &o.Total, &o.Quote); err != nil {
			return err
		}
		return book.Add(o)
	}, stmt("taxed_orders"), s.Branch.ID, s.From, s.To)
}

// Tickets implements report.Store.
func (st *Store) Tickets(ctx context.Context, s report.Span) ([]report.Ticket, error) {
	return querySpan(ctx, st, stmt("ticket_times"), s, sqldb.Row(func(t *report.Ticket) []any {
		return []any{&t.Date, &t.Paid, &t.Accepted, &t.Ready, &t.Served}
	}))
}

// Attempts implements report.Store.
func (st *Store) Attempts(ctx context.Context, s report.Span) ([]report.Attempts, error) {
	return querySpan(ctx, st, stmt("payment_attempts"), s, sqldb.Row(func(a *report.Attempts) []any {
		return []any{&a.Method, &a.State, &a.Number, &a.Amount}
	}))
}

// Failures implements report.Store. Each gateway has its own format for result codes in its raw report, so they are
// parsed and counted here.
func (st *Store) Failures(ctx context.Context, s report.Span, most int) ([]report.Failures, error) {
	counts := map[report.Failures]int64{}
	_, err := querySpan(ctx, st, stmt("payment_failures"), s, func(r sqldb.Rows) (struct{}, error) {
		var f report.Failures
		var raw string
		err := r.Scan(&f.Method, &f.Result, &raw)
		f.Code = report.CodeIn(raw)
		counts[f]++
		return struct{}{}, err
	}, most)
	if err != nil {
		return nil, err
	}
	all := make([]report.Failures, 0, len(counts))
	for f, n := range counts {
		f.Number = n
		all = append(all, f)
	}
	// Most frequent first. The other keys fix the order of equal counts, because the map has none.
	slices.SortFunc(all, func(x, y report.Failures) int {
		return cmp.Or(cmp.Compare(y.Number, x.Number), cmp.Compare(x.Method, y.Method), cmp.Compare(x.Result, y.Result),
			cmp.Compare(x.Code, y.Code))
	})
	return all, nil
}

// Refunds implements report.Store.
func (st *Store) Refunds(ctx context.Context, s report.Span) ([]report.Refunds, error) {
	return querySpan(ctx, st, stmt("refund_days"), s, sqldb.Row(func(f *report.Refunds) []any {
		return []any{&f.Date, &f.Method, &f.Reason, &f.State, &f.Number, &f.Amount}
	}))
}

// Ended implements report.Store.
func (st *Store) Ended(ctx context.Context, s report.Span) ([]report.Ended, error) {
	return querySpan(ctx, st, stmt("ended_days"), s, sqldb.Row(func(e *report.Ended) []any {
		return []any{&e.Date, &e.Reason, &e.Orders, &e.Amount, &e.Abandoned, &e.AbandonedAmount}
	}))
}

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must
