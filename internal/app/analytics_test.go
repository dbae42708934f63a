package app

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/catalog"
	"comanda/internal/demo"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// viewedToday returns how often the dishes of branch 1 were viewed on a business date.
func viewedToday(t *testing.T, db *sqldb.DB, date string) (n int64) {
	t.Helper()
	for _, d := range testenv.Must(analyticssql.New(db).Scores(t.Context(), analytics.Viewed, 1, date, date))(t) {
		n += d.N
	}
	return n
}

// searchedToday returns how often guests of branch 1 searched on a business date.
func searchedToday(t *testing.T, db *sqldb.DB, b catalog.Branch, date string) (n int64) {
	t.Helper()
	span := testenv.Must(report.NewSpan(b, date, date))(t)
	for _, s := range testenv.Must(reportsql.New(db).Searches(t.Context(), span, report.MaxSearched))(t) {
		n += s.Searches
	}
	return n
}

// A process adds views and searches to SQL while it runs and when it stops. A stop also writes refused requests.
func TestViews_of_a_process(t *testing.T) {
	t.Parallel()
	p := startProcess(t, nil, API)
	k := p.core
	testenv.NoError(t, demo.Load(t.Context(), k.DB))
	menu := testenv.Must(k.Menus.Active(t.Context(), 1))(t)
	date := menu.Branch.Calendar().BizDate(k.DB.Now())
	record := func() {
		t.Helper()
		testenv.NoError(t, k.Analytics.Record(t.Context(), 1, analytics.Views{
			Viewed: []int64{menu.Items[0].DishID}, Visit: "visit", Searches: []string{"phở"},
		}))
	}
	record()
	testenv.Eventually(t, 30*time.Second, func() bool {
		return viewedToday(t, k.DB, date) == 1 && searchedToday(t, k.DB, menu.Branch, date) == 1
	})
	record()
	k.Accounts.Incidents.Add("user:7", audit.ActionDenied, "route:GET /api/audit", "192.0.2.1")
	testenv.NoError(t, p.stop(t.Context()))
	db := testenv.Must(OpenDatabase(t.Context(), k.Config))(t)
	defer db.Close()
	if views, searches := viewedToday(t, db, date), searchedToday(t, db, menu.Branch, date); views != 2 || searches != 2 {
		t.Errorf("after the stop %d views and %d searches are in SQL, want 2", views, searches)
	}
	entries, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{
		Actor: "user:7", Action: audit.ActionDenied, To: time.Now().Add(time.Hour), EveryBranch: true, Limit: 2,
	})
	if err != nil || len(entries) != 1 || entries[0].Subject != "route:GET /api/audit" {
		t.Errorf("refused requests after the stop: %+v, error %v", entries, err)
	}
}

// A process with the role worker computes the rankings.
func TestRankings_of_a_process(t *testing.T) {
	p := startProcess(t, nil, Worker)
	shown := prometheus.NewRegistry()
	shown.MustRegister(p.registry)
	for _, job := range []string{"rank_days", "rank_weeks"} {
		testenv.Eventually(t, 10*time.Second, func() bool { return rounds(t, shown, job) > 0 })
	}
}

// sellDishes places an order of a guest and pays it.
func (f *fixture) sellDishes(items string) {
	f.t.Helper()
	var order struct{ ID string }
	f.must(f.ask("guest", "POST", "/cis/order/create", f.fill(
		`{"items":`+items+`,"paymentMethod":"SANDBOX","clientTxnId":"{key}","menuVersionId":"{version}"}`))).into(f.t, &order)
	f.pay(order.ID)
}

// TestReference_views goes through the rows of redis-key-naming.md (001) and user-store.md (002) about views, searches,
// rankings and histories. Two processes share a PostgreSQL and a Redis. Each row is read by the person whom it is for, and again
// after FLUSHALL.
func TestReference_views(t *testing.T) {
	t.Parallel()
	redis := testenv.RedisServer(t)
	a, b := twoProcesses(t, seldom, redis.Addr(), redis.Addr())
	a.createUsers()
	maps.Copy(b.bearer, a.bearer)
	maps.Copy(b.guest, a.guest)
	branch := testenv.Must(a.core.Menus.Branch(t.Context(), 1))(t)
	date := branch.Calendar().BizDate(a.core.DB.Now())
	for range 10 {
		a.must(a.ask("guest", "POST", "/cis/views", `{"viewed":["4","5","999"],"added":["5"],"pages":["menu"]}`))
		b.must(b.ask("guest", "POST", "/cis/views", `{"viewed":["5"],"pages":["cart"],"searches":["bánh không có","Phở"]}`))
	}
	b.must(b.ask("member", "POST", "/me/views", `{"viewed":["6"],"opened":["5","6"],"branchId":"1"}`))
	a.sellDishes(`[{"itemId":"11","qty":6},{"itemId":"12","qty":5},{"itemId":"13","qty":7}]`)
	// The loops of both processes take the counters meanwhile.
	testenv.Eventually(t, soon, func() bool {
		return viewedToday(t, a.core.DB, date) == 31 && searchedToday(t, a.core.DB, branch, date) == 20
	})

	csv := func(f *fixture, name string) string {
		path := "/api/reports/" + name + "?format=csv&branchId=1&locale=en&from=" + date + "&to=" + date
		return string(f.must(f.ask("managerA", "GET", path, "")).body)
	}
	read := func(f *fixture) map[string]string {
		return map[string]string{
			"001-A7 ranking":          string(f.must(f.ask("", "GET", "/cis/branch/1/popular", "")).body),
			"001-A18 002-B1 counters": csv(f, "views"),
			"002-B2 seen":             string(f.must(f.ask("member", "GET", "/me/dishes", "")).body),
			"002-B2 seen by others":   string(f.must(f.ask("other", "GET", "/me/dishes", "")).body),
			"002-B3 002-B5 searches":  csv(f, "searches"),
			"002-B4 carts":            csv(f, "carts"),
		}
	}
	before := read(a)
	for row, want := range map[string]string{
		"001-A7 ranking":          `"dishIds":["6","4","5"]`,
		"001-A18 002-B1 counters": "Chicken pho,20,10,1,",
		"002-B2 seen":             `"seen":["5","6"]`,
		"002-B2 seen by others":   `"seen":[]`,
		"002-B3 002-B5 searches":  "banh khong co,10,10\r\npho,10,0",
		"002-B4 carts":            date + ",1,1,0,0,",
	} {
		if !strings.Contains(before[row], want) {
			t.Errorf("%s: %s, want %s", row, before[row], want)
		}
	}
	for key, kind := range map[string]string{
		"app:rank:sold:1:d-" + date: "zset", "events:search:" + date: "stream", "views:user:" + a.field("member", "GET", "/me", "", "id"): "zset",
	} {
		if got := strings.TrimSpace(redis.Say("TYPE " + key)); !strings.Contains(got, kind) {
			t.Errorf("%s is %s, want %s", key, got, kind)
		}
	}
	if audit := testenv.Must(keyaudit.Run(t.Context(), a.core.Redis, keyaudit.Options{}))(t); !audit.Clean {
		t.Errorf("the audit of keys found %v", audit.Findings)
	}
	redis.Say("FLUSHALL")
	testenv.Equal(t, before, read(b))
}
