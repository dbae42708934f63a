package testenv

import "syscall"

// dieWithParent makes the kernel kill a child whose test binary dies without cleaning up, as a test timeout does.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Pause freezes the process (SIGSTOP): connections stay open and nothing is answered, the worst way for Redis to be
// ill. Kill also ends a paused server; Stop and Restart need Resume first.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	if s.cmd == nil {
		s.tb.Fatal("redis-server is not running")
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatalf("signal to redis-server: %v", err)
	}
}
