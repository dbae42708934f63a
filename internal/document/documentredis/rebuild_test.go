package documentredis

import (
	"context"
	"sync"
	"testing"
	"time"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// flush deletes all keys of the test.
func flush(t testing.TB, r *fixture) {
	t.Helper()
	var cmds []redisdb.Cmd
	for _, k := range markerKeys {
		cmds = append(cmds, redisdb.Command("DEL", k))
	}
	testenv.NoError(t, r.redis.Walk(t.Context(), "", nil, func(_ *redisdb.Master, page []redisdb.KeyInfo) error {
		for _, info := range page {
			if k, ok := keyspace.ParseDocument(info.Key); ok {
				cmds = append(cmds, redisdb.Command("DEL", k.Key))
			}
		}
		return nil
	}))
	testenv.Must(r.store.send(t.Context(), cmds))(t)
}

// reconcile runs one check, as the loop of a server does.
func (r *fixture) reconcile(t testing.TB) {
	t.Helper()
	testenv.NoError(t, r.generation.Reconcile(t.Context()))
}

// wantUsable fails the test unless readers may use Redis, or must not, as wanted.
func (r *fixture) wantUsable(t testing.TB, want bool) {
	t.Helper()
	testenv.Equal(t, want, r.generation.Epoch() != "")
}

// Numbers of accounts and of orders with three lines each: more than fit into a batch.
var users, orders = testenv.Size(600, 900), testenv.Size(200, 400)

func fillBatches(t *testing.T, r *fixture) (documents int) {
	t.Helper()
	testenv.NoError(t, r.data.Fill(t.Context(), users, orders))
	r.project(t)
	return 1 + users + 4*orders
}

func TestRebuild(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		total := fillBatches(t, r)
		r.wantUsable(t, false)
		r.reconcile(t)
		r.wantUsable(t, true)
		r.wantClean(t)
		flush(t, r)
		r.reconcile(t)
		r.wantUsable(t, true)
		r.wantClean(t)
		done := 0
		b := r.builder()
		b.Report = func(p document.Progress) { done = p.Done }
		testenv.NoError(t, b.Build(t.Context()))
		if done != total {
			t.Errorf("%d documents written, there are %d", done, total)
		}
		r.wantUsable(t, true) // still true until the next check
		r.reconcile(t)
		r.wantUsable(t, true)
	})
}

// interrupted begins a rebuild and stops it after some documents. The clock advances, so that the progress of each
// batch is stored.
func interrupted(ctx context.Context, t *testing.T, r *fixture, after int, end func()) error {
	t.Helper()
	b := r.builder()
	b.Workers = 1
	now := r.db.Now()
	b.Now = func() time.Time {
		now = now.Add(3 * time.Second)
		return now
	}
	b.Report = func(p document.Progress) {
		if p.Done >= after {
			end()
		}
	}
	return b.Build(ctx)
}

// A rebuild that is stopped half-way continues where it was, and ends complete.
func TestRebuild_resumes(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		total := fillBatches(t, r)
		ctx, cancel := context.WithCancel(t.Context())
		testenv.ErrorIs(t, context.Canceled, interrupted(ctx, t, r, total/2, cancel))
		testenv.NoError(t, r.data.PutUser(t.Context(), documenttest.User{ID: 1, Email: "changed@example.com", Role: 1}))
		done := 0
		b := r.builder()
		b.Report = func(p document.Progress) { done = p.Done }
		testenv.NoError(t, b.Build(t.Context()))
		if done > total*3/4 || done < total/4 {
			t.Errorf("the second half had %d of %d documents", done, total)
		}
		r.wantClean(t)
	})
}

// If Redis has lost keys since then, the next rebuild starts over.
func TestRebuild_restarts_after_lost_keys(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		total := fillBatches(t, r)
		ctx, cancel := context.WithCancel(t.Context())
		testenv.ErrorIs(t, context.Canceled, interrupted(ctx, t, r, total/2, cancel))
		flush(t, r)
		r.reconcile(t)
		r.wantUsable(t, true)
		r.wantClean(t)
	})
}

