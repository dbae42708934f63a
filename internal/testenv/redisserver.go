package testenv

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startTimeout = 10 * time.Second
	startTries   = 3 // another process may take the free port between its discovery and its use
)

// Server is a redis-server process of one test: nothing on disk, a port of its own, gone when the test ends. Its
// methods are for the goroutine of the test.
type Server struct {
	tb     testing.TB
	addr   string
	bus    string // the port at which nodes of a Cluster talk to each other
	args   []string
	cmd    *exec.Cmd     // nil while stopped
	exited chan struct{} // closed when the process of cmd has ended
}

// RedisServer starts a redis-server. More arguments, such as "--maxmemory", "1mb", are handed to it after the
// defaults and win over them.
func RedisServer(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		unavailablef(t, "redis-server is not installed: %v", err)
	}
	s := &Server{tb: t}
	dir := t.TempDir()
	t.Cleanup(s.Kill) // runs before the removal of dir
	var err error
	for range startTries {
		s.addr = freeAddr(t)
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

// Addr is host:port; it stays the same over Restart.
func (s *Server) Addr() string { return s.addr }

// Stop ends the process the polite way (SIGTERM) and waits for its end. Stopping a stopped server does nothing.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the process with SIGKILL, as a crash or the kernel's memory killer does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Restart starts the server again on the same port, empty unless the test gave it a persistence of its own. A running
// server is stopped first.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	if err := s.start(); err != nil {
		s.tb.Fatalf("redis-server does not start again: %v", err)
	}
}

func (s *Server) end(sig os.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(sig) // fails only when the process has ended by itself
	<-s.exited
	s.cmd = nil
}

// start returns when the process itself says that it is ready: a stranger who took the port cannot be mistaken for it.
func (s *Server) start() error {
	out := &output{ready: make(chan struct{})}
	cmd := exec.Command("redis-server", s.args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.exited = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit status of a signalled process is of no interest
		close(s.exited)
	}()
	select {
	case <-out.ready:
		return nil
	case <-s.exited:
	case <-time.After(startTimeout):
	}
	s.Kill()
	return fmt.Errorf("no readiness on %s: %s", s.addr, out.buf.Bytes())
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("no free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// output watches what the process prints. Its buffer may be read once the process has ended.
type output struct {
	buf   bytes.Buffer
	ready chan struct{}
	once  sync.Once
}

// Write is only ever called by one goroutine: os/exec copies stdout and stderr together when they are the same writer.
func (o *output) Write(p []byte) (int, error) {
	o.buf.Write(p)
	if bytes.Contains(o.buf.Bytes(), []byte("Ready to accept connections")) {
		o.once.Do(func() { close(o.ready) })
	}
	return len(p), nil
}
