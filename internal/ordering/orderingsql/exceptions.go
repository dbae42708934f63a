package orderingsql

import (
	"context"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// Exceptions reads the payments and refunds of a branch that need attention, oldest first, at most limit per kind.
func (s *Orders) Exceptions(ctx context.Context, branch int64, limit int) (e ordering.Exceptions, err error) {
	e.Attempts, err = sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (x ordering.Exception, err error) {
		var created int64
		err = r.Scan(&x.ID, &x.OrderID, &x.Number, &x.BizDate, &x.Method, &x.Amount, &x.Currency, &x.State, &x.Ref, &created)
		x.At = instant(created)
		return x, err
	}, stmt("exception_attempts"), branch, limit)
	if err != nil {
		return e, err
	}
	e.Refunds, err = sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (x ordering.Exception, err error) {
		var created int64
		err = r.Scan(&x.ID, &x.OrderID, &x.Number, &x.BizDate, &x.Method, &x.Amount, &x.Currency, &x.State, &x.Reason, &x.Ref,
			&created)
		x.At = instant(created)
		return x, err
	}, stmt("exception_refunds"), branch, limit)
	if err != nil {
		return e, err
	}
	e.Mismatches, err = sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (x ordering.Exception, err error) {
		var reported int64
		err = r.Scan(&x.ID, &x.OrderID, &x.Number, &x.BizDate, &x.Method, &x.Amount, &x.Currency, &x.State, &x.Ref,
			&x.Captured, &x.CapturedIn, &reported)
		x.At = instant(reported)
		return x, err
	}, stmt("exception_mismatches"), branch, limit)
	return e, err
}
