package analyticshttp_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/account/accounttest"
	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticshttp"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/limit"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// phones finds one guest, whose token is an.
type phones struct{}

// Guest implements analyticshttp.GuestFinder.
func (phones) Guest(_ context.Context, token string) (analyticshttp.Guest, error) {
	if token != "an" {
		return analyticshttp.Guest{}, fault.New(fault.Unauthenticated, "customer_token_invalid", "")
	}
	return analyticshttp.Guest{Branch: 1, Visit: "visit", Hash: "an"}, nil
}

// noLimits implements catalog.Levels.
type noLimits struct{}

// Left implements catalog.Levels.
func (noLimits) Left(context.Context, int64, string, []int64) (map[int64]int64, error) {
	return map[int64]int64{}, nil
}

// site serves the routes of branch 1, which has dishes 101 to 104.
type site struct {
	t        *testing.T
	service  *analytics.Service
	activity *analytics.Activity
	server   http.Handler
	now      time.Time
}

func open(t *testing.T, db *sqldb.DB) *site {
	t.Helper()
	s := &site{t: t, now: db.Now()}
	clock := func() time.Time { return s.now }
	r := orderingtest.Open(t, db, 1, stock.Unlimited, stock.Unlimited, stock.Unlimited, stock.Unlimited)
	items := make([]catalog.Item, len(r.Items))
	for i, id := range r.Items {
		items[i] = catalogtest.Item(id, 1000)
		items[i].DishID = id
	}
	source := catalogtest.NewMemorySource()
	source.Put(catalogtest.Branch(), catalogtest.Content(1, nil, items...))
	menus := catalog.NewMenuCache(source, catalog.NoSharedCache{}, clock)
	s.service = &analytics.Service{
		Store: analyticssql.New(db), Cache: analyticsmemory.New(clock), Menus: menus,
		LiveMenus: catalog.NewLiveMenus(menus, noLimits{}, clock), Now: clock,
		NewID: func() string { return uid.New(time.Now()) }, Counted: func(string) {}, CountedSearch: func(string) {},
	}
	server := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	server.SetAuthenticator(authzhttp.Authenticator{Tokens: accounttest.ByID{}, Routes: accounttest.ByID{}})
	server.SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: clock})
	s.activity = &analytics.Activity{Store: analyticssql.New(db), Cache: analyticsmemory.NewLoginStore(), Now: clock}
	analyticshttp.Register(server.API(), s.service, s.activity, phones{})
	s.server = server
	return s
}

// ask sends a request of an account, or of a guest if user is a name, and returns the status and the body.
func (s *site) ask(user, method, path, body string) string {
	s.t.Helper()
	header := []string{"Authorization", "Bearer " + user}
	if user == "an" || user == "stranger" {
		header = []string{httpapi.CustomerTokenHeader, user}
	}
	w := testenv.Serve(s.t, s.server, method, path, body, header...)
	text := strings.TrimSpace(w.Body.String())
	if w.Code >= http.StatusBadRequest {
		text = ""
	}
	return strings.TrimSpace(fmt.Sprint(w.Code, " ", text))
}

func (s *site) want(want, user, method, path, body string) {
	s.t.Helper()
	if got := s.ask(user, method, path, body); got != want {
		s.t.Errorf("%s %s of %s with %s: %s, want %s", method, path, user, body, got, want)
	}
}

func TestViews(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := open(t, db)
		s.want("204", "an", "POST", "/cis/views", `{"viewed":["101","102","999"],"added":["101"],"pages":["menu"]}`)
		s.want("204", "7", "POST", "/me/views", `{"viewed":["101"],"branchId":"1"}`)
		s.want("204", "an", "POST", "/cis/views", `{}`)
		for body, want := range map[string]string{
			`{"viewed":["0"]}`:          "422",
			`{"viewed":["a"]}`:          "422",
			`{"pages":["somewhere"]}`:   "422",
			`{"viewed":` + many(101):    "422",
			`{"viewed":` + many(100):    "204",
			`{"viewed":["101"],"x":{}}`: "422",

			`{"searches":["pho","\u0000"]`:                     "422",
			`{"searches":["` + strings.Repeat("x", 101) + `"]`: "422",
			`{"searches":` + many(11):                          "422",
			`{"searches":["Phở  bò","","a@b.c"]`:               "204",
		} {
			s.want(want, "an", "POST", "/cis/views", strings.TrimSuffix(body, "}")+"}")
		}
		s.want("401", "stranger", "POST", "/cis/views", `{"viewed":["101"]}`)
		s.want("401", "unknown", "POST", "/me/views", `{"viewed":["101"],"branchId":"1"}`)
		s.want("404", "7", "POST", "/me/views", `{"viewed":["101"],"branchId":"2"}`)
		testenv.NoError(t, s.service.Flush(t.Context()))
		day := analytics.DayOf(catalogtest.Branch().Calendar().BizDate(s.now))
		testenv.Equal(t, []analytics.Score{{Dish: 101, N: 3}, {Dish: 102, N: 1}},
			testenv.Must(s.service.Top(t.Context(), analytics.Viewed, 1, day, 9))(t))
	})
}

