package analyticssql

import (
	"context"

	"comanda/internal/analytics"
	"comanda/internal/sqldb"
)

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
