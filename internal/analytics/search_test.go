package analytics_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticsredis"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var searchStmts = sqldb.Load(fstest.MapFS{
	"days.sql": {Data: []byte(`
		SELECT branch_id, biz_date, query, searches, missed FROM search_day ORDER BY branch_id, biz_date, query`)},
	"visitors.sql":  {Data: []byte(`SELECT query, count(*) FROM search_visitor GROUP BY query ORDER BY query`)},
	"positions.sql": {Data: []byte(`SELECT count(*) FROM search_position`)},
	"fill.sql": {Data: []byte(`
		INSERT INTO search_day (branch_id, biz_date, query, searches, missed) VALUES (1, '2026-02-26', $1, 1, 1)`)},
})

// searched returns the stored texts as "date text searches/missed".
func searched(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	return testenv.Must(sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (string, error) {
		var branch, searches, missed int64
		var date, query string
		err := r.Scan(&branch, &date, &query, &searches, &missed)
		return fmt.Sprintf("%d %s %s %d/%d", branch, date, query, searches, missed), err
	}, searchStmts.Must("days")))(t)
}

// search records the searches of a visit.
func search(t *testing.T, s *analytics.Service, visit string, texts ...string) {
	t.Helper()
	testenv.NoError(t, s.Record(t.Context(), 1, analytics.Views{Visit: visit, Searches: texts}))
}

// suggested returns the suggested searches in a language.
func suggested(t *testing.T, s *analytics.Service, typed string, in catalog.Locale) string {
	t.Helper()
	found := testenv.Must(s.Suggest(t.Context(), 1, typed, func(catalog.Branch) catalog.Locale { return in }))(t)
	return strings.Join(found.Searches, ", ")
}

func TestService_counts_searches(t *testing.T) {
	eachCache(t, func(t *testing.T, db *sqldb.DB, c analytics.Cache) {
		r := open(t, db)
		s := r.service(c, nil)
		results := map[string]int{}
		s.CountedSearch = func(result string) { results[result]++ }
		search(t, s, "visit1", "Phở", "  phở  MỀM ", "pizza")
		search(t, s, "visit2", "PHO", "牛", "pizza")
		testenv.NoError(t, s.Record(t.Context(), 1, analytics.Views{User: 7, Searches: []string{"pho"}}))
		// What may be about a person, or is not a search for a dish, is not stored (AN7).
		search(t, s, "visit2", "an@example.com", "0912345678", "ban 12 345", "p", "", strings.Repeat("pho ", 11))
		testenv.NoError(t, s.Flush(t.Context()), s.Flush(t.Context()))
		want := []string{
			"1 2026-02-26 pho 3/0", "1 2026-02-26 pho mem 1/0", "1 2026-02-26 pizza 2/2", "1 2026-02-26 牛 1/1",
		}
		testenv.Equal(t, want, searched(t, db))
		testenv.Equal(t, map[string]int64{"pho": 3, "pho mem": 1},
			testenv.Must(sqldb.Map[string, int64](t.Context(), db, searchStmts.Must("visitors")))(t))
		testenv.Equal(t, map[string]int{"counted": 7, "refused": 6}, results)
		err := s.Record(t.Context(), 1, analytics.Views{Searches: make([]string, 11)})
		if err == nil || !strings.Contains(err.Error(), "too_many_views") {
			t.Errorf("eleven searches at once: error %v", err)
		}

		testenv.NoError(t, r.store.PurgeSearches(t.Context(), today, today, db.Now().Add(-time.Hour)))
		testenv.Equal(t, want, searched(t, db))
		testenv.NoError(t, r.store.PurgeSearches(t.Context(), "2026-02-27", "2026-02-27", db.Now().Add(time.Hour)))
		n := testenv.Must(sqldb.Scalar[int64](t.Context(), db, searchStmts.Must("positions")))(t)
		if left := searched(t, db); len(left) > 0 || n != 0 {
			t.Errorf("after the purge %v and %d positions are left", left, n)
		}
	})
}

