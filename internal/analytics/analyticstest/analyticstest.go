// Package analyticstest has the conformance suite of analytics.Cache.
package analyticstest

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/testenv"
)

// At is the instant of the suite's views.
var At = time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)

var branches atomic.Int64

// newScope returns a scope that no other test uses.
func newScope() analytics.BranchDay {
	return analytics.BranchDay{Branch: branches.Add(1), Date: "2026-02-26"}
}

// Cache runs the suite.
func Cache(t *testing.T, c analytics.Cache) {
	t.Helper()
	t.Run("counters", func(t *testing.T) { counters(t, c) })
	t.Run("a batch left behind", func(t *testing.T) { leftBehind(t, c) })
	t.Run("concurrent views", func(t *testing.T) { concurrent(t, c) })
	t.Run("rankings", func(t *testing.T) { rankings(t, c) })
	t.Run("seen dishes", func(t *testing.T) { seen(t, c) })
	t.Run("searches", func(t *testing.T) { searches(t, c) })
	t.Run("bounded searches", func(t *testing.T) { boundedSearches(t, c) })
}

func add(t *testing.T, c analytics.Cache, s analytics.BranchDay, v analytics.Views, at time.Time) {
	t.Helper()
	testenv.NoError(t, c.Add(t.Context(), s, v, at))
}

func take(t *testing.T, c analytics.Cache, s analytics.BranchDay, id string) (analytics.ViewBatch, bool) {
	t.Helper()
	b, ok, err := c.Take(t.Context(), s, id)
	testenv.NoError(t, err)
	return b, ok
}

func counters(t *testing.T, c analytics.Cache) {
	s := newScope()
	if _, ok := take(t, c, s, "none"); ok {
		t.Error("a scope without views has a batch")
	}
	add(t, c, s, analytics.Views{
		Viewed: []int64{3, 1}, Added: []int64{1}, Pages: []analytics.Page{analytics.MenuPage, analytics.MenuPage}, Visit: "v1",
	}, At)
	add(t, c, s, analytics.Views{Viewed: []int64{1}, Pages: []analytics.Page{analytics.CartPage}, Visit: "v2"}, At)
	add(t, c, s, analytics.Views{Viewed: []int64{1, 2, 4}, Opened: []int64{1, 2}, User: 9}, At)
	add(t, c, s, analytics.Views{Viewed: []int64{1}, Added: []int64{2}, Opened: []int64{1}, User: 9}, At.Add(time.Second))
	want := analytics.ViewBatch{
		ID: "first", BranchDay: s,
		Dishes: []analytics.DishViews{{Dish: 1, Viewed: 4, Added: 1}, {Dish: 2, Viewed: 1, Added: 1}, {Dish: 3, Viewed: 1}, {Dish: 4, Viewed: 1}},
		Pages:  []analytics.PageCount{{Page: analytics.CartPage, Opened: 1}, {Page: analytics.MenuPage, Opened: 2}},
		Carts:  []string{"v1"},
		Members: []analytics.MemberCount{
			{User: 9, Dish: 1, Viewed: 2, At: At.Add(time.Second)}, {User: 9, Dish: 2, Viewed: 1, At: At},
		},
	}
	b, ok := take(t, c, s, "first")
	testenv.Equal(t, want, b)
	if !ok {
		t.Error("the views were not taken")
	}
	testenv.NoError(t, c.Done(t.Context(), b))
	if b, ok := take(t, c, s, "second"); ok {
		t.Errorf("the views were taken twice: %+v", b)
	}
}

// A batch that a process took and did not remove is taken again, under its own id, before newer views.
func leftBehind(t *testing.T, c analytics.Cache) {
	s := newScope()
	add(t, c, s, analytics.Views{Viewed: []int64{1}}, At)
	left, _ := take(t, c, s, "left")
	add(t, c, s, analytics.Views{Viewed: []int64{2}}, At)
	again, _ := take(t, c, s, "again")
	testenv.Equal(t, left, again)
	testenv.NoError(t, c.Done(t.Context(), again))
	newer, ok := take(t, c, s, "newer")
	if !ok || newer.ID != "newer" || len(newer.Dishes) != 1 || newer.Dishes[0].Dish != 2 {
		t.Errorf("the next batch is %+v, %t", newer, ok)
	}
	// The process that took the first batch is late, and must not remove the newer one.
	testenv.NoError(t, c.Done(t.Context(), left))
	if b, ok := take(t, c, s, "last"); !ok || b.ID != "newer" {
		t.Errorf("after a late removal the batch is %q, %t", b.ID, ok)
	}
}