// A rebuild during which Redis loses its keys does not count; the next one does.
func TestRebuild_keys_lost_during_rebuild(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		total := fillBatches(t, r)
		var once sync.Once
		err := interrupted(t.Context(), t, r, total/2, func() { once.Do(func() { flush(t, r) }) })
		testenv.ErrorIs(t, document.ErrKeysLost, err)
		testenv.Equal(t, "", testenv.Must(r.sql.Generation(t.Context()))(t).Epoch)
		r.reconcile(t)
		r.wantUsable(t, true)
		r.wantClean(t)
	})
}

// Only one process rebuilds at a time. If it dies, the others wait until its claim expires.
func TestRebuild_one_at_a_time(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fillBatches(t, r)
		seen := testenv.Must(r.sql.Generation(t.Context()))(t)
		server := testenv.Must(r.store.Server(t.Context()))(t)
		now := r.db.Now()
		next := document.GenerationState{Building: "gone", BuildingServer: server, Entity: document.Role, ClaimedUntil: now.Add(30 * time.Second)}
		if ok, err := r.sql.ClaimBuild(t.Context(), seen, next, now); err != nil || !ok {
			t.Fatal(ok, err)
		}
		testenv.ErrorIs(t, document.ErrRebuildRunning, r.builder().Build(t.Context()), "two at a time")
		r.reconcile(t) // the other process keeps the claim
		r.wantUsable(t, false)
		b := r.builder()
		b.Now = func() time.Time { return now.Add(31 * time.Second) }
		testenv.NoError(t, b.Build(t.Context()))
		r.reconcile(t)
		r.wantUsable(t, true)
		r.wantClean(t)
	})
}

// A rebuild runs beside writers that do not wait for it.
func TestRebuild_during_writes(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fillBatches(t, r)
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for w := range int64(2) {
			all.Go(func() {
				for n := int64(0); ctx.Err() == nil; n++ {
					id := 1 + 2*(n*37%int64(users/2)) + w
					u := documenttest.User{ID: id, Email: "n" + digit(int(n%10)) + "w" + digit(int(w)) + "@example.com", Role: 1, City: "c" + digit(int(n%5))}
					if err := r.data.PutUser(t.Context(), u); err != nil {
						continue // another account has the address now
					}
					if err := r.projector.RunOnce(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 3 {
			testenv.NoError(t, r.builder().Build(t.Context()))
		}
		end()
		all.Wait()
		r.project(t)
		r.wantClean(t)
	})
}

// After a backup was restored, Redis has versions, deletions and documents that SQL does not have. A rebuild makes it
// equal SQL, and later changes are applied.
func TestRebuild_after_a_restored_backup(t *testing.T) {
	each(t, func(t *testing.T, later *fixture) {
		ctx := t.Context()
		fill(t, later, orderID(1))
		testenv.NoError(t, later.data.PutUser(ctx, documenttest.User{ID: 456, Email: "later@example.com", Role: 1, City: "Hue"}),
			later.data.PutUser(ctx, documenttest.User{ID: 457, Email: "new@example.com", Role: 1}),
			later.data.PutUser(ctx, documenttest.User{ID: 457, Email: "newer@example.com", Role: 1, City: "Hue"}),
			later.data.DeleteDetail(ctx, 456), later.data.PutOrder(ctx, orderID(2), "PLACED", 456, "VNPAY456"))
		later.project(t)
		r := newFixture(sqldbtest.SQLite(t), later.redis) // the database as it was before
		fill(t, r, orderID(1))
		if v := r.verify(t); v.Clean {
			t.Error("Redis has the data of another time, undetected")
		}
		testenv.NoError(t, r.builder().Build(ctx))
		r.wantClean(t)
		testenv.NoError(t, r.data.PutUser(ctx, documenttest.User{ID: 457, Email: "other@example.com", Role: 1}))
		r.project(t)
		r.wantClean(t)
		wantKeys(t, r.store, map[string]string{"user:457": "v1", "user:index:email:newer@example.com": "", "cartDetail:456": "v1"})
	})
}
