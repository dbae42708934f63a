// Package analyticssql stores the counters of views. A transaction locks the batch, then rows of dishes, pages, carts
// and members, each in the order of their keys; or the position of a log, then rows of texts and visitors.
package analyticssql

import (
	"context"
	"embed"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/sqldb"
)

// Store implements analytics.Store.
type Store struct{ db *sqldb.DB }

// New returns a Store.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Branches implements analytics.Store.
func (s *Store) Branches(ctx context.Context) ([]int64, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("branch_ids"))
}

// AddBatch implements analytics.Store. The id is entered first: a second transaction waits for the first one and then
// adds nothing.
func (s *Store) AddBatch(ctx context.Context, b analytics.ViewBatch) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := tx.Exec(ctx, stmt("batch_enter"), b.ID, s.db.Now().UnixMilli())
		if err != nil || n == 0 {
			return err
		}
		branch, date := func(int) int64 { return b.Branch }, func(int) string { return b.Date }
		if len(b.Dishes) > 0 {
			tx.Queue(stmt("dish_views_add"), sqldb.NewRowSet(len(b.Dishes)).Int("branch_id", branch).Text("biz_date", date).
				Int("dish_id", func(i int) int64 { return b.Dishes[i].Dish }).
				Int("viewed", func(i int) int64 { return b.Dishes[i].Viewed }).
				Int("added", func(i int) int64 { return b.Dishes[i].Added }))
		}
		if len(b.Pages) > 0 {
			tx.Queue(stmt("page_views_add"), sqldb.NewRowSet(len(b.Pages)).Int("branch_id", branch).Text("biz_date", date).
				Text("page", func(i int) string { return string(b.Pages[i].Page) }).
				Int("opened", func(i int) int64 { return b.Pages[i].Opened }))
		}
		if len(b.Carts) > 0 {
			tx.Queue(stmt("cart_starts_add"), sqldb.NewRowSet(len(b.Carts)).
				Text("visit_id", func(i int) string { return b.Carts[i] }).Int("branch_id", branch).Text("biz_date", date))
		}
		if len(b.Members) > 0 {
			tx.Queue(stmt("member_views_add"), sqldb.NewRowSet(len(b.Members)).
				Int("user_id", func(i int) int64 { return b.Members[i].User }).
				Int("dish_id", func(i int) int64 { return b.Members[i].Dish }).
				Int("viewed", func(i int) int64 { return b.Members[i].Viewed }).
				Int("viewed_at", func(i int) int64 { return b.Members[i].At.UnixMilli() }))
		}
		return nil
	})
}

// Scores implements analytics.Store.
func (s *Store) Scores(
	ctx context.Context, board analytics.RankBoard, branch int64, from, to string,
) ([]analytics.Score, error) {
	q := stmt("sold_scores")
	if board == analytics.Viewed {
		q = stmt("viewed_scores")
	}
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(d *analytics.Score) []any { return []any{&d.Dish, &d.N} }),
		q, branch, from, to)
}

// Seen implements analytics.Store.
func (s *Store) Seen(ctx context.Context, user int64, limit int) ([]analytics.Seen, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(d *analytics.Seen) []any {
		return []any{&d.Dish, sqldb.Time(&d.At)}
	}), stmt("seen_dishes"), user, limit)
}

// Usual implements analytics.Store.
func (s *Store) Usual(ctx context.Context, user int64, since time.Time, limit int) ([]analytics.Usual, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(d *analytics.Usual) []any { return []any{&d.Dish, &d.Orders} }),
		stmt("usual_dishes"), user, since.UnixMilli(), limit)
}

// ClearHistory implements analytics.Store. cleared_at does not move with the clock of a SQLite machine: after a step
// backwards new views are missing for a while, but deleted ones never appear again.
func (s *Store) ClearHistory(ctx context.Context, user int64) error {
	return s.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		tx.Queue(stmt("history_clear"), user, s.db.Now().UnixMilli())
		tx.Queue(stmt("member_views_delete"), user)
		return nil
	})
}

// Purge deletes batches that were added before one instant, and members' views from before another, or from before the
// member cleared the history.
func (s *Store) Purge(ctx context.Context, batches, views time.Time) error {
	if _, err := s.db.Exec(ctx, stmt("batch_purge"), batches.UnixMilli()); err != nil {
		return err
	}
	_, err := s.db.Exec(ctx, stmt("member_views_purge"), views.UnixMilli())
	return err
}

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must

// AddActive implements analytics.ActivityStore.
func (s *Store) AddActive(ctx context.Context, all []analytics.ActiveDay) error {
	_, err := s.db.Exec(ctx, stmt("activity_add"), sqldb.NewRowSet(len(all)).
		Text("day", func(i int) string { return all[i].Date }).
		Int("user_id", func(i int) int64 { return all[i].User }))
	return err
}

// ActiveOn implements analytics.ActivityStore.
func (s *Store) ActiveOn(ctx context.Context, date string) ([]int64, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("activity_on"), date)
}

// CountActive implements analytics.ActivityStore.
func (s *Store) CountActive(ctx context.Context, dates []string) (m analytics.ActiveMembers, err error) {
	m, _, err = sqldb.One(ctx, s.db, sqldb.Row(func(m *analytics.ActiveMembers) []any {
		return []any{&m.Daily, &m.Weekly, &m.Monthly, &m.Returning}
	}), stmt("activity_count"), dates[0], dates[analytics.WeekDays-1], dates[analytics.MonthDays-1],
		dates[analytics.FigureDays-1])
	return m, err
}

// PurgeActivity deletes dates before one.
func (s *Store) PurgeActivity(ctx context.Context, before string) error {
	_, err := s.db.Exec(ctx, stmt("activity_purge"), before)
	return err
}

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
