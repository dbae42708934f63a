// Package redisdbtest provides tests with a Redis of each kind: a real server, a Cluster, and the embedded store.
package redisdbtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// patience is a time limit far above the time that a healthy server needs, because tests share the machine.
const patience = 5 * time.Second

// Embedded opens an embedded store that ends with the test.
func Embedded(t testing.TB) *redisdb.DB {
	t.Helper()
	return open(t, redisdb.Config{Timeout: patience})
}

// Real starts a redis-server for one test and opens it. The test may stop, flush and restart it.
func Real(t testing.TB) (*redisdb.DB, *testenv.Server) {
	t.Helper()
	s := testenv.RedisServer(t)
	return open(t, redisdb.Config{URL: "redis://" + s.Addr(), Timeout: patience}), s
}

// Redis opens a redis-server. Packages whose TestMain calls VerifyMain share one, and each call gets its own namespace.
// A test that flushes, stops or configures the server must use Real.
func Redis(t testing.TB) *redisdb.DB {
	t.Helper()
	return servers.open(t, func(t testing.TB) string { return "redis://" + testenv.RedisServer(t).Addr() })
}

// Each runs a subtest on a real Redis, on the embedded store and, without -short, on a Cluster.
func Each(t *testing.T, test func(t *testing.T, db *redisdb.DB)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) { test(t, Redis(t)) })
	if !testing.Short() {
		t.Run("cluster", func(t *testing.T) { test(t, Cluster(t)) })
	}
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t)) })
}

func open(t testing.TB, cfg redisdb.Config) *redisdb.DB {
	t.Helper()
	db := testenv.Must(redisdb.Open(t.Context(), cfg))(t)
	t.Cleanup(db.Close)
	if !db.Up() {
		t.Fatal("redis is not up")
	}
	return db
}

// Cluster opens a Redis Cluster of three masters. Packages whose TestMain calls VerifyMain share one, and each call
// gets its own namespace; other packages start one per call, which takes seconds.
func Cluster(t testing.TB) *redisdb.DB {
	t.Helper()
	return clusters.open(t, func(t testing.TB) string { return testenv.ClusterURL(testenv.RedisCluster(t)) })
}

// OwnCluster starts a Cluster for one test, which may kill its nodes, and opens it.
func OwnCluster(t testing.TB) (*redisdb.DB, []*testenv.Server) {
	t.Helper()
	nodes := testenv.RedisCluster(t)
	return open(t, redisdb.Config{URL: testenv.ClusterURL(nodes), Timeout: patience}), nodes
}

// VerifyMain is the TestMain of packages that test on Redis. It stops the shared servers and other shared resources,
// and then checks for leaked goroutines. Two goroutines of rueidis are ignored, because they cannot be stopped: one
// waits five seconds before it closes connections to nodes that have left a Cluster, one up to a second before it
// refreshes the nodes.
func VerifyMain(m *testing.M, others ...*testenv.Shared) {
	goleak.VerifyTestMain(sharing{m, others}, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

type sharing struct {
	*testing.M

	others []*testenv.Shared
}

// Run runs the tests.
func (s sharing) Run() int {
	var ends testenv.Shared
	servers.ends, clusters.ends = &ends, &ends
	for _, o := range append(s.others, &ends) {
		defer o.Close()
	}
	return s.M.Run()
}

// shared is a server that the tests of a process share.
type shared struct {
	mu    sync.Mutex
	ends  *testenv.Shared // nil where TestMain is not VerifyMain
	url   string
	taken int
}

var servers, clusters shared

// open opens the server, which start starts on first use, under a namespace of the test. In packages without VerifyMain
// nothing would stop a shared server, so each test gets its own.
func (s *shared) open(t testing.TB, start func(testing.TB) (url string)) *redisdb.DB {
	t.Helper()
	cfg := redisdb.Config{Timeout: patience}
	if s.ends == nil {
		cfg.URL = start(t)
		return open(t, cfg)
	}
	cfg.URL, cfg.Namespace = s.take(t, start)
	return open(t, cfg)
}

func (s *shared) take(t testing.TB, start func(testing.TB) (url string)) (url string, ns keyspace.Namespace) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock() // start may skip the test
	if s.url == "" {
		s.url = start(s.ends.For(t))
	}
	s.taken++
	return s.url, keyspace.Namespace(fmt.Sprintf("test%d", s.taken))
}