// A text that four visitors have searched is not suggested, and that of a fifth is (AN9). The same visitor counts once.
func TestService_suggests_what_five_visitors_searched(t *testing.T) {
	eachCache(t, func(t *testing.T, db *sqldb.DB, c analytics.Cache) {
		r := open(t, db)
		s := r.service(c, nil)
		for i := range 4 {
			for range 3 {
				search(t, s, fmt.Sprint("visit", i), "pho", "banh khong co")
			}
		}
		testenv.NoError(t, s.Flush(t.Context()))
		testenv.Equal(t, "", suggested(t, s, "", catalog.Vietnamese))
		search(t, s, "visit4", "phở", "banh khong co")
		testenv.NoError(t, s.Flush(t.Context()))
		testenv.Equal(t, "Phở", suggested(t, s, "", catalog.Vietnamese))
		testenv.Equal(t, "Pho", suggested(t, s, "p", catalog.English))
		testenv.Equal(t, "", suggested(t, s, "pho", catalog.English)) // is what was typed
		testenv.Equal(t, "", suggested(t, s, "bun", catalog.English))

		r.now = noon.AddDate(0, 0, 29)
		testenv.Equal(t, "Phở", suggested(t, s, "", catalog.Vietnamese))
		r.now = noon.AddDate(0, 0, 30)
		testenv.Equal(t, "", suggested(t, s, "", catalog.Vietnamese))
	})
}

// A suggestion is spelled as on the menu, in whole words; what the menu does not have is not shown.
func TestService_spells_suggestions(t *testing.T) {
	r := open(t, sqldbtest.SQLite(t))
	it := catalogtest.Item(9, 1000)
	it.Names = catalog.Texts{catalog.Vietnamese: "Bún chả (Hà Nội)", catalog.English: "紅燒牛肉麵"}
	gone := catalogtest.Item(10, 1000)
	gone.Names, gone.Active = catalog.Texts{catalog.Vietnamese: "Cơm gà"}, false
	r.source.Put(catalogtest.Branch(), catalogtest.Content(2, nil, it, gone))
	s := r.service(analyticsmemory.New(time.Now), nil)
	for i := range 5 {
		search(t, s, fmt.Sprint("visit", i), "bun", "cha ha noi", "bun ha", "ha no", "牛肉", "com ga", "gung nuong", "noi bun")
	}
	testenv.NoError(t, s.Flush(t.Context()))
	testenv.Equal(t, "Bún, Gừng nướng", suggested(t, s, "", catalog.Vietnamese))
	testenv.Equal(t, "牛肉", suggested(t, s, "", catalog.English))
	found := testenv.Must(s.Suggest(t.Context(), 1, "noi", func(catalog.Branch) catalog.Locale { return catalog.Vietnamese }))(t)
	testenv.Equal(t, []analytics.Suggested{{Dish: it.DishID, Name: "Bún chả (Hà Nội)"}}, found.Dishes)
}

// Names that begin with the typed text come first, in menu order.
func TestService_suggests_dishes(t *testing.T) {
	r := open(t, sqldbtest.SQLite(t))
	items := make([]catalog.Item, 0, 8)
	for i, name := range []string{"Trà đào", "Gỏi đào", "Đào ngâm", "Đào tươi", "Bún"} {
		it := catalogtest.Item(int64(i+8), 1000)
		it.Names = catalog.Texts{catalog.Vietnamese: name}
		items = append(items, it)
	}
	items = append(items, items[2]) // on a second menu
	r.source.Put(catalogtest.Branch(), catalogtest.Content(2, nil, items...))
	s := r.service(analyticsmemory.New(time.Now), nil)
	s.Searches = analytics.NewSearchCache()
	for range 2 {
		found := testenv.Must(s.Suggest(t.Context(), 1, "dao", func(catalog.Branch) catalog.Locale { return catalog.Vietnamese }))(t)
		var names []string
		for _, d := range found.Dishes {
			names = append(names, d.Name)
		}
		testenv.Equal(t, []string{"Đào ngâm", "Đào tươi", "Trà đào", "Gỏi đào"}, names)
	}
	testenv.ErrorIs(t, catalog.ErrBranch, testenv.Err(s.Suggest(t.Context(), 2, "", nil)), "an unknown branch")
}

// Popular searches are read once a minute.
func TestService_keeps_suggestions(t *testing.T) {
	r := open(t, sqldbtest.SQLite(t))
	s := r.service(analyticsmemory.New(time.Now), nil)
	s.Searches = analytics.NewSearchCache()
	testenv.Equal(t, "", suggested(t, s, "", catalog.English))
	for i := range 5 {
		search(t, s, fmt.Sprint("visit", i), "pho")
	}
	testenv.NoError(t, s.Flush(t.Context()))
	r.now = noon.Add(59 * time.Second)
	testenv.Equal(t, "", suggested(t, s, "", catalog.English))
	r.now = noon.Add(time.Minute)
	testenv.Equal(t, "Pho", suggested(t, s, "", catalog.English))
}

