package stocksql

import (
	"context"
	"strings"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// itemRef identifies a stock item by branch and SKU, as other systems do.
type itemRef struct {
	branch int64
	sku    string
}

// Level returns the level of an item. The returned level has no id if the item does not exist. Concurrent calls share
// a statement.
func (r *Reservations) Level(ctx context.Context, branch int64, sku string) (stock.Level, error) {
	return r.levels.Do(ctx, itemRef{branch, sku})
}

// Levels returns the levels of the branch's items that exist.
func (r *Reservations) Levels(ctx context.Context, branch int64, skus []string) ([]stock.Level, error) {
	questions := make([]itemRef, len(skus))
	for i, sku := range skus {
		questions[i] = itemRef{branch, sku}
	}
	found, failures := r.levels.DoAll(ctx, questions)
	levels := make([]stock.Level, 0, len(found))
	for i, l := range found {
		if failures[i] != nil {
			return nil, failures[i]
		}
		if l.ID != 0 {
			levels = append(levels, l)
		}
	}
	return levels, nil
}

// readLevels reads the levels for concurrent calls, which may request an item many times.
func (r *Reservations) readLevels(ctx context.Context, questions []itemRef) ([]stock.Level, error) {
	known := make(map[itemRef]stock.Level, len(questions))
	distinct := make([]itemRef, 0, len(questions))
	for _, q := range questions {
		if _, ok := known[q]; !ok {
			known[q] = stock.Level{}
			distinct = append(distinct, q)
		}
	}
	found, err := sqldb.Collect(ctx, r.db, scanLevel, stmt("level_select"), sqldb.NewRowSet(len(distinct)).
		Int("branch_id", func(i int) int64 { return distinct[i].branch }).
		Text("sku", func(i int) string { return distinct[i].sku }))
	if err != nil {
		return nil, err
	}
	for _, l := range found {
		known[itemRef{l.Branch, l.SKU}] = l
	}
	levels := make([]stock.Level, len(questions))
	for i, q := range questions {
		levels[i] = known[q]
	}
	return levels, nil
}

var scanLevel = sqldb.Row(func(l *stock.Level) []any {
	return []any{&l.ID, &l.Branch, &l.SKU, &l.Name, &l.Unit, &l.LowAt, &l.Available, &l.Reserved, &l.Sold}
})

// rankHalfLife is the time after which a read counts half. So the ranking changes during the day: items that were read
// at lunch lose their rank in the evening.
const rankHalfLife = time.Hour

// Rank adds read counts and decays older ones.
func (r *Reservations) Rank(ctx context.Context, reads []stock.ReadCount) error {
	now := r.now()
	return r.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		if len(reads) > 0 {
			tx.Queue(stmt("rank_add"), sqldb.NewRowSet(len(reads)).
				Int("branch_id", func(i int) int64 { return reads[i].Branch }).
				Text("sku", func(i int) string { return reads[i].SKU }).
				Int("reads", func(i int) int64 { return reads[i].N }), now.UnixMilli())
		}
		tx.Queue(stmt("rank_decay"), now.UnixMilli(), now.Add(-rankHalfLife).UnixMilli())
		tx.Queue(stmt("rank_delete"))
		return nil
	})
}

// Top returns the most read items of all branches.
func (r *Reservations) Top(ctx context.Context, limit int) ([]stock.Level, error) {
	return sqldb.Collect(ctx, r.db, scanLevel, stmt("rank_top"), limit)
}

// Item returns a stock item by number. The returned item has no id if it does not exist.
func (st *Store) Item(ctx context.Context, id int64) (stock.Item, error) {
	t, _, err := sqldb.One(ctx, st.db, scanItem, stmt("stock_item_select"), id)
	return t, err
}

// literal escapes a text for use in a LIKE pattern.
var literal = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Levels returns a page of a branch's stock items by name, and the total.
func (st *Store) Levels(ctx context.Context, f stock.LevelFilter) ([]stock.Level, int64, error) {
	pattern, low := "", 0
	if f.Query != "" {
		pattern = "%" + literal.Replace(strings.ToLower(f.Query)) + "%"
	}
	if f.Low {
		low = 1
	}
	return sqldb.Page(ctx, st.db, scanLevel, stmt("level_count"), stmt("level_list"), f.Limit, f.Offset, f.Branch, pattern,
		low)
}

// Adjustments returns a page of an item's adjustments, newest first, and the total.
func (st *Store) Adjustments(ctx context.Context, item int64, limit, offset int) ([]stock.AdjustmentRecord, int64, error) {
	return sqldb.Page(ctx, st.db, sqldb.Row(func(a *stock.AdjustmentRecord) []any {
		return []any{&a.ID, &a.Kind, &a.Units, &a.Available, &a.Note, &a.Actor, sqldb.Time(&a.At)}
	}), stmt("adjustment_count"), stmt("adjustment_list"), limit, offset, item)
}

// Reservations returns a page of a branch's reservations, the most recently changed first, and the total.
func (st *Store) Reservations(ctx context.Context, f stock.ReservationFilter) ([]stock.ReservationRecord, int64, error) {
	state, reason := f.Status.State()
	page, total, err := sqldb.Page(ctx, st.db, scanListed, stmt("reservation_count"), stmt("reservation_list"), f.Limit,
		f.Offset, f.Branch,
		string(state), reason)
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	ids := make([]string, len(page))
	for i, p := range page {
		ids[i] = p.ID
	}
	found, err := find(ctx, st.db, ids)
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
