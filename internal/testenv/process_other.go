//go:build !linux

package testenv

import "syscall"

// dieWithParent has no counterpart here: a test binary that is killed leaves its redis-server behind.
func dieWithParent() *syscall.SysProcAttr { return nil }

// Pause skips the test: freezing a process is done with signals that not every system has.
func (s *Server) Pause() { s.skip() }

// Resume belongs to Pause.
func (s *Server) Resume() { s.skip() }

func (s *Server) skip() {
	s.tb.Helper()
	s.tb.Skip("freezing redis-server needs Linux")
}
