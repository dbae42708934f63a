package redisdbtest

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// Cluster starts a Redis Cluster of two nodes and opens it.
func Cluster(t testing.TB) *redisdb.DB {
	t.Helper()
	var addrs []string
	var nodes []rueidis.Client
	for range 2 {
		_, bus := freePort(t)
		srv := testenv.RedisServer(t, "--cluster-enabled", "yes", "--cluster-port", bus)
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{srv.Addr()}, ForceSingleClient: true, DisableCache: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		addrs, nodes = append(addrs, srv.Addr()), append(nodes, c)
		if len(nodes) == 2 {
			host, port, _ := net.SplitHostPort(srv.Addr())
			ask(t, nodes[0], "CLUSTER", "MEET", host, port, bus)
		}
	}
	ask(t, nodes[0], "CLUSTER", "ADDSLOTSRANGE", "0", "8191")
	ask(t, nodes[1], "CLUSTER", "ADDSLOTSRANGE", "8192", "16383")
	testenv.Eventually(t, 30*time.Second, func() bool {
		ready := 0
		for _, n := range nodes {
			if strings.Contains(ask(t, n, "CLUSTER", "INFO"), "cluster_state:ok") {
				ready++
			}
		}
		return ready == len(nodes)
	})
	return open(t, redisdb.Config{URL: "redis://" + strings.Join(addrs, ","), Timeout: patience})
}

func freePort(t testing.TB) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, _ = net.SplitHostPort(l.Addr().String())
	return host, port
}

func ask(t testing.TB, c rueidis.Client, words ...string) string {
	t.Helper()
	s, err := c.Do(t.Context(), c.B().Arbitrary(words...).Build()).ToString()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return s
}