// many returns a list of n dishes.
func many(n int) string {
	return `["` + strings.Join(strings.Split(strings.Repeat("101 ", n-1)+"101", " "), `","`) + `"]`
}

// A device that reports more often than the app does is refused for a while; another device is not.
func TestViews_are_limited_per_device(t *testing.T) {
	s := open(t, sqldbtest.SQLite(t))
	for range 15 {
		s.want("204", "an", "POST", "/cis/views", `{"viewed":["101"]}`)
	}
	s.want("429", "an", "POST", "/cis/views", `{"viewed":["101"]}`)
	s.want("204", "7", "POST", "/me/views", `{"viewed":["101"],"branchId":"1"}`)
	s.now = s.now.Add(2 * time.Second)
	s.want("204", "an", "POST", "/cis/views", `{"viewed":["101"]}`)
}

// Members read and delete their own history; no request names another member.
func TestHistory_is_the_members_own(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := open(t, db)
		s.want("204", "7", "POST", "/me/views", `{"viewed":["101","102"],"opened":["101"],"branchId":"1"}`)
		s.want("204", "8", "POST", "/me/views", `{"opened":["103"],"branchId":"1"}`)
		s.want(`200 {"seen":["101"],"usual":[]}`, "7", "GET", "/me/dishes", "")
		s.want(`200 {"seen":["103"],"usual":[]}`, "8", "GET", "/me/dishes", "")
		s.want(`200 {"seen":["103"],"usual":[]}`, "8", "GET", "/me/dishes?userId=7", "")
		s.want("401", "an", "GET", "/me/dishes", "")
		s.want("204", "7", "DELETE", "/me/dishes", "")
		s.want(`200 {"seen":[],"usual":[]}`, "7", "GET", "/me/dishes", "")
		s.want(`200 {"seen":["103"],"usual":[]}`, "8", "GET", "/me/dishes", "")
	})
}

func TestPopular(t *testing.T) {
	s := open(t, sqldbtest.SQLite(t))
	s.want(`200 {"dishIds":[]}`, "an", "GET", "/cis/branch/1/popular", "")
	s.want("404", "an", "GET", "/cis/branch/2/popular", "")
	day := analytics.DayOf(catalogtest.Branch().Calendar().BizDate(s.now))
	testenv.NoError(t, s.service.Cache.SetRank(t.Context(), analytics.Sold, 1, day, []analytics.Score{
		{Dish: 103, N: 9}, {Dish: 101, N: 8}, {Dish: 102, N: 5}, {Dish: 104, N: 4},
	}))
	s.want(`200 {"dishIds":["103","101","102"]}`, "an", "GET", "/cis/branch/1/popular", "")
}

// Suggestions are public; searches are counted without who typed them.
func TestSuggestions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := open(t, db)
		none := `200 {"searches":[],"dishes":[]}`
		s.want(none, "an", "GET", "/cis/branch/1/suggestions", "")
		s.want("404", "an", "GET", "/cis/branch/2/suggestions", "")
		s.want("422", "an", "GET", "/cis/branch/1/suggestions?q="+strings.Repeat("x", 101), "")
		for user := range 4 {
			s.want("204", fmt.Sprint(7+user), "POST", "/me/views", `{"branchId":"1","searches":["phở"]}`)
		}
		testenv.NoError(t, s.service.Flush(t.Context()))
		s.want(none, "an", "GET", "/cis/branch/1/suggestions?locale=vi", "")
		s.want("204", "an", "POST", "/cis/views", `{"searches":["PHO"]}`)
		testenv.NoError(t, s.service.Flush(t.Context()))
		s.want(`200 {"searches":["Phở"],"dishes":[]}`, "an", "GET", "/cis/branch/1/suggestions?locale=vi", "")
		s.want(`200 {"searches":["Pho"],"dishes":[]}`, "an", "GET", "/cis/branch/1/suggestions?locale=en", "")
		s.want(`200 {"searches":[],"dishes":[{"dishId":"104","name":"Dish 104"}]}`, "an", "GET",
			"/cis/branch/1/suggestions?locale=en&q=104", "")
	})
}

// The answer has the guests of the branches that the account sees; this one works in none.
func TestOnline(t *testing.T) {
	s := open(t, sqldbtest.SQLite(t))
	s.activity.MemberSeen(7, s.now)
	s.activity.GuestSeen(1, "0123456789abcdef0123", s.now)
	s.activity.Date = func(context.Context, time.Time) (string, error) { return "2026-02-26", nil }
	testenv.NoError(t, s.activity.Flush(t.Context()))
	s.want(`200 {"minutes":5,"members":1,"branches":[]}`, "7", "GET", "/api/reports/online", "")
}
