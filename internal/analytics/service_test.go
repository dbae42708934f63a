package analytics_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticsredis"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

var stmts = sqldb.Load(fstest.MapFS{
	"dishes.sql":  {Data: []byte(`SELECT dish_id, viewed, added FROM dish_view ORDER BY dish_id`)},
	"pages.sql":   {Data: []byte(`SELECT page, opened FROM page_view ORDER BY page`)},
	"carts.sql":   {Data: []byte(`SELECT visit_id FROM cart_start ORDER BY visit_id`)},
	"members.sql": {Data: []byte(`SELECT user_id, dish_id, viewed FROM member_view ORDER BY user_id, dish_id`)},
	"batches.sql": {Data: []byte(`SELECT count(*) FROM view_batch`)},
})

const today = "2026-02-26"

// noon is an instant of today in the branch's time zone.
var noon = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)

// levels returns the remaining units of items; an item that is missing has no limit.
type levels map[int64]int64

// Left implements catalog.Levels.
func (l levels) Left(context.Context, int64, string, []int64) (map[int64]int64, error) { return l, nil }

// restaurant is branch 1 with a menu of dishes 101 to 106, and a ledger.
type restaurant struct {
	*orderingtest.Restaurant
	t      *testing.T
	ledger *orderingsql.Ledger
	store  *analyticssql.Store
	source *catalogtest.MemorySource
	left   levels
	now    time.Time
	orders int
}

func open(t *testing.T, db *sqldb.DB) *restaurant {
	t.Helper()
	quotas := slices.Repeat([]int64{stock.Unlimited}, 6)
	r := &restaurant{
		t: t, Restaurant: orderingtest.Open(t, db, 1, quotas...), store: analyticssql.New(db),
		source: catalogtest.NewMemorySource(), left: levels{}, now: noon,
	}
	items := make([]catalog.Item, len(r.Items))
	for i, id := range r.Items {
		items[i] = catalogtest.Item(id, 1000)
		items[i].DishID = id
	}
	r.source.Put(catalogtest.Branch(), catalogtest.Content(1, nil, items...))
	r.ledger = orderingsql.NewLedger(db, orderingtest.NoAdmission{}, func() time.Time { return r.now })
	t.Cleanup(r.ledger.Stop)
	return r
}

// service returns a service as one process has it.
func (r *restaurant) service(c analytics.Cache, fallback analytics.Collector) *analytics.Service {
	now := func() time.Time { return r.now }
	menus := catalog.NewMenuCache(r.source, catalog.NoSharedCache{}, now)
	return &analytics.Service{
		Store: r.store, Cache: c, Fallback: fallback, Menus: menus, LiveMenus: catalog.NewLiveMenus(menus, r.left, now),
		Now: now, NewID: func() string { return uid.New(time.Now()) }, Counted: func(string) {}, CountedSearch: func(string) {},
	}
}

// sell places and pays an order of a member, or of a guest if user is 0.
func (r *restaurant) sell(user int64, lines ...stock.Line) {
	r.t.Helper()
	r.orders++
	p := r.Place(fmt.Sprint("order ", r.orders), r.now, time.Hour, lines...)
	if user != 0 {
		p.Order.UserID, p.Order.VisitID, p.Order.GuestHash, p.Order.Kind = user, "", "", ordering.PickUp
	}
	testenv.Must(r.ledger.Do(r.t.Context(), p))(r.t)
	testenv.Must(r.ledger.Do(r.t.Context(), orderingtest.Pay(p.Order.ID, r.now)))(r.t)
}

func (r *restaurant) rows(name string) (all [][3]int64) {
	r.t.Helper()
	return testenv.Must(sqldb.Collect(r.t.Context(), r.DB, sqldb.Row(func(v *[3]int64) []any {
		return []any{&v[0], &v[1], &v[2]}
	}), stmts.Must(name)))(r.t)
}

// eachCache runs a test with every combination of an engine and a cache.
func eachCache(t *testing.T, test func(t *testing.T, db *sqldb.DB, c analytics.Cache)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) {
		sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, db, analyticsredis.New(redisdbtest.Redis(t))) })
	})
	t.Run("memory", func(t *testing.T) {
		sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, db, analyticsmemory.New(time.Now)) })
	})
}

