package analyticstest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/testenv"
)

// Activity runs the conformance suite of analytics.ActivityCache on an empty store.
func Activity(t *testing.T, c analytics.ActivityCache) {
	t.Helper()
	t.Run("figures", func(t *testing.T) { figures(t, c) })
	t.Run("incomplete dates", func(t *testing.T) { incompleteDates(t, c) })
	t.Run("large ids", func(t *testing.T) { largeIDs(t, c) })
	t.Run("figures equal a count", func(t *testing.T) { figuresEqualCount(t, c) })
	t.Run("presence", func(t *testing.T) { presence(t, c) })
	t.Run("concurrent visitors", func(t *testing.T) { concurrentVisitors(t, c) })
}

// Dates returns the dates of the figures of a day, the newest first.
func Dates(day time.Time) []string {
	dates := make([]string, analytics.FigureDays)
	for i := range dates {
		dates[i] = day.AddDate(0, 0, -i).Format(time.DateOnly)
	}
	return dates
}

// newDay returns a day whose dates no other test uses.
func newDay() time.Time { return At.AddDate(0, 0, int(40*branches.Add(1))) }

func restore(t *testing.T, c analytics.ActivityCache, date string, users ...int64) {
	t.Helper()
	testenv.NoError(t, c.RestoreDay(t.Context(), date, users))
}

func countActive(t *testing.T, c analytics.ActivityCache, dates []string) analytics.ActiveMembers {
	t.Helper()
	m, incomplete, err := c.CountActive(t.Context(), dates)
	if testenv.NoError(t, err); len(incomplete) > 0 {
		t.Errorf("the dates %v are not complete", incomplete)
	}
	return m
}

func figures(t *testing.T, c analytics.ActivityCache) {
	dates := Dates(newDay())
	for _, date := range dates {
		restore(t, c, date)
	}
	testenv.Equal(t, analytics.ActiveMembers{}, countActive(t, c, dates))
	// Member 1 was here today and yesterday, 2 today and 30 days ago, 3 today only, 8 six days ago, 64 a week ago and
	// 1000 29 days ago.
	for date, users := range map[int][]int64{0: {1, 2, 3}, 1: {1}, 6: {8}, 7: {64}, 29: {1000}, 30: {2}} {
		testenv.NoError(t, c.MarkActive(t.Context(), dates[date], users))
	}
	testenv.Equal(t, analytics.ActiveMembers{Daily: 3, Weekly: 4, Monthly: 6, Returning: 2}, countActive(t, c, dates))
	testenv.NoError(t, c.MarkActive(t.Context(), dates[0], []int64{3, 1000}))
	testenv.Equal(t, analytics.ActiveMembers{Daily: 4, Weekly: 5, Monthly: 6, Returning: 3}, countActive(t, c, dates))
}

// A date that was only marked lacks members, so its figures are not used. Restoring it keeps those that were marked.
func incompleteDates(t *testing.T, c analytics.ActivityCache) {
	dates := Dates(newDay())
	testenv.NoError(t, c.MarkActive(t.Context(), dates[0], []int64{5}))
	for _, date := range dates[2:] {
		restore(t, c, date)
	}
	_, incomplete, err := c.CountActive(t.Context(), dates)
	testenv.NoError(t, err)
	testenv.Equal(t, dates[:2], incomplete)
	restore(t, c, dates[0], 6)
	restore(t, c, dates[1], 6)
	testenv.Equal(t, analytics.ActiveMembers{Daily: 2, Weekly: 2, Monthly: 2, Returning: 1}, countActive(t, c, dates))
}

// An id that does not fit makes its date incomplete, because a figure without it would be wrong. The largest id fits.
// One date is not restored, so that nothing is counted: the embedded store counts a full bitmap slowly.
func largeIDs(t *testing.T, c analytics.ActivityCache) {
	dates := Dates(newDay())
	restore(t, c, dates[0], analytics.MaxMember)
	for _, date := range dates[2:] {
		restore(t, c, date)
	}
	check := func(want ...string) {
		t.Helper()
		_, incomplete, err := c.CountActive(t.Context(), dates)
		testenv.NoError(t, err)
		testenv.Equal(t, want, incomplete)
	}
	check(dates[1])
	testenv.NoError(t, c.MarkActive(t.Context(), dates[0], []int64{analytics.MaxMember}))
	testenv.NoError(t, c.MarkActive(t.Context(), dates[3], []int64{1, analytics.MaxMember + 1}))
	check(dates[1], dates[3])
	restore(t, c, dates[3], 1, analytics.MaxMember+1)
	check(dates[1], dates[3])
}

