package stocksql

import (
	"context"
	"strings"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Item returns a stock item by number; one without an id does not exist.
func (l *Store) Item(ctx context.Context, id int64) (stock.Item, error) {
	t, _, err := sqldb.One(ctx, l.db, scanItem, stmt("thing_select"), id)
	return t, err
}

// literal escapes a text for use in a LIKE pattern.
var literal = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Levels returns a page of a branch's stock items by name, and the total.
func (l *Store) Levels(ctx context.Context, f stock.LevelFilter) ([]stock.Level, int64, error) {
	pattern, low := "", 0
	if f.Query != "" {
		pattern = "%" + literal.Replace(strings.ToLower(f.Query)) + "%"
	}
	if f.Low {
		low = 1
	}
	return sqldb.Page(ctx, l.db, scanLevel, stmt("level_count"), stmt("level_list"), f.Limit, f.Offset, f.Branch, pattern,
		low)
}

// Adjustments returns a page of an item's adjustments, newest first, and the total.
func (l *Store) Adjustments(ctx context.Context, item int64, limit, offset int) ([]stock.AdjustmentRecord, int64, error) {
	return sqldb.Page(ctx, l.db, sqldb.Row(func(a *stock.AdjustmentRecord) []any {
		return []any{&a.ID, &a.Kind, &a.Units, &a.Available, &a.Note, &a.Actor, sqldb.Time(&a.At)}
	}), stmt("adjustment_count"), stmt("adjustment_list"), limit, offset, item)
}

// Reservations returns a page of a branch's reservations, the most recently changed first, and the total.
func (l *Store) Reservations(ctx context.Context, f stock.ReservationFilter) ([]stock.ReservationRecord, int64, error) {
	state, reason := f.Status.State()
	page, total, err := sqldb.Page(ctx, l.db, scanListed, stmt("reservation_count"), stmt("reservation_list"), f.Limit,
		f.Offset, f.Branch,
		string(state), reason)
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	ids := make([]string, len(page))
	for i, p := range page {
		ids[i] = p.ID
	}
	found, err := find(ctx, l.db, ids)
	if err != nil {
		return nil, 0, err
	}
	for i := range page {
		page[i].Reservation = found[i]
	}
	return page, total, nil
}

func scanListed(r sqldb.Rows) (l stock.ReservationRecord, err error) {
	var hold string
	err = r.Scan(&hold, sqldb.Time(&l.CreatedAt), sqldb.Time(&l.UpdatedAt))
	l.ID = stock.ReservationID(hold)
	return l, err
}