func TestService_counts_views(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := open(t, db)
		s := r.service(analyticsredis.New(redisdbtest.Redis(t)), nil)
		record := func(v analytics.Views) {
			t.Helper()
			testenv.NoError(t, s.Record(t.Context(), 1, v))
		}
		record(analytics.Views{
			Viewed: []int64{102, 101, 102, 999}, Added: []int64{101}, Visit: "visit1", Pages: []analytics.Page{"menu", "elsewhere"},
		})
		record(analytics.Views{Viewed: []int64{101, 102}, Opened: []int64{101, 101, 999}, User: 7})
		testenv.NoError(t, s.Flush(t.Context()))
		record(analytics.Views{Viewed: []int64{101}, Added: []int64{102}, Visit: "visit1", Pages: []analytics.Page{"menu"}})
		testenv.NoError(t, s.Flush(t.Context()), s.Flush(t.Context()))
		testenv.Equal(t, [][3]int64{{101, 3, 1}, {102, 2, 1}}, r.rows("dishes"))
		testenv.Equal(t, [][3]int64{{7, 101, 1}}, r.rows("members"))
		testenv.Equal(t, []string{"visit1"},
			testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Value[string], stmts.Must("carts")))(t))
		pages := testenv.Must(sqldb.Map[string, int64](t.Context(), db, stmts.Must("pages")))(t)
		testenv.Equal(t, map[string]int64{"menu": 2}, pages)
		if n := testenv.Must(sqldb.Scalar[int64](t.Context(), db, stmts.Must("batches")))(t); n != 2 {
			t.Errorf("%d batches were added; a round without views must add none", n)
		}
		testenv.NoError(t, r.store.Purge(t.Context(), db.Now().Add(time.Hour), noon.Add(time.Hour)))
		if n := testenv.Must(sqldb.Scalar[int64](t.Context(), db, stmts.Must("batches")))(t); n != 0 || len(r.rows("members")) != 0 {
			t.Errorf("after the purge %d batches and %v are left", n, r.rows("members"))
		}
	})
}

func TestService_limits_a_batch(t *testing.T) {
	s := open(t, sqldbtest.SQLite(t)).service(analyticsmemory.New(time.Now), nil)
	err := s.Record(t.Context(), 1, analytics.Views{Viewed: make([]int64, 60), Added: make([]int64, 41)})
	if err == nil {
		t.Error("101 dishes in one batch were counted")
	}
	testenv.NoError(t, s.Record(t.Context(), 1, analytics.Views{Viewed: make([]int64, 60), Added: make([]int64, 40)}))
	if err := s.Record(t.Context(), 2, analytics.Views{Viewed: []int64{101}}); !errors.Is(err, catalog.ErrBranch) {
		t.Errorf("a view in an unknown branch: error %v, want ErrBranch", err)
	}
}

// cutOff is a store of a process that is killed while it adds a batch: before the commit, or after it.
type cutOff struct {
	analytics.Store
	after bool
}

var errKilled = errors.New("killed")

// AddBatch implements analytics.Store.
func (c cutOff) AddBatch(ctx context.Context, b analytics.ViewBatch) error {
	if c.after {
		if err := c.Store.AddBatch(ctx, b); err != nil {
			return err
		}
	}
	return errKilled
}

