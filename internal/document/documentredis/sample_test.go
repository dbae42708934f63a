package documentredis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// sampledFixture is a fixture with a sampler and the result of its last pass.
type sampledFixture struct {
	*fixture
	sampler *document.Sampler
	last    document.Sample
}

func newSampledFixture(t testing.TB, r *fixture) *sampledFixture {
	t.Helper()
	w := &sampledFixture{fixture: r}
	w.sampler = r.sampler(func(_ context.Context, s document.Sample) { w.last = s })
	r.projector.Forgotten = w.sampler.Report
	r.project(t)
	r.reconcile(t)
	r.wantUsable(t, true)
	w.pass(t)
	w.wantNothingLost(t)
	return w
}

func (w *sampledFixture) pass(t testing.TB) {
	t.Helper()
	w.last = document.Sample{}
	testenv.NoError(t, w.sampler.RunOnce(t.Context()))
}

// wantNothingLost fails the test unless the last pass ran and found nothing.
func (w *sampledFixture) wantNothingLost(t testing.TB) {
	t.Helper()
	if len(w.last.Lost) > 0 || w.last.Evicted || w.last.Documents == 0 {
		t.Fatalf("found %+v", w.last)
	}
	if err := w.generation.Check(t.Context()); err != nil || w.generation.Damaged() {
		t.Fatalf("damaged: %v", err)
	}
}

// keysOf lists all keys of documents except the markers, whose loss makes readers use SQL.
func keysOf(t testing.TB, r *fixture) (all []keyspace.Key) {
	t.Helper()
	testenv.NoError(t, r.redis.Walk(t.Context(), "", nil, func(_ *redisdb.Master, page []redisdb.KeyInfo) error {
		for _, info := range page {
			if k, ok := keyspace.ParseDocument(info.Key); ok && !slices.Contains(all, k.Key) {
				all = append(all, k.Key)
			}
		}
		return nil
	}))
	slices.SortFunc(all, func(a, b keyspace.Key) int { return strings.Compare(a.String(), b.String()) })
	return all
}

func unlink(t testing.TB, r *fixture, keys ...keyspace.Key) {
	t.Helper()
	cmds := make([]redisdb.Cmd, len(keys))
	for i, k := range keys {
		cmds[i] = redisdb.Command("UNLINK", k)
	}
	testenv.Must(r.store.send(t.Context(), cmds))(t)
}

// The next pass detects and restores each lost key, of any kind. The loss is reported until a pass finds nothing.
func TestSampler_finds_each_lost_key(t *testing.T) {
	r := newFixture(sqldbtest.SQLite(t), redisdbtest.Redis(t)) // TestSampler_repairs_random_losses covers the others
	fill(t, r, orderID(1))
	w := newSampledFixture(t, r)
	all := keysOf(t, r)
	if len(all) < 60 {
		t.Fatalf("%d keys only", len(all))
	}
	for _, k := range all {
		unlink(t, r, k)
		w.pass(t)
		if len(w.last.Lost) == 0 || !r.generation.Damaged() || r.generation.Check(t.Context()) == nil {
			t.Errorf("the loss of %s was not detected: %+v", k, w.last)
		}
		if n, err := r.redis.Do(t.Context(), "EXISTS", k).Int(); n != 1 || err != nil {
			t.Errorf("%s is not restored, %v", k, err)
		}
		w.pass(t)
		w.wantNothingLost(t)
	}
	if left := keysOf(t, r); len(left) != len(all) {
		t.Errorf("there are %d keys, and were %d", len(left), len(all))
	}
	r.wantClean(t)
}

