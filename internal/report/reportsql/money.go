package reportsql

import (
	"cmp"
	"context"
	"slices"

	"comanda/internal/report"
	"comanda/internal/sqldb"
)

// Attempts implements report.Store.
func (b *Store) Attempts(ctx context.Context, s report.Span) ([]report.Attempts, error) {
	return ask(ctx, b, stmt("payment_attempts"), s, sqldb.Row(func(a *report.Attempts) []any {
		return []any{&a.Method, &a.State, &a.Number, &a.Amount}
	}))
}

// Failures implements report.Store. Each gateway has its own format for result codes in its raw report, so they are
// parsed and counted here.
func (b *Store) Failures(ctx context.Context, s report.Span, most int) ([]report.Failures, error) {
	counts := map[report.Failures]int64{}
	_, err := ask(ctx, b, stmt("payment_failures"), s, func(r sqldb.Rows) (struct{}, error) {
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
func (b *Store) Refunds(ctx context.Context, s report.Span) ([]report.Refunds, error) {
	return ask(ctx, b, stmt("refund_days"), s, sqldb.Row(func(f *report.Refunds) []any {
		return []any{&f.Date, &f.Method, &f.Reason, &f.State, &f.Number, &f.Amount}
	}))
}

// Ended implements report.Store.
func (b *Store) Ended(ctx context.Context, s report.Span) ([]report.Ended, error) {
	return ask(ctx, b, stmt("ended_days"), s, sqldb.Row(func(e *report.Ended) []any {
		return []any{&e.Date, &e.Reason, &e.Orders, &e.Amount, &e.Abandoned, &e.AbandonedAmount}
	}))
}
