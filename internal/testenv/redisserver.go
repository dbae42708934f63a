package testenv

import (
	"net"
	"os/exec"
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