// A document that is written after its memo was lost leaves the entries of the version before. No pass can find them, so
// the projector reports the loss.
func TestSampler_overwritten_loss(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		placed := orderID(1)
		fill(t, r, placed)
		testenv.NoError(t, r.data.PutUser(t.Context(), documenttest.User{ID: 5, Email: "old@example.com", Role: 1, City: "Hue"}))
		w := newSampledFixture(t, r)
		user, order := document.User.Keys, document.Order.Keys
		for name, c := range map[string]struct {
			lost   []keyspace.Key
			change func(n int) error
		}{
			"memo": {[]keyspace.Key{user.Memo("5")}, func(n int) error {
				return r.data.PutUser(t.Context(), documenttest.User{ID: 5, Email: fmt.Sprintf("new%d@example.com", n), Role: 1, City: "c" + digit(n)})
			}},
			"memo and document": {[]keyspace.Key{user.Memo("5"), user.Key("5")}, func(n int) error {
				return r.data.PutUser(t.Context(), documenttest.User{ID: 5, Email: fmt.Sprintf("both%d@example.com", n), Role: 1, City: "b" + digit(n)})
			}},
			"memo of a deleted document": {[]keyspace.Key{document.CartDetail.Keys.Memo("456")}, func(n int) error {
				if n == 0 {
					return r.data.DeleteDetail(t.Context(), 456)
				}
				return nil
			}},
			"an order without memo": {[]keyspace.Key{order.Key(placed), order.Memo(placed)}, func(n int) error {
				return r.data.PutOrder(t.Context(), placed, "PLACED", 456, "VNPAY"+digit(n))
			}},
		} {
			unlink(t, r, c.lost...)
			testenv.NoError(t, c.change(0))
			r.project(t)
			if !r.generation.Damaged() {
				t.Errorf("%s: the loss was not reported", name)
			}
			w.pass(t)
			if len(w.last.Lost) == 0 {
				t.Errorf("%s: the pass does not count the loss", name)
			}
			r.wantClean(t)
			w.pass(t)
			w.wantNothingLost(t)
			testenv.NoError(t, c.change(1)) // with the memo, the next change is not a loss
			r.project(t)
			w.wantNothingLost(t)
		}
	})
}

// After any loss of keys, and any writes before it is detected, two passes restore what SQL has.
func TestSampler_repairs_random_losses(t *testing.T) {
	testenv.SequencesOf(t, testenv.Size(8, 300))
	each(t, func(t *testing.T, r *fixture) {
		testenv.NoError(t, r.data.Fill(t.Context(), 30, 10))
		fill(t, r, orderID(1))
		testenv.NoError(t, r.builder().Build(t.Context()))
		w := newSampledFixture(t, r)
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			all := keysOf(t, r)
			lost := rapid.SliceOfNDistinct(rapid.IntRange(0, len(all)-1), 0, len(all), rapid.ID[int]).Draw(rt, "lost")
			for _, i := range lost {
				unlink(t, r, all[i])
			}
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				n++
				u := documenttest.User{ID: 1 + int64(n%30), Email: fmt.Sprintf("n%d@example.com", n), Role: 1, City: "c" + digit(n%5)}
				testenv.NoError(rt, r.data.PutUser(t.Context(), u))
				testenv.NoError(rt, r.data.PutDish(t.Context(), 789+int64(n%2), 1, "Phở "+digit(n%10)))
				if rapid.Bool().Draw(rt, "projected before") {
					testenv.NoError(rt, r.projector.RunOnce(t.Context()))
				}
			}
			w.pass(t)
			found := len(w.last.Lost)
			testenv.NoError(rt, r.projector.RunOnce(t.Context()))
			w.pass(t)
			if v := r.verify(t); !v.Clean {
				rt.Fatalf("%d keys were lost, %d differences sampled; left are %v: %v", len(lost), found, v.Found, v.Samples)
			}
			w.pass(t)
			w.wantNothingLost(t)
		})
	})
}

// The loss of a list with more documents than a pass compares is detected by its members, and a partial loss by its
// length.
func TestSampler_large(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		testenv.NoError(t, r.data.Fill(t.Context(), 450, 300))
		testenv.NoError(t, r.builder().Build(t.Context()))
		w := newSampledFixture(t, r)
		list := document.User.Keys.List()
		ids := testenv.Must(r.redis.Do(t.Context(), "SMEMBERS", list).Texts())(t)
		slices.SortFunc(ids, func(a, b string) int { return byNumber(true, a, b) })
		for name, c := range map[string]struct {
			passes int // number of passes within which the loss must be found
			lose   func()
		}{
			"a list":          {1, func() { unlink(t, r, list) }},
			"its last member": {1, func() { testenv.NoError(t, r.redis.Do(t.Context(), "SREM", list, ids[len(ids)-1]).Err()) }},
			"all but the newest": {1, func() {
				unlink(t, r, list)
				testenv.NoError(t, r.redis.Do(t.Context(), "SADD", list, ids[len(ids)-1]).Err())
			}},
			"a set of one order": {1, func() { unlink(t, r, document.OrderDetail.Indexes[0].Keys[1].Key(lastOrder(t, r))) }},
			"a document":         {3, func() { unlink(t, r, document.User.Keys.Key(ids[len(ids)-1])) }},
		} {
			c.lose()
			for range c.passes {
				if !r.generation.Damaged() {
					w.pass(t)
				}
			}
			if !r.generation.Damaged() {
				t.Errorf("%s: not found", name)
			}
			w.pass(t)
			r.wantClean(t)
			w.wantNothingLost(t)
		}
	})
}

