package stockredis

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(60, 400))
	redisdbtest.VerifyMain(m)
}

const patience = 10 * time.Second // the machine is shared with other tests

func TestCache(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) { stocktest.AdmissionCache(t, cacheOf(db)) })
}

// cacheOf returns a constructor of caches on a Redis.
func cacheOf(db *redisdb.DB) stocktest.NewCache {
	return func(t *testing.T, now func() time.Time, reg prometheus.Registerer) (stock.AdmissionCache, stocktest.StateReader) {
		c := New(db, Config{Now: now, Timeout: patience, Metrics: reg})
		return c, func(s stock.Scope, epoch string, ids []string) map[string]stock.State {
			return testenv.Must(c.States(context.Background(), s, epoch, ids))(t)
		}
	}
}

// fixture adds the cache's own methods to the fixture of the suite.
type fixture struct {
	*stocktest.CacheFixture
	*Cache
}

func newFixture(t *testing.T, db *redisdb.DB) *fixture {
	t.Helper()
	return newFixtureOf(stocktest.NewCacheFixture(t, cacheOf(db), stocktest.TodaysQuotas()))
}

func newFixtureOf(f *stocktest.CacheFixture) *fixture { return &fixture{f, f.AdmissionCache.(*Cache)} }

// each runs a test on every kind of Redis, once on the quotas of a business date and once on a branch's stock.
func each(t *testing.T, test func(f *fixture)) {
	t.Helper()
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		stocktest.EachScope(t, cacheOf(db), func(f *stocktest.CacheFixture) { test(newFixtureOf(f)) })
	})
}

// A provisional hold whose record Redis has lost is removed from the list.
func TestCache_ExpiredProvisional_without_record(t *testing.T) {
	each(t, func(f *fixture) {
		h := f.NewHold(stock.Line{Item: stocktest.Tea, Qty: 1})
		f.WantTry(h, stock.Admitted)
		testenv.NoError(t, f.db.Do(f.Context(), "DEL", recordKey(f.Scope, h.ID)).Err())
		if due, err := f.ExpiredProvisional(f.Context(), f.Scope, f.Now.Add(time.Hour), 10); due != nil || err != nil {
			t.Errorf("due: %v, %v", due, err)
		}
		if n, err := f.db.Do(f.Context(), "ZCARD", provisionalKey(f.Scope)).Int(); n != 0 || err != nil {
			t.Errorf("%d provisional holds are left, %v", n, err)
		}
	})
}

// The last step of a rebuild is refused by itself, not only because loading was.
func TestCache_finish_of_a_superseded_rebuild(t *testing.T) {
	each(t, func(f *fixture) {
		first := f.Begin()
		f.Begin()
		args := []string{first, millis(f.Now.Add(time.Hour)), ttlMillis(time.Hour), ttlMillis(time.Hour)}
		testenv.Equal(t, 0, testenv.Must(f.db.Run(f.Context(), finishScript, counterKeys(f.Scope, 0), args).Int())(t))
	})
}

// An id is part of a key.
func TestCache_Reserve_rejects_invalid_ids(t *testing.T) {
	each(t, func(f *fixture) {
		for name, id := range map[string]string{"long id": f.NewID() + "0", "strange id": "{b8}"} {
			h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
			h.ID = id
			if _, err := f.Reserve(f.Context(), h); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		f.WantCount(stocktest.Noodles, 0, 0)
	})
}
