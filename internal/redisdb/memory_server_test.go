package redisdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

// Each node reports its own eviction policy, even in a Cluster.
func TestDB_Memory(t *testing.T) {
	t.Run("redis", func(t *testing.T) {
		s := testenv.RedisServer(t, "--maxmemory-policy", "allkeys-lfu", "--maxmemory", "2mb")
		db, _ := openDB(t, quick(s.Addr()))
		m := testenv.Must(db.Memory(t.Context()))(t)
		if d := cmp.Diff([]string{s.Addr() + ": allkeys-lfu"}, m.Evicting()); d != "" || m.Evicted != 0 {
			t.Errorf("%d evicted keys, policies (-want +got):\n%s", m.Evicted, d)
		}
		for i := range 40 {
			s.Say(fmt.Sprintf("SET filler%d %s", i, strings.Repeat("x", 50_000)))
		}
		if m, err := db.Memory(t.Context()); err != nil || m.Evicted == 0 {
			t.Errorf("%d keys, %v", m.Evicted, err)
		}
	})
	t.Run("heartbeat", func(t *testing.T) {
		s := testenv.RedisServer(t, "--maxmemory", "100mb")
		reg := prometheus.NewRegistry()
		c := quick(s.Addr())
		c.Metrics, c.Heartbeat = reg, 20*time.Millisecond
		db, _ := openDB(t, c)
		used := func() int64 { return db.LastMemory().Fullest().Used }
		before := used()
		if m := db.LastMemory(); len(m.Servers) != 1 || before == 0 || m.Servers[0].Limit != 100<<20 {
			t.Fatalf("LastMemory = %+v, want the server with its limit as soon as it is open", m)
		}
		for i := range 40 {
			s.Say(fmt.Sprintf("SET filler%d %s", i, strings.Repeat("x", 50_000)))
		}
		testenv.Eventually(t, 10*time.Second, func() bool { return used() > before+1<<20 })
		testenv.Eventually(t, 10*time.Second, func() bool {
			return gaugeOf(t, reg, "redis_memory_used_bytes", s.Addr()) > float64(before+1<<20) &&
				gaugeOf(t, reg, "redis_memory_limit_bytes", s.Addr()) == 100<<20
		})
	})
	t.Run("cluster", func(t *testing.T) {
		db, nodes := redisdbtest.OwnCluster(t)
		if m, err := db.Memory(t.Context()); err != nil || len(m.Servers) != len(nodes) || len(m.Evicting()) != 0 {
			t.Errorf("Memory of a cluster = %v, %v, want each node, and that none evicts", m, err)
		}
		nodes[1].Say("CONFIG SET maxmemory-policy volatile-lru")
		testenv.Equal(t, 1, len(testenv.Must(db.Memory(t.Context()))(t).Evicting()))
	})
	t.Run("embedded", func(t *testing.T) {
		if m, err := redisdbtest.Embedded(t).Memory(t.Context()); err != nil || len(m.Servers) != 0 || len(m.Evicting()) != 0 {
			t.Errorf("Memory of the embedded store = %v, %v, want no eviction", m, err)
		}
	})
}

// gaugeOf returns the value of a gauge for a server, or -1 if there is no such series.
func gaugeOf(t *testing.T, reg prometheus.Gatherer, name, server string) float64 {
	t.Helper()
	for _, family := range testenv.Must(reg.Gather())(t) {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == server {
				return m.GetGauge().GetValue()
			}
		}
	}
	return -1
}