func lastOrder(t testing.TB, r *fixture) string {
	t.Helper()
	ids := testenv.Must(r.sql.IDs(t.Context(), document.Order, "", 1000))(t)
	return ids[len(ids)-1]
}

// A projector that is behind or has stopped in the middle does not count as a loss, however long it takes.
func TestSampler_projector_behind(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		w := newSampledFixture(t, r)
		testenv.NoError(t,
			r.data.PutUser(t.Context(), documenttest.User{ID: 500, Email: "new@example.com", Role: 1, City: "Riyadh"}),
			r.data.PutUser(t.Context(), documenttest.User{ID: 456, Email: "changed@example.com", Role: 1, City: "Hue"}),
			r.data.PutDish(t.Context(), 800, 1, "Bún"), r.data.DeleteDetail(t.Context(), 456),
			r.data.PutOrder(t.Context(), orderID(9), "PLACED", 456, "VNPAY9"), r.data.PutLine(t.Context(), orderID(9), 1, 789))
		claimed := testenv.Must(r.sql.Claim(t.Context(), r.db.Now(), r.db.Now(), 2))(t) // by a process that has died since
		if len(claimed) != 2 {
			t.Fatalf("%d rows were claimed", len(claimed))
		}
		for range 4 {
			w.pass(t)
			w.wantNothingLost(t)
		}
		r.project(t)
		for range 2 {
			w.pass(t)
			w.wantNothingLost(t)
		}
		r.wantClean(t)
	})
}

// interferingSource runs a function while the sampler reads the pending documents.
type interferingSource struct {
	*documentsql.Store
	before, after func()
}

func (m *interferingSource) Pending(ctx context.Context, limit int) (map[document.Ref]struct{}, bool, error) {
	m.before()
	waiting, ok, err := m.Store.Pending(ctx, limit)
	m.after()
	return waiting, ok, err
}

// A document that was pending during the first check, and changes again before the second one, does not count as lost.
func TestSampler_ignores_concurrent_changes(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		w := newSampledFixture(t, r)
		n := 0
		rename := func() {
			n++
			testenv.NoError(t, r.data.PutUser(t.Context(), documenttest.User{ID: 456, Username: "name" + digit(n), Role: 1}))
		}
		looks := 0
		w.sampler.Counts = &interferingSource{r.sql, func() { looks++; r.project(t) }, rename}
		rename()
		w.pass(t)
		w.wantNothingLost(t)
		if looks == 0 {
			t.Error("nothing has differed")
		}
	})
}

// Beside writers and projectors the sampler reports no false loss, and restores real ones.
func TestSampler_during_writes(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fillBatches(t, r)
		testenv.NoError(t, r.builder().Build(t.Context()))
		w := newSampledFixture(t, r)
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for k := range int64(2) {
			all.Go(func() {
				for n := int64(0); ctx.Err() == nil; n++ {
					w.write(t, k, n)
				}
			})
		}
		for range testenv.Size(4, 200) {
			w.pass(t)
			w.wantNothingLost(t)
		}
		for range 3 {
			unlink(t, r, document.Order.Keys.List(), document.User.Keys.Key("1"), document.User.Keys.Memo("2"), document.Cart.Keys.Counter())
			for !w.generation.Damaged() { // a document that keeps changing is checked again
				w.pass(t)
			}
			w.pass(t)
		}
		end()
		all.Wait()
		r.project(t)
		w.pass(t)
		w.pass(t)
		w.wantNothingLost(t)
		r.wantClean(t)
	})
}

