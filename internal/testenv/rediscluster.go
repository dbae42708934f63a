package testenv

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// clusterNodes is the least number of masters that a Redis Cluster elects by.
const clusterNodes = 3

// RedisCluster starts a Redis Cluster of three masters without replicas, each on ports of its own. A killed node leaves
// its slots unserved until Restart; then it is empty.
func RedisCluster(t testing.TB, args ...string) []*Server {
	t.Helper()
	nodes := make([]*Server, clusterNodes)
	for i := range nodes {
		_, bus, _ := net.SplitHostPort(freeAddr(t))
		options := append([]string{
			"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000",
			"--cluster-config-file", fmt.Sprintf("nodes-%d.conf", i),
		}, args...)
		nodes[i] = RedisServer(t, options...)
		from, to := i*16384/clusterNodes, (i+1)*16384/clusterNodes-1
		nodes[i].must(t, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", from, to))
		nodes[i].must(t, fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
		if i > 0 {
			host, port, _ := net.SplitHostPort(nodes[i].Addr())
			nodes[0].must(t, fmt.Sprintf("CLUSTER MEET %s %s %s", host, port, bus))
		}
	}
	AwaitCluster(t, nodes)
	return nodes
}

// AwaitCluster waits until every node says that all slots are served, which takes two seconds after a start.
func AwaitCluster(t testing.TB, nodes []*Server) {
	t.Helper()
	Eventually(t, 30*time.Second, func() bool {
		for _, n := range nodes {
			info := n.Say("CLUSTER INFO")
			if !strings.Contains(info, "cluster_state:ok") ||
				!strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(nodes))) {
				return false
			}
		}
		return true
	})
}

// ClusterURL is how programs are told of a Cluster.
func ClusterURL(nodes []*Server) string {
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.Addr()
	}
	return "redis://" + strings.Join(addrs, ",")
}

// Say sends one line, a command whose words have no spaces, over a connection of its own, and gives the raw answer;
// nothing when the server does not answer.
func (s *Server) Say(line string) string {
	conn, err := net.DialTimeout("tcp", s.addr, dialTimeout)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(startTimeout))
	if _, err := io.WriteString(conn, line+"\r\nQUIT\r\n"); err != nil {
		return ""
	}
	said, _ := io.ReadAll(conn) // what came before a failure is what was said
	return string(said)
}

func (s *Server) must(t testing.TB, line string) {
	t.Helper()
	if said := s.Say(line); !strings.HasPrefix(said, "+OK") {
		t.Fatalf("%s is answered %q", line, said)
	}
}
