// Package redisdbtest provides tests with a Redis of each kind: a real server, a Cluster, and the embedded store.
package redisdbtest

import (
	"testing"
	"time"

	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// patience is far more than a healthy server needs, because tests share the machine.
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

// Each runs a subtest on a real Redis, on a Cluster and on the embedded store.
func Each(t *testing.T, test func(t *testing.T, db *redisdb.DB)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) { test(t, Redis(t)) })
	t.Run("cluster", func(t *testing.T) { test(t, Cluster(t)) })
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t)) })
}

func open(t testing.TB, cfg redisdb.Config) *redisdb.DB {
	t.Helper()
	db, err := redisdb.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if !db.Up() {
		t.Fatal("redis is not up")
	}
	return db
}
