package app

import (
	"context"
	"crypto/rand"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/document/documentsql"
	"comanda/internal/keyspace"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/sqldb"
	"comanda/internal/tagcache"
	"comanda/internal/testenv"
)

// cached returns how many requests for values of an entity a process answered with a result.
func (f *fixture) cached(entity, result string) (n float64) {
	f.t.Helper()
	for _, family := range testenv.Must(f.registry.Gather())(f.t) {
		if family.GetName() != "cache_requests_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["entity"] == entity && labels["result"] == result {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// settle waits until all changes have reached the documents, and with them the cache.
func (f *fixture) settle() {
	f.t.Helper()
	testenv.Eventually(f.t, 20*time.Second, func() bool {
		return testenv.Must(f.core.documentStore.Backlog(f.t.Context(), f.core.DB.Now()))(f.t).Pending == 0
	})
}

// backdate moves an order to an earlier business date, as if it had been placed then.
var backdate = sqldb.Load(fstest.MapFS{"backdate.sql": {Data: []byte(`UPDATE order_info SET biz_date = $2 WHERE id = $1`)}}).
	Must("backdate")

// TestReference_caches goes through the rows of redis-key-naming.md (001) about caches. A value is computed once, is read by the
// other process too, and follows a change that either of them makes.
func TestReference_caches(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		testCaches(t, f, f)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		redis := testenv.RedisServer(t)
		a, b := twoProcesses(t, seldom, redis.Addr(), redis.Addr())
		a.createUsers()
		maps.Copy(b.bearer, a.bearer)
		maps.Copy(b.guest, a.guest)
		testCaches(t, a, b)
		a.settle()
		for _, path := range []string{"/dishes", "/dishes/4", "/api/users?size=1", pastOrders} {
			b.must(b.ask("owner", "GET", path, ""))
		}
		for _, key := range []string{
			"app:cache:{report:1}:list:*", "app:cache:{order:1}:count:*", "app:cache:{user}:count:*", "app:cache:{dish}:detail:*",
			"app:cache:{dish}:list:*", "app:cache:{branch:1}:detail:*", "app:tags:{report:1}",
		} {
			if keys := redis.Say("KEYS " + key); !strings.Contains(keys, "app:") {
				t.Errorf("no key %s", key)
			}
		}
		if audit := testenv.Must(keyaudit.Run(t.Context(), a.core.Redis, keyaudit.Options{}))(t); !audit.Clean {
			t.Errorf("the audit of keys found %v", audit.Findings)
		}

		// An emptied Redis costs a computation.
		before := b.ask("managerA", "GET", pastSales, "").body
		redis.Say("FLUSHALL")
		if after := b.ask("managerA", "GET", pastSales, "").body; string(after) != string(before) {
			t.Errorf("after FLUSHALL the report is %s, want %s", after, before)
		}
	})
}

const (
	past       = "2026-01-15" // a business date before the current one
	pastOrders = "/api/orders?branchId=1&size=1&bizDate=" + past
)

// pastSales is the path of a report of the past.
const pastSales = "/api/reports/sales-days?branchId=1&from=" + past + "&to=" + past