// Two processes count 1,000 views and flush meanwhile. A process that is killed while it adds a batch loses none and
// adds none twice, because the next round of another process takes the same batch (AN3). A Redis that is emptied loses
// the views since the last flush, and no others (AN4).
func TestService_two_processes_add_up(t *testing.T) {
	url := sqldbtest.Unsynced(sqldbtest.PostgresURL(t))
	dial := func() *sqldb.DB {
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: url, MaxConns: 4}))(t)
		t.Cleanup(db.Close)
		return db
	}
	redis, server := redisdbtest.Real(t)
	r := open(t, dial())
	first := r.service(analyticsredis.New(redis), analyticsmemory.New(time.Now))
	second := r.service(analyticsredis.New(redis), analyticsmemory.New(time.Now))
	second.Store = analyticssql.New(dial())
	var phones sync.WaitGroup
	for i := range 10 {
		s := []*analytics.Service{first, second}[i%2]
		phones.Go(func() {
			for n := range 100 {
				if err := s.Record(t.Context(), 1, analytics.Views{Viewed: []int64{101 + int64(n%2)}}); err != nil {
					t.Error(err)
				}
				if n%25 == 0 {
					if err := s.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	phones.Wait()
	for _, after := range []bool{false, true} {
		testenv.NoError(t, first.Record(t.Context(), 1, analytics.Views{Viewed: []int64{103}}))
		killed := *second
		killed.Store = cutOff{second.Store, after}
		testenv.ErrorIs(t, errKilled, killed.Flush(t.Context()), "the flush of the killed process")
	}
	var flushes sync.WaitGroup
	for _, s := range []*analytics.Service{first, second, first, second} {
		flushes.Go(func() {
			if err := s.Flush(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	flushes.Wait()
	testenv.Equal(t, [][3]int64{{101, 500, 0}, {102, 500, 0}, {103, 2, 0}}, r.rows("dishes"))

	testenv.NoError(t, first.Record(t.Context(), 1, analytics.Views{Viewed: []int64{101, 104}}))
	server.Say("FLUSHALL")
	testenv.NoError(t, second.Record(t.Context(), 1, analytics.Views{Viewed: []int64{105}}), first.Flush(t.Context()))
	testenv.Equal(t, [][3]int64{{101, 500, 0}, {102, 500, 0}, {103, 2, 0}, {105, 1, 0}}, r.rows("dishes"))
	top := testenv.Must(first.Top(t.Context(), analytics.Viewed, 1, analytics.DayOf(today), 9))(t)
	testenv.Equal(t, []analytics.Score{{Dish: 101, N: 500}, {Dish: 102, N: 500}, {Dish: 103, N: 2}, {Dish: 105, N: 1}}, top)
}

// While Redis is unreachable a process counts by itself, and its views are added too (AN2).
func TestService_without_redis(t *testing.T) {
	redis, server := redisdbtest.Real(t)
	r := open(t, sqldbtest.SQLite(t))
	s := r.service(analyticsredis.New(redis), analyticsmemory.New(time.Now))
	results := map[string]int{}
	s.Counted = func(result string) { results[result]++ }
	server.Kill()
	testenv.NoError(t, s.Record(t.Context(), 1, analytics.Views{Viewed: []int64{101, 102, 999}}))
	testenv.ErrorIs(t, redisdb.ErrDown, s.Flush(t.Context()), "Flush without Redis")
	testenv.Equal(t, [][3]int64{{101, 1, 0}, {102, 1, 0}}, r.rows("dishes"))
	testenv.Equal(t, map[string]int{"fallback": 2, "dropped": 1}, results)
	r.sell(0, stock.Line{Item: 101, Qty: 2})
	top := testenv.Must(s.Top(t.Context(), analytics.Sold, 1, analytics.DayOf(today), 9))(t)
	testenv.Equal(t, []analytics.Score{{Dish: 101, N: 2}}, top)
}

// A view just before the end of a business date is added after it.
func TestService_flushes_yesterday(t *testing.T) {
	r := open(t, sqldbtest.SQLite(t))
	s := r.service(analyticsmemory.New(time.Now), nil)
	testenv.NoError(t, s.Record(t.Context(), 1, analytics.Views{Viewed: []int64{101}}))
	r.now = noon.AddDate(0, 0, 1)
	testenv.NoError(t, s.Flush(t.Context()))
	testenv.Equal(t, []analytics.Score{{Dish: 101, N: 1}},
		testenv.Must(r.store.Scores(t.Context(), analytics.Viewed, 1, today, today))(t))
}

// Popular dishes are those that a count of the orders finds, even after Redis was emptied (AN5).
func TestService_popular_equals_a_recount(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		r := open(t, db)
		s := r.service(analyticsredis.New(redis), nil)
		sold := map[int64]int64{}
		for i := range 40 {
			line := stock.Line{Item: 101 + int64(i*i%5), Qty: int64(1 + i%3)}
			r.sell(0, line)
			sold[line.Item] += line.Qty
		}
		testenv.Must(r.ledger.Do(t.Context(), r.Place("unpaid", r.now, time.Hour, stock.Line{Item: 106, Qty: 99})))(t)
		var want []analytics.Score
		for dish, n := range sold {
			want = append(want, analytics.Score{Dish: dish, N: n})
		}
		slices.SortFunc(want, analytics.ByScore)
		top := func() []analytics.Score {
			return testenv.Must(s.Top(t.Context(), analytics.Sold, 1, analytics.DayOf(today), 9))(t)
		}
		testenv.NoError(t, s.RankDays(t.Context()), s.RankWeeks(t.Context()))
		testenv.Equal(t, want, top())
		testenv.Equal(t, want, testenv.Must(s.Cache.Rank(t.Context(), analytics.Sold, 1, analytics.WeekOf("2026-02-26"), 9))(t))
		server.Say("FLUSHALL")
		testenv.Equal(t, want, top())
		testenv.Equal(t, want, testenv.Must(s.Cache.Rank(t.Context(), analytics.Sold, 1, analytics.DayOf(today), 9))(t))
		r.now = noon.AddDate(0, 0, 6)
		testenv.NoError(t, s.RankWeeks(t.Context()))
		testenv.Equal(t, want, testenv.Must(s.Cache.Rank(t.Context(), analytics.Sold, 1, analytics.WeekOf("2026-03-04"), 9))(t))
		r.now = noon.AddDate(0, 0, 7)
		testenv.NoError(t, s.RankWeeks(t.Context()))
		if got := testenv.Must(s.Cache.Rank(t.Context(), analytics.Sold, 1, analytics.WeekOf("2026-03-05"), 9))(t); len(got) > 0 {
			t.Errorf("a week later the ranking is %v", got)
		}
	})
}

// Popular dishes have sold enough, and can be ordered now.
func TestService_Popular(t *testing.T) {
	r := open(t, sqldbtest.SQLite(t))
	popular := func() []int64 {
		t.Helper()
		s := r.service(analyticsmemory.New(time.Now), nil)
		return testenv.Must(s.Popular(t.Context(), 1))(t)
	}
	r.sell(0, stock.Line{Item: 101, Qty: 9}, stock.Line{Item: 102, Qty: 7}, stock.Line{Item: 103, Qty: 4})
	if got := popular(); len(got) > 0 {
		t.Errorf("two dishes that sold enough are popular: %v", got)
	}
	r.sell(0, stock.Line{Item: 103, Qty: 1}, stock.Line{Item: 104, Qty: 6})
	testenv.Equal(t, []int64{101, 102, 104, 103}, popular())
	r.left[102] = 0
	testenv.Equal(t, []int64{101, 104, 103}, popular())
	r.left[103] = 2
	testenv.Equal(t, []int64{101, 104, 103}, popular())
	r.left[104] = 0
	if got := popular(); len(got) > 0 {
		t.Errorf("of two dishes that can be ordered, popular are %v", got)
	}
	delete(r.left, 104)
	b := catalogtest.Branch()
	b.Open = false
	content := testenv.Must(r.source.Content(t.Context(), 1))(t)
	r.source.Put(b, content)
	if got := popular(); b.Open || len(got) > 0 {
		t.Errorf("in a closed branch %v are popular", got)
	}
	r.now = noon.AddDate(0, 0, 1)
	r.source.Put(catalogtest.Branch(), content)
	if got := popular(); len(got) > 0 {
		t.Errorf("the next day %v are still popular", got)
	}
}

func member(id int64) authz.Actor {
	return authz.Actor{Kind: authz.Account, UserID: id, Role: authz.RoleUser}
}

func dishesOf(h analytics.DishHistory) (seen, usual []int64) {
	for _, d := range h.Seen {
		seen = append(seen, d.Dish)
	}
	for _, d := range h.Usual {
		usual = append(usual, d.Dish)
	}
	return seen, usual
}

// Members see only their own history, and a deletion removes it everywhere (AN6).
func TestService_history(t *testing.T) {
	eachCache(t, func(t *testing.T, db *sqldb.DB, c analytics.Cache) {
		r := open(t, db)
		r.now = db.Now().Add(-2 * time.Hour)
		s := r.service(c, nil)
		view := func(user int64, dishes ...int64) {
			t.Helper()
			r.now = r.now.Add(time.Minute)
			testenv.NoError(t, s.Record(t.Context(), 1, analytics.Views{Viewed: []int64{106}, Opened: dishes, User: user}))
		}
		check := func(user int64, wantSeen, wantUsual []int64) {
			t.Helper()
			seen, usual := dishesOf(testenv.Must(s.HistoryOf(t.Context(), member(user)))(t))
			testenv.Equal(t, wantSeen, seen)
			testenv.Equal(t, wantUsual, usual)
		}
		view(7, 101)
		view(7, 102)
		view(8, 103)
		for range 2 {
			r.sell(7, stock.Line{Item: 104, Qty: 1})
		}
		r.sell(7, stock.Line{Item: 105, Qty: 5})
		r.sell(8, stock.Line{Item: 106, Qty: 1})
		check(7, []int64{102, 101}, []int64{104})
		view(7, 101)
		check(7, []int64{101, 102}, []int64{104})
		testenv.NoError(t, s.Flush(t.Context()), c.DropSeen(t.Context(), 7))
		check(7, []int64{101, 102}, []int64{104})
		check(8, []int64{103}, nil)

		view(7, 103) // not yet in SQL when the history is cleared
		testenv.NoError(t, s.ClearHistory(t.Context(), member(7)))
		check(7, nil, nil)
		check(8, []int64{103}, nil)
		for _, row := range r.rows("members") {
			if row[0] == 7 {
				t.Errorf("after the deletion SQL has %v", row)
			}
		}
		r.now = db.Now().Add(time.Minute)
		view(7, 106)
		check(7, []int64{106}, nil)
	})
}

func TestService_history_needs_an_account(t *testing.T) {
	s := open(t, sqldbtest.SQLite(t)).service(analyticsmemory.New(time.Now), nil)
	for _, by := range []authz.Actor{{}, {Kind: authz.Service, AllBranches: true}, authz.System()} {
		if _, err := s.HistoryOf(t.Context(), by); err == nil {
			t.Errorf("%s reads a history", by)
		}
		if err := s.ClearHistory(t.Context(), by); err == nil {
			t.Errorf("%s clears a history", by)
		}
	}
}
