package redisdb

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Masters count and replicas do not; a server that reports no policy causes no warning.
func TestReadMemory(t *testing.T) {
	nodes := map[string]info{}
	for addr, text := range map[string]string{
		"a:1": "# Memory\r\nmaxmemory_policy:allkeys-lru\r\n# Stats\r\nevicted_keys:7\r\n# Replication\r\nrole:master\r\n",
		"b:1": "maxmemory_policy:noeviction\r\nevicted_keys:2\r\nrole:master\r\n",
		"c:1": "maxmemory_policy:volatile-ttl\r\nevicted_keys:5\r\nrole:slave\r\n",
		"d:1": "role:master\r\n",
		"e:1": "maxmemory_policy:volatile-lru\r\nrole:master\r\n",
	} {
		nodes[addr] = parseInfo(text)
	}
	m := memoryOf(nodes)
	if d := cmp.Diff([]string{"a:1: allkeys-lru", "e:1: volatile-lru"}, m.Evicting()); d != "" || m.Evicted != 9 {
		t.Errorf("%d evicted keys, policies (-want +got):\n%s", m.Evicted, d)
	}
}