// write changes accounts, and fills and empties carts; several run concurrently.
func (w *sampledFixture) write(t *testing.T, k, n int64) {
	t.Helper()
	ctx := t.Context()
	id := 3 + 2*(n*37%int64(users/2-2)) + k
	u := documenttest.User{ID: id, Email: fmt.Sprintf("w%dn%d@example.com", k, n%50), Role: 1, City: "c" + digit(int(n%5))}
	_ = w.data.PutUser(ctx, u) // another account may have the address now
	switch n % 5 {
	case 0:
		_ = w.data.PutCart(ctx, id, id) // the account may have one
	case 3:
		testenv.NoError(t, w.data.DeleteCart(ctx, id))
	}
	testenv.NoError(t, w.projector.RunOnce(ctx))
}

// While lists are damaged they are read from SQL, and no reader gets an empty one before the loss is detected.
func TestSampler_readers(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		reader, sql := warmReader(t, r)
		w := newSampledFixture(t, r)
		dishes := func(want int) {
			t.Helper()
			docs, total, err := reader.Find(t.Context(), document.Dish, nil, document.Page{Limit: 100})
			if err != nil || total != want || len(docs) != want {
				t.Errorf("%d of %d dishes, want %d, %v", len(docs), total, want, err)
			}
		}
		dishes(2)
		if sql.n != 0 {
			t.Errorf("SQL was asked %d times", sql.n)
		}
		unlink(t, r, document.Dish.Keys.List())
		dishes(2)
		w.pass(t)
		unlink(t, r, document.Dish.Keys.List()) // in the middle of the repair
		testenv.NoError(t, r.redis.Do(t.Context(), "SADD", document.Dish.Keys.List(), "789").Err())
		dishes(2)
		w.pass(t)
		w.pass(t)
		w.wantNothingLost(t)
		n := sql.n
		dishes(2)
		if sql.n != n {
			t.Error("SQL is still asked")
		}
	})
}

// A database whose documents do not fit into Redis loses some all the time. No reader misses a document meanwhile, and
// once there is enough memory all documents are restored.
func TestSampler_evictions(t *testing.T) {
	redis, server := evictingRedis(t)
	r := newFixture(sqldbtest.Postgres(t), redis)
	r.server = server
	testenv.NoError(t, r.data.Fill(t.Context(), 1500, 500))
	testenv.NoError(t, r.builder().Build(t.Context()))
	w := newSampledFixture(t, r)
	for i := range 200 {
		server.Say(fmt.Sprintf("SET filler%d %s", i, strings.Repeat("x", 50_000)))
	}
	evicted, err := redis.Memory(t.Context())
	if err != nil || evicted.Evicted == 0 {
		t.Fatalf("%d keys were evicted, %v", evicted.Evicted, err)
	}
	w.tryPass(t)
	if !w.last.Evicted || !r.generation.Damaged() || r.generation.Check(t.Context()) == nil {
		t.Errorf("evictions are not noticed: %+v", w.last)
	}
	if docs, total, err := r.reader.Find(t.Context(), document.User, nil, document.Page{Limit: 5}); err != nil || total != 1500 || len(docs) != 5 {
		t.Errorf("%d of %d accounts, %v", len(docs), total, err)
	}
	server.Say("CONFIG SET maxmemory 0")
	for range 3 {
		testenv.NoError(t, r.generation.Reconcile(t.Context())) // the markers may have been evicted as well
		w.tryPass(t)
	}
	w.wantNothingLost(t)
	r.wantClean(t)
}

// tryPass runs a pass while Redis keeps losing keys. It ignores errors, because a rebuild that has lost its markers
// ends with one.
func (w *sampledFixture) tryPass(t testing.TB) {
	t.Helper()
	if err := w.sampler.RunOnce(t.Context()); err != nil {
		t.Log(err)
	}
}

// evictingRedis returns a Redis that deletes keys when it is full.
func evictingRedis(t *testing.T) (*redisdb.DB, *testenv.Server) {
	t.Helper()
	server := testenv.RedisServer(t, "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-lru")
	redis, err := redisdb.Open(t.Context(), redisdb.Config{URL: "redis://" + server.Addr(), Timeout: 5 * time.Second})
	testenv.NoError(t, err)
	t.Cleanup(redis.Close)
	return redis, server
}
