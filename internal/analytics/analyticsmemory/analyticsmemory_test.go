package analyticsmemory_test

import (
	"testing"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticstest"
	"comanda/internal/testenv"
)

func TestStore(t *testing.T) {
	analyticstest.Cache(t, analyticsmemory.New(func() time.Time { return analyticstest.At }))
}

func TestActivity(t *testing.T) { analyticstest.Activity(t, analyticsmemory.NewLoginStore()) }

// Only as many dates are kept as in Redis.
func TestActivity_is_bounded(t *testing.T) {
	s, day := analyticsmemory.NewLoginStore(), analyticstest.At
	for i := range 401 {
		testenv.NoError(t, s.RestoreDay(t.Context(), day.AddDate(0, 0, i).Format(time.DateOnly), []int64{1}))
	}
	_, incomplete, err := s.CountActive(t.Context(), analyticstest.Dates(day.AddDate(0, 0, analytics.FigureDays-1)))
	testenv.NoError(t, err)
	testenv.Equal(t, []string{day.Format(time.DateOnly)}, incomplete)
}

// While SQL is unreachable the counters take bounded memory.
func TestStore_is_bounded(t *testing.T) {
	s := analyticsmemory.New(func() time.Time { return analyticstest.At })
	scope := analytics.BranchDay{Branch: 1, Date: "2026-02-26"}
	for dish := range int64(60_000) {
		testenv.NoError(t, s.Add(t.Context(), scope, analytics.Views{Viewed: []int64{dish + 1}}, analyticstest.At))
	}
	b, _, err := s.Take(t.Context(), scope, "all")
	if len(b.Dishes) != 50_000 || err != nil {
		t.Errorf("%d dishes are counted, %v", len(b.Dishes), err)
	}
}

// A list of seen dishes expires, so that a wrong one does not stay.
func TestStore_lists_expire(t *testing.T) {
	now := analyticstest.At
	s := analyticsmemory.New(func() time.Time { return now })
	testenv.NoError(t, s.SetSeen(t.Context(), 7, []analytics.Seen{{Dish: 1, At: now}}))
	now = now.Add(10 * time.Minute)
	if all, ok, err := s.Seen(t.Context(), 7); ok || err != nil {
		t.Errorf("after ten minutes the list is %v, %v", all, err)
	}
}

// Only the newest dates of searches stay in memory.
func TestStore_drops_old_searches(t *testing.T) {
	s := analyticsmemory.New(func() time.Time { return analyticstest.At })
	for _, date := range []string{"2026-02-26", "2026-02-27", "2026-02-28", "2026-03-01"} {
		testenv.NoError(t, s.AppendSearches(t.Context(), date, []analytics.SearchEvent{{Text: date}}))
	}
	for date, want := range map[string]int{"2026-02-26": 0, "2026-02-27": 1, "2026-03-01": 1} {
		if all, _, err := s.SearchesAfter(t.Context(), date, "", 9); len(all) != want || err != nil {
			t.Errorf("%s has %d searches, %v; want %d", date, len(all), err, want)
		}
	}
}
