package catalogredis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogredis"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

const branch = 7

func menu(revision int64) catalog.Content {
	items := []catalog.Item{{ID: 11, DishID: 4, CategoryID: 1, Price: 65000 + revision, Active: true}}
	return catalog.Content{
		Revision: revision, Edition: catalog.NewEdition(revision, branch, nil, items), Quotas: map[int64]int64{11: 20},
	}
}

// loader returns menus of a revision and counts its calls.
type loader struct {
	revision int64
	during   func()
	err      error
	loads    atomic.Int64
}

func (l *loader) load(context.Context) (catalog.Content, error) {
	l.loads.Add(1)
	if l.during != nil {
		l.during()
	}
	return menu(l.revision), l.err
}

// getWithLoads requests a revision and checks the result and the number of loads.
func getWithLoads(t *testing.T, c *catalogredis.Cache, l *loader, revision int64, wantLoads int64) {
	t.Helper()
	l.loads.Store(0)
	got := testenv.Must(c.GetOrLoad(t.Context(), branch, revision, l.load))(t)
	testenv.Equal(t, menu(max(revision, l.revision)), got, cmp.AllowUnexported(catalog.Edition{}))
	testenv.Equal(t, wantLoads, l.loads.Load())
}

func each(t *testing.T, test func(t *testing.T, db *redisdb.DB, c *catalogredis.Cache)) {
	t.Helper()
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) { test(t, db, catalogredis.New(db)) })
}

func TestCache_GetOrLoad(t *testing.T) {
	each(t, func(t *testing.T, db *redisdb.DB, c *catalogredis.Cache) {
		l := &loader{revision: 1}
		getWithLoads(t, c, l, 1, 1)
		getWithLoads(t, c, l, 1, 0)
		l.revision = 2
		getWithLoads(t, c, l, 2, 1) // the copy is outdated
		getWithLoads(t, c, l, 2, 0)
		c.Delete(t.Context(), branch)
		getWithLoads(t, c, l, 2, 1)
		ttl, err := db.Do(t.Context(), "PTTL", keyspace.MenuActive(branch)).Int()
		if ttl < 179_000 || ttl > 210_000 || err != nil {
			t.Errorf("the copy's TTL is %d ms, %v", ttl, err)
		}
		if n, err := db.Do(t.Context(), "EXISTS", keyspace.MenuActiveLock(branch)).Int(); n != 0 || err != nil {
			t.Errorf("the lock was not released: %d, %v", n, err)
		}
	})
}

// A load that started before an invalidation must not be stored.
func TestCache_GetOrLoad_loses_its_lock_to_Delete(t *testing.T) {
	each(t, func(t *testing.T, db *redisdb.DB, c *catalogredis.Cache) {
		l := &loader{revision: 1}
		l.during = func() { c.Delete(t.Context(), branch) }
		getWithLoads(t, c, l, 1, 1)
		if n, err := db.Do(t.Context(), "EXISTS", keyspace.MenuActive(branch)).Int(); n != 0 || err != nil {
			t.Errorf("the outdated menu was stored: %d, %v", n, err)
		}
	})
}

// The load must not release the lock of the next process either.
func TestCache_GetOrLoad_leaves_the_lock_of_another(t *testing.T) {
	each(t, func(t *testing.T, db *redisdb.DB, c *catalogredis.Cache) {
		l := &loader{revision: 1}
		l.during = func() {
			if err := db.Do(t.Context(), "SET", keyspace.MenuActiveLock(branch), "another", "PX", "3000").Err(); err != nil {
				t.Error(err)
			}
		}
		getWithLoads(t, c, l, 1, 1)
		if holder, _, err := db.Do(t.Context(), "GET", keyspace.MenuActiveLock(branch)).Text(); holder != "another" {
			t.Errorf("the lock is held by %q, %v", holder, err)
		}
		l.during = nil
		getWithLoads(t, c, l, 1, 1) // the lock holder takes too long: load without storing
	})
}

