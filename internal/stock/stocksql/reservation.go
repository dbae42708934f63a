package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Find returns a reservation; one without an id does not exist. Concurrent calls share a statement.
func (r *Reservations) Find(ctx context.Context, id string) (stock.Reservation, error) {
	return r.finds.Do(ctx, id)
}

func (r *Reservations) find(ctx context.Context, ids []string) ([]stock.Reservation, error) {
	return find(ctx, r.db, ids)
}

func find(ctx context.Context, c sqldb.Conn, ids []string) ([]stock.Reservation, error) {
	holds := make([]string, len(ids))
	for i, id := range ids {
		holds[i] = stock.HoldID(id)
	}
	states, err := Holds(ctx, c, holds)
	if err != nil {
		return nil, err
	}
	reasons, err := sqldb.Map[string, string](ctx, c, stmt("reservation_reason"), sqldb.IDs(holds))
	if err != nil {
		return nil, err
	}
	var items []int64
	for _, h := range states {
		for _, l := range h.Hold.Lines {
			items = append(items, l.Item)
		}
	}
	names, err := itemNames(ctx, c, items)
	if err != nil {
		return nil, err
	}
	byID := map[string]stock.Reservation{}
	for _, h := range states {
		one := stock.Reservation{
			Branch: h.Hold.Scope.Branch, Status: stock.StatusOf(h.State, reasons[h.Hold.ID]), ExpiresAt: h.Hold.Until,
		}
		for _, l := range h.Hold.Lines {
			one.Lines = append(one.Lines, stock.SKULine{SKU: names[l.Item], Qty: l.Qty})
		}
		byID[h.Hold.ID] = one
	}
	all := make([]stock.Reservation, len(ids))
	for i, id := range ids {
		if one, ok := byID[holds[i]]; ok {
			all[i], all[i].ID = one, id
		}
	}
	return all, nil
}

func itemNames(ctx context.Context, c sqldb.Conn, items []int64) (map[int64]string, error) {
	if len(items) == 0 {
		return map[int64]string{}, nil
	}
	return sqldb.Map[int64, string](ctx, c, stmt("thing_names"), itemRows(items))
}

func itemRows(items []int64) *sqldb.RowSet {
	return sqldb.NewRowSet(len(items)).Int("item", func(i int) int64 { return items[i] })
}

// Overdue returns the ids of reservations past their deadline, the oldest first.
func (r *Reservations) Overdue(ctx context.Context, now time.Time, limit int) ([]string, error) {
	holds, err := sqldb.Collect(ctx, r.db, sqldb.Value[string], stmt("reservation_overdue"), now.UnixMilli(), limit)
	for i, id := range holds {
		holds[i] = stock.ReservationID(id)
	}
	return holds, err
}

// OverdueReservations returns the number of reservations past their deadline, and the delay of the oldest.
func (r *Reservations) OverdueReservations(ctx context.Context, now time.Time) (n int64, by time.Duration, err error) {
	pair, _, err := sqldb.One(ctx, r.db, sqldb.Pair, stmt("reservation_late"), now.UnixMilli())
	if err != nil || pair[0] == 0 {
		return 0, 0, err
	}
	return pair[0], now.Sub(time.UnixMilli(pair[1])), nil
}
