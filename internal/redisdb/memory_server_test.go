package redisdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	t.Run("cluster", func(t *testing.T) {
		db, nodes := redisdbtest.OwnCluster(t)
		if m, err := db.Memory(t.Context()); err != nil || len(m.Policies) != len(nodes) || len(m.Evicting()) != 0 {
			t.Errorf("Memory of a cluster = %v, %v, want a policy of each node that evicts nothing", m, err)
		}
		nodes[1].Say("CONFIG SET maxmemory-policy volatile-lru")
		if m, err := db.Memory(t.Context()); err != nil || len(m.Evicting()) != 1 {
			t.Errorf("Memory = %v, %v, want one node that evicts", m, err)
		}
	})
	t.Run("embedded", func(t *testing.T) {
		if m, err := redisdbtest.Embedded(t).Memory(t.Context()); err != nil || len(m.Evicting()) != 0 {
			t.Errorf("Memory of the embedded store = %v, %v, want no eviction", m, err)
		}
	})
}
