package testenv

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const (
	startTimeout = 10 * time.Second
	startTries   = 3 // another process may take the free port before the server does
)

// Server is a redis-server process of one test, with its own port and nothing on disk. It is removed when the test
// ends. Its methods must be called from the goroutine of the test.
type Server struct {
	process

	addr string
	bus  string // the port for connections between Cluster nodes
	args []string
}

// RedisServer starts a redis-server. args, such as "--maxmemory", "1mb", follow the defaults and override them. After
// Restart it is empty, unless args enable persistence. A port that another process takes first is replaced by another
// one.
func RedisServer(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		unavailablef(t, "redis-server is not installed: %v", err)
	}
	s := &Server{}
	s.process = process{
		tb: t, name: "redis-server", ready: "Ready to accept connections", within: startTimeout,
		command: func() *exec.Cmd { return exec.Command("redis-server", s.args...) },
	}
	dir := t.TempDir()
	t.Cleanup(s.Kill) // runs before the removal of dir
	var err error
	for range startTries {
		s.addr = FreeAddr(t)
		_, port, _ := net.SplitHostPort(s.addr)
		s.args = append([]string{
			"--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no",
		}, args...)
		if err = s.start(); err == nil {
			return s
		}
	}
	t.Fatalf("redis-server does not start: %v", err)
	return nil
}

// Addr returns host:port, which stays the same over Restart.
func (s *Server) Addr() string { return s.addr }

// clusterNodes is the minimum number of masters for elections in a Redis Cluster.
const clusterNodes = 3

// RedisCluster starts a Redis Cluster of three masters without replicas, each on its own ports. A killed node leaves
// its slots unserved until Restart, after which it is empty.
func RedisCluster(t testing.TB, args ...string) []*Server {
	t.Helper()
	nodes := make([]*Server, clusterNodes)
	for i := range nodes {
		nodes[i] = clusterNode(t, i, i+1, args)
		if i > 0 {
			nodes[i].meet(t, nodes[0])
		}
	}
	AwaitCluster(t, nodes)
	return nodes
}

// clusterNode starts a node that serves the i-th part of the slots. If two nodes claim the same slots, the higher epoch
// wins.
func clusterNode(t testing.TB, i, epoch int, args []string) *Server {
	t.Helper()
	_, bus, _ := net.SplitHostPort(FreeAddr(t))
	n := RedisServer(t, append([]string{
		"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000",
		"--cluster-config-file", fmt.Sprintf("nodes-%d.conf", i),
	}, args...)...)
	n.bus = bus
	n.must(t, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*16384/clusterNodes, (i+1)*16384/clusterNodes-1))
	n.must(t, fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", epoch))
	return n
}

// meet joins a node to the Cluster of another. Its bus port is named, because it is not the usual one 10,000 above the
// port for clients.
func (s *Server) meet(t testing.TB, other *Server) {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	other.must(t, fmt.Sprintf("CLUSTER MEET %s %s %s", host, port, s.bus))
}

// ReplaceNode replaces the i-th node, which must be dead, by an empty one with another address.
func ReplaceNode(t testing.TB, nodes []*Server, i int) {
	t.Helper()
	other := nodes[(i+1)%len(nodes)]
	var dead string // id of the dead node
	for line := range strings.Lines(other.Say("CLUSTER NODES")) {
		if id, rest, _ := strings.Cut(line, " "); strings.HasPrefix(rest, nodes[i].addr+"@") {
			dead = id
		}
	}
	nodes[i] = clusterNode(t, i, 100+i, nil)
	nodes[i].meet(t, other)
	Eventually(t, 30*time.Second, func() bool { // gossip brings the dead node back until all have forgotten it
		for _, n := range nodes {
			n.Say("CLUSTER FORGET " + dead)
		}
		return !strings.Contains(nodes[i].Say("CLUSTER NODES"), dead) && clusterServes(nodes)
	})
}

// AwaitCluster waits until every node reports that all slots are served, which takes two seconds after a start.
func AwaitCluster(t testing.TB, nodes []*Server) {
	t.Helper()
	Eventually(t, 30*time.Second, func() bool { return clusterServes(nodes) })
}

// clusterServes reports whether all nodes agree that all slots are served, and know no other nodes.
func clusterServes(nodes []*Server) bool {
	for _, n := range nodes {
		info := n.Say("CLUSTER INFO")
		if !strings.Contains(info, "cluster_state:ok") ||
			!strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(nodes))) {
			return false
		}
	}
	return true
}

// ClusterURL returns the Cluster's address as the configuration expects it.
func ClusterURL(nodes []*Server) string {
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.Addr()
	}
	return "redis://" + strings.Join(addrs, ",")
}

// Say sends one command whose words have no spaces over a new connection, and returns the raw reply, or an empty string
// if the server does not reply.
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
	reply, _ := io.ReadAll(conn) // keeps the reply that arrived before a failure
	return string(reply)
}

// must sends a command and fails the test unless the reply is OK.
func (s *Server) must(t testing.TB, line string) {
	t.Helper()
	if reply := s.Say(line); !strings.HasPrefix(reply, "+OK") {
		t.Fatalf("%s is answered %q", line, reply)
	}
}
