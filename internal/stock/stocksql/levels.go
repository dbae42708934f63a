package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// itemRef identifies a stock item as other systems do.
type itemRef struct {
	branch int64
	sku    string
}

// Level returns the level of an item; one without an id does not exist. Concurrent calls share a statement.
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

// readLevels answers concurrent calls, which may contain an item many times.
func (r *Reservations) readLevels(ctx context.Context, questions []itemRef) ([]stock.Level, error) {
	known := make(map[itemRef]stock.Level, len(questions))
	asked := make([]itemRef, 0, len(questions))
	for _, q := range questions {
		if _, ok := known[q]; !ok {
			known[q] = stock.Level{}
			asked = append(asked, q)
		}
	}
	found, err := sqldb.Collect(ctx, r.db, scanLevel, stmt("level_select"), sqldb.NewRowSet(len(asked)).
		Int("branch_id", func(i int) int64 { return asked[i].branch }).
		Text("sku", func(i int) string { return asked[i].sku }))
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

// rankHalfLife is the time after which a read counts half. So the ranking follows the day: what was read at lunch makes
// room in the evening.
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
		tx.Queue(stmt("rank_fade"), now.UnixMilli(), now.Add(-rankHalfLife).UnixMilli())
		tx.Queue(stmt("rank_delete"))
		return nil
	})
}

// Top returns the most read items of all branches.
func (r *Reservations) Top(ctx context.Context, limit int) ([]stock.Level, error) {
	return sqldb.Collect(ctx, r.db, scanLevel, stmt("rank_top"), limit)
}
