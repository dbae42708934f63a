package reportsql

import (
	"context"

	"comanda/internal/report"
	"comanda/internal/sqldb"
)

// Store reads from a database. It implements report.Store.
type Store struct{ db *sqldb.DB }

// New returns a Store.
func New(db *sqldb.DB) *Store { return &Store{db} }

// ask runs a statement whose only input is a span.
func ask[T any](
	ctx context.Context, b *Store, q *sqldb.Stmt, s report.Span, scan func(sqldb.Rows) (T, error), more ...any,
) ([]T, error) {
	return sqldb.Collect(ctx, b.db, scan, q, append([]any{s.Branch.ID, s.From, s.To}, more...)...)
}

// Cells implements report.Store. It groups orders by local hour (R5).
func (b *Store) Cells(ctx context.Context, s report.Span) ([]report.Cell, error) {
	all, err := s.OffsetPeriods()
	if err != nil {
		return nil, err
	}
	return ask(ctx, b, stmt("sales_cells"), s, sqldb.Row(func(c *report.Cell) []any {
		return []any{&c.Weekday, &c.Hour, &c.Placed, &c.Sales, &c.Gross}
	}), sqldb.NewRowSet(len(all)).
		Int("starts", func(i int) int64 { return all[i].Start }).
		Int("ends", func(i int) int64 { return all[i].End }).
		Int("shift", func(i int) int64 { return all[i].Shift }))
}

// Days implements report.Store.
func (b *Store) Days(ctx context.Context, s report.Span) ([]report.Day, error) {
	return ask(ctx, b, stmt("sales_days"), s, func(r sqldb.Rows) (d report.Day, err error) {
		err = r.Scan(&d.Date, &d.Placed, &d.Sales, &d.Canceled, &d.Gross, &d.Refunded)
		// Computed and not counted, so that R1 holds by construction.
		d.Open = d.Placed - d.Sales - d.Canceled
		return d, err
	})
}

// Dishes implements report.Store.
func (b *Store) Dishes(ctx context.Context, s report.Span) ([]report.Dish, error) {
	return ask(ctx, b, stmt("dish_sales"), s, sqldb.Row(func(d *report.Dish) []any {
		return []any{&d.ID, sqldb.JSON(&d.Names), &d.Qty, &d.Gross}
	}))
}

// Quotas implements report.Store.
func (b *Store) Quotas(ctx context.Context, s report.Span) ([]report.Quota, error) {
	return ask(ctx, b, stmt("quota_days"), s, sqldb.Row(func(q *report.Quota) []any {
		return []any{&q.Date, &q.ItemID, sqldb.JSON(&q.Names), &q.Cap, &q.Held, &q.Sold, sqldb.Time(&q.LastUnit)}
	}))
}
