package documentredis

import (
	"context"
	"testing"
	"time"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(60, 400))
	redisdbtest.VerifyMain(m)
}

// fixture has the components that documents need, on one database and one Redis.
type fixture struct {
	db         *sqldb.DB
	redis      *redisdb.DB
	server     *testenv.Server // nil if shared with other tests
	sql        *documentsql.Store
	store      *Store
	data       documenttest.Writer
	projector  *document.Projector
	generation *document.Generation
	reader     *document.Reader
}

func newFixture(db *sqldb.DB, redis *redisdb.DB) *fixture {
	r := &fixture{db: db, redis: redis, sql: documentsql.New(db), store: New(redis), data: documenttest.Writer{DB: db}}
	r.projector = &document.Projector{Source: r.sql, Outbox: r.sql, Writer: r.store, Now: db.Now}
	r.generation = &document.Generation{Store: r.sql, Markers: r.store, Build: func(ctx context.Context) error { return r.builder().Build(ctx) }}
	r.reader = &document.Reader{Source: r.sql, Cache: r.store, State: r.generation, Repair: r.projector.Touch}
	return r
}

func (r *fixture) builder() *document.Builder {
	return &document.Builder{
		Source: r.sql, Projector: r.projector, Sweeper: r.store, Store: r.sql, Markers: r.store, Now: r.db.Now, NewID: uid.New,
	}
}

// sampler returns a sampler, which runs only when the test calls it.
func (r *fixture) sampler(observe func(context.Context, document.Sample)) *document.Sampler {
	return &document.Sampler{
		Source: r.sql, Counts: r.sql, Mirror: r.store, Projector: r.projector, Generation: r.generation, Now: r.db.Now, Observe: observe,
		Evictions: func(ctx context.Context) (int64, error) {
			m, err := r.redis.Memory(ctx)
			return m.Evicted, err
		},
	}
}

// project writes all pending changes to Redis.
func (r *fixture) project(t testing.TB) {
	t.Helper()
	testenv.NoError(t, r.projector.RunOnce(t.Context()))
}

func (r *fixture) verify(t testing.TB) document.Verification {
	t.Helper()
	v := &document.Verifier{Source: r.sql, Mirror: r.store, Pause: func(context.Context) error {
		return r.projector.RunOnce(t.Context())
	}}
	found := testenv.Must(v.Verify(t.Context()))(t)
	return found
}

// wantClean fails the test if SQL and Redis differ.
func (r *fixture) wantClean(t testing.TB) {
	t.Helper()
	if v := r.verify(t); !v.Clean {
		t.Fatalf("found %v: %v", v.Found, v.Samples)
	}
}

// each runs a test on both engines and on each kind of Redis, without trying every pair.
func each(t *testing.T, test func(t *testing.T, r *fixture)) {
	t.Helper()
	t.Run("sqlite,embedded", func(t *testing.T) { test(t, newFixture(sqldbtest.SQLite(t), redisdbtest.Embedded(t))) })
	t.Run("postgres,redis", func(t *testing.T) {
		redis, server := redisdbtest.Real(t)
		r := newFixture(sqldbtest.Postgres(t), redis)
		r.server = server
		test(t, r)
	})
	t.Run("sqlite,cluster", func(t *testing.T) { test(t, newFixture(sqldbtest.SQLite(t), redisdbtest.Cluster(t))) })
}

// orderID returns the id of an order; different n have different ids.
func orderID(n int) string {
	return uid.New(time.Date(2026, 2, 26, 5, 0, 0, n*1e6, time.UTC))
}