// Each view is in exactly one batch, whatever is taken meanwhile.
func concurrent(t *testing.T, c analytics.Cache) {
	s := newScope()
	const processes, each = 4, 100
	var total int64
	var writers sync.WaitGroup
	for range processes {
		writers.Go(func() {
			for range each {
				if err := c.Add(t.Context(), s, analytics.Views{Viewed: []int64{1}}, At); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stopped := make(chan struct{})
	go func() { writers.Wait(); close(stopped) }()
	for i, last := 0, false; !last; i++ {
		select {
		case <-stopped:
			last = true
		default:
		}
		if b, ok := take(t, c, s, fmt.Sprint("batch", i)); ok {
			total += b.Dishes[0].Viewed
			testenv.NoError(t, c.Done(t.Context(), b))
		}
	}
	if total != processes*each {
		t.Errorf("%d views were taken, want %d", total, processes*each)
	}
}

func rankings(t *testing.T, c analytics.Cache) {
	branch := newScope().Branch
	day, next := analytics.DayOf("2026-02-26"), analytics.DayOf("2026-02-27")
	rank := func(board analytics.RankBoard, p analytics.RankPeriod, n int) []analytics.Score {
		t.Helper()
		return testenv.Must(c.Rank(t.Context(), board, branch, p, n))(t)
	}
	if got := rank(analytics.Sold, day, 9); len(got) > 0 {
		t.Errorf("a missing ranking is %v", got)
	}
	all := []analytics.Score{{Dish: 5, N: 7}, {Dish: 10, N: 7}, {Dish: 9, N: 7}, {Dish: 1, N: 20_000_000_000}}
	testenv.NoError(t, c.SetRank(t.Context(), analytics.Sold, branch, day, all))
	testenv.NoError(t, c.SetRank(t.Context(), analytics.Viewed, branch, day, all[:1]))
	testenv.Equal(t, []analytics.Score{{Dish: 1, N: 20_000_000_000}, {Dish: 5, N: 7}, {Dish: 9, N: 7}},
		rank(analytics.Sold, day, 3))
	testenv.Equal(t, all[:1], rank(analytics.Viewed, day, 3))
	testenv.NoError(t, c.SetRank(t.Context(), analytics.Sold, branch, next, all[1:2]))
	testenv.Equal(t, all[1:2], rank(analytics.Sold, next, 3))
	testenv.NoError(t, c.SetRank(t.Context(), analytics.Sold, branch, next, nil))
	if got := rank(analytics.Sold, next, 9); len(got) > 0 {
		t.Errorf("a removed ranking is %v", got)
	}
}

func seen(t *testing.T, c analytics.Cache) {
	s := newScope()
	const user, other = 70, 71
	read := func(user int64) []analytics.Seen {
		t.Helper()
		all, ok, err := c.Seen(t.Context(), user)
		testenv.NoError(t, err)
		if ok != (len(all) > 0) {
			t.Errorf("%d dishes, but ok is %t", len(all), ok)
		}
		return all
	}
	view := func(user int64, at time.Time, dishes ...int64) {
		t.Helper()
		add(t, c, s, analytics.Views{Viewed: []int64{9}, Opened: dishes, User: user}, at)
	}
	view(user, At, 1)
	if got := read(user); len(got) > 0 {
		t.Errorf("a view began a list without the dishes in SQL: %v", got)
	}
	testenv.NoError(t, c.SetSeen(t.Context(), user, []analytics.Seen{{Dish: 1, At: At}, {Dish: 2, At: At.Add(-time.Hour)}}))
	view(user, At.Add(time.Minute), 2)
	view(other, At.Add(time.Minute), 3)
	testenv.Equal(t, []analytics.Seen{{Dish: 2, At: At.Add(time.Minute)}, {Dish: 1, At: At}}, read(user))
	var many []int64
	for dish := range int64(2 * analytics.MaxSeen) {
		many = append(many, dish+100)
	}
	view(user, At.Add(time.Hour), many...)
	if got := read(user); len(got) != analytics.MaxSeen || got[0].Dish < 100 {
		t.Errorf("%d dishes, the first is %d", len(got), got[0].Dish)
	}
	testenv.NoError(t, c.SetSeen(t.Context(), other, []analytics.Seen{{Dish: 3, At: At}}))
	testenv.NoError(t, c.DropSeen(t.Context(), user))
	if got := read(user); len(got) > 0 {
		t.Errorf("a dropped list is %v", got)
	}
	if got := read(other); len(got) != 1 {
		t.Errorf("the other member's list is %v", got)
	}
}

// reader reads a log of searches from its begin.
type reader struct {
	t        *testing.T
	c        analytics.Cache
	date     string
	position string
}

// next returns the following searches, and moves the position behind them.
func (r *reader) next(limit int) []analytics.SearchEvent {
	r.t.Helper()
	all, next, err := r.c.SearchesAfter(r.t.Context(), r.date, r.position, limit)
	testenv.NoError(r.t, err)
	if (next == "") != (len(all) == 0) {
		r.t.Errorf("%d searches end at %q", len(all), next)
	}
	if next != "" {
		r.position = next
	}
	return all
}

// Searches are read in their order from any position, and stay for other readers.
func searches(t *testing.T, c analytics.Cache) {
	const date, nextDate = "2026-02-26", "2026-02-27"
	if c.LogID() == "" {
		t.Error("the log has no name")
	}
	all := []analytics.SearchEvent{
		{Branch: 1, Text: "pho bo", Found: true, Visitor: 7}, {Branch: 2, Text: "牛肉", Visitor: 1023}, {Branch: 1, Text: "\"a\" b's", Found: true},
	}
	r := &reader{t: t, c: c, date: date}
	if got := r.next(9); len(got) > 0 {
		t.Errorf("an empty log has %v", got)
	}
	testenv.NoError(t, c.AppendSearches(t.Context(), date, all[:2]), c.AppendSearches(t.Context(), date, all[2:]),
		c.AppendSearches(t.Context(), nextDate, all[1:2]))
	testenv.Equal(t, all[:1], r.next(1))
	testenv.Equal(t, all[1:], r.next(9))
	if got := r.next(9); len(got) > 0 {
		t.Errorf("after the last search there are %v", got)
	}
	testenv.NoError(t, c.AppendSearches(t.Context(), date, all[:1]))
	testenv.Equal(t, all[:1], r.next(9))
	testenv.Equal(t, append(all, all[0]), (&reader{t: t, c: c, date: date}).next(9))
	testenv.Equal(t, all[1:2], (&reader{t: t, c: c, date: nextDate}).next(9))
}

// A log keeps the newest 10,000 searches of a date. A reader that is behind continues with the oldest of them.
func boundedSearches(t *testing.T, c analytics.Cache) {
	const date, kept, batch = "2026-02-28", 10_000, 500
	r := &reader{t: t, c: c, date: date}
	for first := 0; first < kept+2*batch; first += batch {
		all := make([]analytics.SearchEvent, batch)
		for i := range all {
			all[i] = analytics.SearchEvent{Branch: 1, Text: strconv.Itoa(first + i)}
		}
		testenv.NoError(t, c.AppendSearches(t.Context(), date, all))
		if first == 0 {
			r.next(1)
		}
	}
	var texts []string
	for {
		all := r.next(1000)
		if len(all) == 0 {
			break
		}
		for _, e := range all {
			texts = append(texts, e.Text)
		}
	}
	if len(texts) != kept || texts[0] != "1000" || texts[kept-1] != "10999" {
		t.Errorf("%d searches are kept", len(texts))
	}
}
