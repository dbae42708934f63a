package analyticssql

import (
	"context"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/sqldb"
)

// SearchPosition implements analytics.Store.
func (s *Store) SearchPosition(ctx context.Context, log, date string) (string, error) {
	return sqldb.Scalar[string](ctx, s.db, stmt("search_position"), log, date)
}

// AddSearches implements analytics.Store. The position is moved first: a second transaction waits for the first one and
// then adds nothing.
func (s *Store) AddSearches(ctx context.Context, b analytics.SearchBatch) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := tx.Exec(ctx, stmt("search_position_move"), b.Log, b.Date, b.To, s.db.Now().UnixMilli(), b.From)
		if err != nil || n == 0 {
			return err
		}
		date := func(int) string { return b.Date }
		if len(b.Days) > 0 {
			tx.Queue(stmt("search_days_add"), sqldb.NewRowSet(len(b.Days)).
				Int("branch_id", func(i int) int64 { return b.Days[i].Branch }).Text("biz_date", date).
				Text("query", func(i int) string { return b.Days[i].Text }).
				Int("searches", func(i int) int64 { return b.Days[i].Searches }).
				Int("missed", func(i int) int64 { return b.Days[i].Missed }), analytics.MaxSearchDay)
		}
		if len(b.Visitors) > 0 {
			tx.Queue(stmt("search_visitors_add"), sqldb.NewRowSet(len(b.Visitors)).
				Int("branch_id", func(i int) int64 { return b.Visitors[i].Branch }).
				Text("query", func(i int) string { return b.Visitors[i].Text }).
				Int("visitor", func(i int) int64 { return b.Visitors[i].Visitor }).Text("seen_on", date))
		}
		return nil
	})
}

// PopularSearches implements analytics.Store.
func (s *Store) PopularSearches(ctx context.Context, branch int64, since string, visitors, limit int) ([]string, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[string], stmt("popular_searches"), branch, since, visitors, limit)
}

// PurgeSearches deletes counts of business dates before one date, visitors from before another, and positions that have not
// moved since an instant.
func (s *Store) PurgeSearches(ctx context.Context, days, visitors string, positions time.Time) error {
	if _, err := s.db.Exec(ctx, stmt("search_days_purge"), days); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, stmt("search_visitors_purge"), visitors); err != nil {
		return err
	}
	_, err := s.db.Exec(ctx, stmt("search_positions_purge"), positions.UnixMilli())
	return err
}