func TestCache_GetOrLoad_frees_the_lock_after_a_failure(t *testing.T) {
	each(t, func(t *testing.T, _ *redisdb.DB, c *catalogredis.Cache) {
		broken := &loader{err: errors.New("broken")}
		testenv.ErrorIs(t, broken.err, testenv.Err(c.GetOrLoad(t.Context(), branch, 1, broken.load)))
		getWithLoads(t, c, &loader{revision: 1}, 1, 1)
		getWithLoads(t, c, &loader{revision: 1}, 1, 0)
	})
}

func TestCache_GetOrLoad_ignores_unreadable_values(t *testing.T) {
	each(t, func(t *testing.T, db *redisdb.DB, c *catalogredis.Cache) {
		for _, text := range []string{"", "[]", `{"revision":9}`, `{"revision":9,"branchId":8}`} {
			testenv.NoError(t, db.Do(t.Context(), "SET", keyspace.MenuActive(branch), text, "PX", "60000").Err())
			getWithLoads(t, c, &loader{revision: 1}, 1, 1)
		}
	})
}

// Write access to Redis must not allow changing prices: a modified copy and a copy of another branch are ignored.
func TestCache_GetOrLoad_accepts_only_sealed_copies(t *testing.T) {
	each(t, func(t *testing.T, db *redisdb.DB, c *catalogredis.Cache) {
		getWithLoads(t, c, &loader{revision: 1}, 1, 1)
		copied, _, err := db.Do(t.Context(), "GET", keyspace.MenuActive(branch)).Text()
		if err != nil || !json.Valid([]byte(copied)) || !strings.Contains(copied, "65001") {
			t.Fatalf("the copy is %s, %v", copied, err)
		}
		other := catalogredis.New(db)
		testenv.Must(other.GetOrLoad(t.Context(), branch+1, 1, func(context.Context) (catalog.Content, error) {
			return catalog.Content{Revision: 1, Edition: catalog.NewEdition(1, branch+1, nil, nil)}, nil
		}))(t)
		otherBranch, _ := testenv.Must2(db.Do(t.Context(), "GET", keyspace.MenuActive(branch+1)).Text())(t)
		sealEnd := strings.Index(copied, `",`) + 2
		for _, text := range []string{
			strings.Replace(copied, "65001", "1", 1), strings.Replace(copied, `"revision":1`, `"revision":9`, 1), otherBranch,
			strings.Replace(otherBranch, fmt.Sprint(branch+1), fmt.Sprint(branch), 1), "{" + copied[sealEnd:], copied[:sealEnd],
			copied[:12],
		} {
			testenv.NoError(t, db.Do(t.Context(), "SET", keyspace.MenuActive(branch), text, "PX", "60000").Err())
			getWithLoads(t, c, &loader{revision: 1}, 1, 1)
		}
		getWithLoads(t, c, &loader{revision: 1}, 1, 0)
	})
}

func TestCache_GetOrLoad_at_once(t *testing.T) {
	each(t, func(t *testing.T, _ *redisdb.DB, c *catalogredis.Cache) {
		l := &loader{revision: 1}
		var wg sync.WaitGroup
		for range 20 { // one goroutine per simulated process
			wg.Go(func() {
				if got, err := c.GetOrLoad(t.Context(), branch, 1, l.load); err != nil || got.Revision != 1 {
					t.Errorf("revision %d, %v", got.Revision, err)
				}
			})
		}
		wg.Wait()
		if n := l.loads.Load(); n > 2 { // a process that waited longer than fillWait loads too
			t.Errorf("20 processes loaded %d times", n)
		}
	})
}

func TestCache_without_Redis(t *testing.T) {
	db, server := redisdbtest.Real(t)
	c := catalogredis.New(db)
	l := &loader{revision: 1}
	getWithLoads(t, c, l, 1, 1)
	server.Kill()
	start := time.Now()
	for range 10 {
		getWithLoads(t, c, l, 1, 1)
	}
	c.Delete(t.Context(), branch)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("eleven calls took %v without Redis", took)
	}
}
