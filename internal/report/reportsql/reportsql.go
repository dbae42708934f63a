package reportsql

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/catalog"
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
	return ask(ctx, b, stmt("sales_cells"), s, func(r sqldb.Rows) (c report.Cell, err error) {
		err = r.Scan(&c.Weekday, &c.Hour, &c.Placed, &c.Sales, &c.Gross)
		return c, err
	}, sqldb.NewRowSet(len(all)).
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
	return ask(ctx, b, stmt("dish_sales"), s, func(r sqldb.Rows) (d report.Dish, err error) {
		var names string
		if err := r.Scan(&d.ID, &names, &d.Qty, &d.Gross); err != nil {
			return d, err
		}
		d.Names, err = texts(names)
		return d, err
	})
}

// texts parses the names of a dish from their JSON column.
func texts(s string) (t catalog.Texts, err error) {
	err = json.Unmarshal([]byte(s), &t)
	return t, err
}

// Quotas implements report.Store.
func (b *Store) Quotas(ctx context.Context, s report.Span) ([]report.Quota, error) {
	return ask(ctx, b, stmt("quota_days"), s, func(r sqldb.Rows) (q report.Quota, err error) {
		var names string
		var newest int64
		if err := r.Scan(&q.Date, &q.ItemID, &names, &q.Cap, &q.Held, &q.Sold, &newest); err != nil {
			return q, err
		}
		if newest != 0 {
			q.LastUnit = time.UnixMilli(newest).UTC()
		}
		q.Names, err = texts(names)
		return q, err
	})
}