// A business date has a limited number of texts; known texts are still counted.
func TestService_bounds_texts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := open(t, db).service(analyticsmemory.New(time.Now), nil)
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			for i := range analytics.MaxSearchDay {
				tx.Queue(searchStmts.Must("fill"), fmt.Sprintf("text %04d", i))
			}
			return nil
		}))
		for i := range 5 {
			search(t, s, fmt.Sprint("visit", i), "pho", "text 0000")
		}
		testenv.NoError(t, s.Flush(t.Context()))
		all := searched(t, db)
		if len(all) != analytics.MaxSearchDay || all[0] != "1 2026-02-26 text 0000 6/6" {
			t.Errorf("%d texts, the first is %s", len(all), all[0])
		}
		testenv.Equal(t, "", suggested(t, s, "", catalog.English))
	})
}

// The limit holds for texts that arrive together, too. Those that were searched most are added.
func TestService_bounds_new_texts_of_one_batch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := open(t, db).service(analyticsmemory.New(time.Now), nil)
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			for i := range analytics.MaxSearchDay - 2 {
				tx.Queue(searchStmts.Must("fill"), fmt.Sprintf("text %04d", i))
			}
			return nil
		}))
		search(t, s, "visit 1", "banh mi", "com", "pho", "text 0000")
		search(t, s, "visit 2", "com", "pho")
		testenv.NoError(t, s.Flush(t.Context()))
		all := searched(t, db)
		testenv.Equal(t, analytics.MaxSearchDay, len(all))
		testenv.Equal(t, []string{"1 2026-02-26 com 2/2", "1 2026-02-26 pho 2/0", "1 2026-02-26 text 0000 2/2"}, all[:3])
	})
}

// cutOffSearches is a store of a process that is killed while it adds searches: before the commit, or after it.
type cutOffSearches struct {
	analytics.Store
	after bool
}

// AddSearches implements analytics.Store.
func (c cutOffSearches) AddSearches(ctx context.Context, b analytics.SearchBatch) error {
	if c.after {
		if err := c.Store.AddSearches(ctx, b); err != nil {
			return err
		}
	}
	return errKilled
}

// Two processes log 1,000 searches and flush meanwhile. A process that is killed while it adds searches loses none and
// adds none twice, because another process reads them from the same position (AN8). A Redis that is emptied loses the
// searches since the last flush, and no others (AN4).
func TestService_two_processes_add_up_searches(t *testing.T) {
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
				search(t, s, fmt.Sprint("visit", i), "pho")
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
		search(t, first, "visit", "pizza")
		killed := *second
		killed.Store = cutOffSearches{second.Store, after}
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
	want := []string{"1 2026-02-26 pho 1000/0", "1 2026-02-26 pizza 2/2"}
	testenv.Equal(t, want, searched(t, r.DB))

	search(t, first, "visit", "lost")
	server.Say("FLUSHALL")
	search(t, second, "visit", "new after it")
	testenv.NoError(t, first.Flush(t.Context()))
	testenv.Equal(t, append([]string{"1 2026-02-26 new after it 1/1"}, want...), searched(t, r.DB))
}

// While Redis is unreachable a process logs searches by itself; one of just before the end of a business date is added
// after it.
func TestService_searches_without_redis(t *testing.T) {
	redis, server := redisdbtest.Real(t)
	r := open(t, sqldbtest.SQLite(t))
	s := r.service(analyticsredis.New(redis), analyticsmemory.New(time.Now))
	results := map[string]int{}
	s.CountedSearch = func(result string) { results[result]++ }
	server.Kill()
	search(t, s, "visit", "pho", "x@y.z")
	r.now = noon.AddDate(0, 0, 1)
	if err := s.Flush(t.Context()); err == nil {
		t.Error("a flush without Redis has no error")
	}
	testenv.Equal(t, []string{"1 2026-02-26 pho 1/0"}, searched(t, r.DB))
	testenv.Equal(t, map[string]int{"fallback": 1, "refused": 1}, results)
}
