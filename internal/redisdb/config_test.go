package redisdb

import (
	"strings"
	"testing"

	"comanda/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

func TestConfig_remote(t *testing.T) {
	for url, want := range map[string]struct {
		addrs  []string
		single bool
		tls    string // server name, "-" without TLS
	}{
		"redis://h":                             {[]string{"h:6379"}, true, "-"},
		"rediss://h:7000":                       {[]string{"h:7000"}, true, "h"},
		"redis://u:p@a:1,b:2 , c:3":             {[]string{"a:1", "b:2", "c:3"}, false, "-"},
		"rediss://u:p@a:1,rediss://b:2":         {[]string{"a:1", "b:2"}, false, ""},
		"redis://:p@h:7000/3":                   {[]string{"h:7000"}, true, "-"},
		"redis://[2001:db8::1]:7000,[::2]:7001": {[]string{"[2001:db8::1]:7000", "[::2]:7001"}, false, "-"},
	} {
		o, err := Config{URL: url}.remote()
		if err != nil {
			t.Errorf("remote of %s: %v", url, err)
			continue
		}
		name := "-"
		if o.TLSConfig != nil {
			name = o.TLSConfig.ServerName
		}
		if d := cmp.Diff(want.addrs, o.InitAddress); d != "" || o.ForceSingleClient != want.single || name != want.tls {
			t.Errorf("%s: %s single %t, TLS %q", url, d, o.ForceSingleClient, name)
		}
		if !o.DisableRetry || !o.DisableCache {
			t.Errorf("%s: retries or the client's cache are on", url) // R2
		}
	}
}

func TestConfig_Validate_refuses(t *testing.T) {
	for name, c := range map[string]Config{
		"no scheme":             {URL: "localhost:6379"},
		"other scheme":          {URL: "http://localhost"},
		"malformed":             {URL: "redis://user:sesame@h:port"},
		"database in a Cluster": {URL: "redis://a:1/2,b:2"},
		"open to the network":   {Listen: "0.0.0.0:6380"},
		"every interface":       {Listen: ":6380"},
		"no port":               {Listen: "127.0.0.1"},
	} {
		err := c.Validate()
		if err == nil {
			t.Errorf("%s was accepted", name)
		} else if strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: the error shows the password: %v", name, err)
		}
	}
	for _, c := range []Config{{}, {Listen: "127.0.0.1:0"}, {Listen: "[::1]:6380"}, {Listen: "localhost:6380"}} {
		testenv.NoError(t, c.Validate())
	}
}

func TestParseInfo(t *testing.T) {
	n, err := parseInfo("# Server\r\nredis_version:7.2.4\r\nredis_mode:standalone\r\nrun_id:abc\r\n" +
		"# Replication\r\nmaster_replid:def\r\n").node()
	want := node{Server: Server{Version: "7.2.4", RunID: "abc", Mode: "standalone"}, replID: "def"}
	if err != nil || n != want {
		t.Errorf("parseInfo = %+v, %v", n, err)
	}
	if _, err := parseInfo("redis_version:6.2.14\r\n").node(); err == nil {
		t.Error("Redis 6 was accepted")
	}
}

func TestChanged(t *testing.T) {
	known := map[string]node{}
	of := func(run, repl string) node { return node{Server: Server{RunID: run}, replID: repl} }
	for _, step := range []struct {
		name string
		now  map[string]node
		want bool
	}{
		{"first sight", map[string]node{"a": of("1", "x"), "b": of("2", "y")}, true},
		{"the same", map[string]node{"a": of("1", "x"), "b": of("2", "y")}, false},
		{"one is silent", map[string]node{"a": of("1", "x")}, false},
		{"the silent one comes back", map[string]node{"a": of("1", "x"), "b": of("2", "y")}, false},
		{"one restarts", map[string]node{"a": of("3", "x"), "b": of("2", "y")}, true},
		{"a replica is promoted", map[string]node{"a": of("3", "x"), "b": of("2", "z")}, true},
		{"another joins", map[string]node{"c": of("4", "w")}, true},
	} {
		if got := changed(known, step.now); got != step.want {
			t.Errorf("changed when %s = %t, want %t", step.name, got, step.want)
		}
	}
}

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
