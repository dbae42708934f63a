package redisdb

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Masters count and replicas do not; a server that reports no policy causes no warning.
func TestReadMemory(t *testing.T) {
	nodes := map[string]info{}
	for addr, text := range map[string]string{
		"a:1": "# Memory\r\nused_memory:80\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n# Stats\r\nevicted_keys:7\r\n# Replication\r\nrole:master\r\n",
		"b:1": "used_memory:95\r\nmaxmemory:100\r\nmaxmemory_policy:noeviction\r\nevicted_keys:2\r\nrole:master\r\n",
		"c:1": "used_memory:99\r\nmaxmemory:100\r\nmaxmemory_policy:volatile-ttl\r\nevicted_keys:5\r\nrole:slave\r\n",
		"d:1": "used_memory:5000\r\nmaxmemory:0\r\nrole:master\r\n",
		"e:1": "maxmemory_policy:volatile-lru\r\nrole:master\r\n",
	} {
		nodes[addr] = parseInfo(text)
	}
	m := memoryOf(nodes)
	if d := cmp.Diff([]string{"a:1: allkeys-lru", "e:1: volatile-lru"}, m.Evicting()); d != "" || m.Evicted != 9 {
		t.Errorf("%d evicted keys, policies (-want +got):\n%s", m.Evicted, d)
	}
	if f := m.Fullest(); f.Addr != "b:1" || f.Share() != 0.95 {
		t.Errorf("the fullest is %s at %v, want b:1 at 0.95: replicas and servers without a limit do not count", f.Addr, f.Share())
	}
	if f := (Memory{}).Fullest(); f.Share() != 0 {
		t.Errorf("without servers: %+v", f)
	}
}