// figuresEqualCount compares random members with a count of sets.
func figuresEqualCount(t *testing.T, c analytics.ActivityCache) {
	random := rand.New(rand.NewPCG(1, 2))
	dates := Dates(newDay())
	on := make([]map[int64]bool, len(dates))
	for i, date := range dates {
		on[i] = map[int64]bool{}
		var stored, marked []int64
		for range random.IntN(3000) {
			id := 1 + random.Int64N(5000)
			if on[i][id] = true; id%2 == 0 {
				stored = append(stored, id)
			} else {
				marked = append(marked, id)
			}
		}
		testenv.NoError(t, c.MarkActive(t.Context(), date, marked))
		restore(t, c, date, stored...)
	}
	anyOf := func(days []map[int64]bool) map[int64]bool {
		all := map[int64]bool{}
		for _, day := range days {
			for id := range day {
				all[id] = true
			}
		}
		return all
	}
	before := anyOf(on[1:])
	var returning int64
	for id := range on[0] {
		if before[id] {
			returning++
		}
	}
	testenv.Equal(t, analytics.ActiveMembers{
		Daily: int64(len(on[0])), Weekly: int64(len(anyOf(on[:7]))), Monthly: int64(len(anyOf(on[:30]))), Returning: returning,
	}, countActive(t, c, dates))
}

func presence(t *testing.T, c analytics.ActivityCache) {
	branch, other := branches.Add(1), branches.Add(1)
	count := func(branch int64, since time.Time) int64 {
		t.Helper()
		return testenv.Must(c.CountOnline(t.Context(), branch, since))(t)
	}
	seen := func(branch int64, at time.Time, visitors ...string) {
		t.Helper()
		var all []analytics.VisitorSeen
		for _, v := range visitors {
			all = append(all, analytics.VisitorSeen{Visitor: v, At: at})
		}
		testenv.NoError(t, c.SaveLastSeen(t.Context(), branch, all))
	}
	seen(branch, At, "a", "b")
	seen(other, At, "a")
	seen(analytics.MembersBranch, At, "12")
	seen(branch, At.Add(-time.Minute), "a") // late: the last seen stays
	seen(branch, At.Add(2*time.Minute), "c", "a")
	for _, w := range []struct {
		branch, want int64
		since        time.Time
	}{
		{branch, 3, At}, {branch, 2, At.Add(time.Minute)}, {branch, 0, At.Add(time.Hour)}, {other, 1, At},
		{analytics.MembersBranch, 1, At},
	} {
		if got := count(w.branch, w.since); got != w.want {
			t.Errorf("branch %d has %d visitors since %v, want %d", w.branch, got, w.since, w.want)
		}
	}
	seen(branch, At.Add(analytics.OnlineWindow+time.Second), "d")
	if got := count(branch, time.UnixMilli(0)); got != 3 {
		t.Errorf("%d visitors are stored, want 3: b has left", got)
	}
}

// A visitor counts once, however many processes store it.
func concurrentVisitors(t *testing.T, c analytics.ActivityCache) {
	branch, all := branches.Add(1), make([]analytics.VisitorSeen, 2500)
	for i := range all {
		all[i] = analytics.VisitorSeen{Visitor: strconv.Itoa(i), At: At}
	}
	var processes sync.WaitGroup
	for range 4 {
		processes.Go(func() {
			for part := range slices.Chunk(all, 100) {
				if err := c.SaveLastSeen(t.Context(), branch, part); err != nil {
					t.Error(err)
				}
			}
		})
	}
	processes.Wait()
	if n := testenv.Must(c.CountOnline(t.Context(), branch, At))(t); n != 2500 {
		t.Errorf("%d visitors are here, want 2500", n)
	}
}