func testCaches(t *testing.T, a, b *fixture) {
	t.Helper()
	// get reads a path twice in each process. All but the first are from the cache.
	get := func(principal, path, entity string) string {
		t.Helper()
		a.settle()
		text := string(a.must(a.ask(principal, "GET", path, "")).body)
		hits := b.cached(entity, "hit")
		if again := string(b.must(b.ask(principal, "GET", path, "")).body); again != text {
			t.Errorf("%s differs between processes: %s and %s", path, text, again)
		}
		if n := b.cached(entity, "hit") - hits; n != 1 {
			t.Errorf("%s: the second request has %g hits, want 1", path, n)
		}
		return text
	}
	// follows waits until a path shows a text. Without an invalidation it would take minutes.
	follows := func(principal, path, want string) {
		t.Helper()
		text := ""
		defer func() {
			if t.Failed() {
				t.Logf("%s shows %s", path, text)
			}
		}()
		testenv.Eventually(t, 20*time.Second, func() bool {
			text = string(b.must(b.ask(principal, "GET", path, "")).body)
			return strings.Contains(text, want)
		})
	}

	t.Run("001-B6 001-A11 001-C2 dishes", func(*testing.T) {
		get("", "/dishes/4?locale=en", "dish")
		a.must(a.ask("owner", "PATCH", "/api/dishes/4", `{"names":{"en":"Renamed"}}`))
		follows("", "/dishes/4?locale=en", "Renamed")
	})
	t.Run("001-B7 lists", func(*testing.T) {
		get("", "/dishes?locale=en", "dish")
		a.must(a.ask("owner", "PATCH", "/api/dishes/4", `{"names":{"en":"Renamed again"}}`))
		follows("", "/dishes?locale=en", "Renamed again")
		get("", "/dishes?locale=en&q=renamed", "dish")
	})
	t.Run("001-B7 001-B10 001-B13 001-A14 reports", func(t *testing.T) {
		order := a.order("SANDBOX")
		a.pay(order)
		testenv.Must(a.core.DB.Exec(t.Context(), backdate, order, past))(t)
		if report := get("managerA", pastSales, "report"); !strings.Contains(report, `"refunded":0`) {
			t.Errorf("before the refund: %s", report)
		}
		// An order of today does not change the past.
		a.pay(a.order("SANDBOX"))
		a.settle()
		hits := b.cached("report", "hit")
		b.must(b.ask("managerA", "GET", pastSales, ""))
		if n := b.cached("report", "hit") - hits; n != 1 {
			t.Errorf("after an order of today the report of the past has %g hits, want 1", n)
		}
		a.must(a.ask("managerA", "POST", "/api/orders/"+order+"/refunds", `{"reason":"cold"}`))
		follows("managerA", pastSales, `"refunded":`+a.total)
	})
	t.Run("001-B7 a report of today", func(t *testing.T) {
		branch := testenv.Must(a.core.Menus.Branch(t.Context(), 1))(t)
		today := branch.Calendar().BizDate(a.core.DB.Now())
		path := "/api/reports/sales-days?branchId=1&from=" + today + "&to=" + today
		placed := func(f *fixture, path string) int64 {
			var v struct{ Totals struct{ Placed int64 } }
			f.must(f.ask("managerA", "GET", path, "")).into(t, &v)
			return v.Totals.Placed
		}
		before := placed(a, path)
		a.order("SANDBOX")
		testenv.Eventually(t, 10*time.Second, func() bool { return placed(b, path) == before+1 })
		// A later request never shows fewer orders.
		a.order("SANDBOX")
		if n := placed(b, path+"&page=1"); n < before+1 {
			t.Errorf("%d orders are placed, want %d or more", n, before+1)
		}
	})
	t.Run("001-B8 counts", func(t *testing.T) {
		total := func(f *fixture, path string) int {
			var v struct{ Total int }
			f.must(f.ask("owner", "GET", path, "")).into(t, &v)
			return v.Total
		}
		const users = "/api/users?size=1"
		before := total(a, users)
		get("owner", users, "user")
		if _, err := a.core.createUser(t.Context(), NewAccount{
			Role: "user", Email: "new@matrix.example", Password: matrixPassword,
		}); err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, 20*time.Second, func() bool { return total(b, users) == before+1 })
		for range 2 {
			order := a.order("SANDBOX")
			testenv.Must(a.core.DB.Exec(t.Context(), backdate, order, past))(t)
			a.pay(order)
		}
		get("managerA", pastOrders, "order")
		testenv.Eventually(t, 20*time.Second, func() bool { return total(b, pastOrders) == 3 })
	})
	t.Run("001-B7 public pages", func(t *testing.T) {
		branch := testenv.Must(a.core.Menus.Branch(t.Context(), 1))(t)
		page := get("", "/menu/"+branch.Slug+"?lang=en", "branch")
		if !strings.Contains(page, "<html") {
			t.Errorf("the page is %s", page)
		}
	})
}

// A process on SQLite without a Redis has its values in memory, and no documents. The queue of changes invalidates them.
func TestCache_without_documents(t *testing.T) {
	f := newFixtureWith(t, nil)
	k := f.core
	if k.cacheMemory == nil || k.keepsDocuments() {
		t.Fatal("the process does not cache in memory, or keeps documents")
	}
	cell := func(f *keyspace.CacheFamily, kind tagcache.Kind, scope int64, dates tagcache.DateRange) func() string {
		e := tagcache.NewEntry(f, kind, scope, dates, "x")
		return func() string {
			v, err := k.Cache.Load(t.Context(), e, time.Minute, func(context.Context) ([]byte, error) {
				return []byte(rand.Text()), nil
			})
			if err != nil {
				t.Error(err)
			}
			return string(v)
		}
	}
	dates := tagcache.DateRange{From: past, To: past}
	report, other := cell(tagcache.Reports, tagcache.List, 1, dates), cell(tagcache.Reports, tagcache.List, 2, dates)
	total := cell(tagcache.Orders, tagcache.Count, 1, dates)
	user, dish := cell(tagcache.Users, tagcache.Count, 0, tagcache.DateRange{}), cell(tagcache.Dishes, tagcache.List, 0, tagcache.DateRange{})
	// changed waits until the value changes, and checks that the others do not.
	changed := func(change func(), values []func() string, same ...func() string) {
		t.Helper()
		var before, kept []string
		for _, v := range values {
			before = append(before, v())
		}
		for _, v := range same {
			kept = append(kept, v())
		}
		change()
		for i, v := range values {
			testenv.Eventually(t, 20*time.Second, func() bool { return v() != before[i] })
		}
		for i, v := range same {
			if v() != kept[i] {
				t.Errorf("value %d was removed too", i)
			}
		}
	}
	queue := func(entity string, ids ...string) func() {
		return func() {
			testenv.NoError(t, k.DB.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				documentsql.Changed(tx, k.DB.Now(), entity, ids...)
				return nil
			}))
		}
	}
	order := f.order("SANDBOX")
	testenv.Must(k.DB.Exec(t.Context(), backdate, order, past))(t)
	f.settle()
	changed(queue("user", "1"), []func() string{user}, report, total, dish)
	changed(queue("category", "1"), []func() string{dish}, report, total, user)
	changed(queue("dish", "1"), []func() string{dish}, report, total, user)
	changed(queue("order", order), []func() string{report, total}, other, user, dish)
}
