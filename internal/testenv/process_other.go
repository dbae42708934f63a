//go:build !linux

package testenv

import "syscall"

// dieWithParent has no counterpart here: a test binary that is killed leaves its servers behind.
func dieWithParent() *syscall.SysProcAttr { return nil }

// Pause skips the test: freezing a process is done with signals that not every system has.
func (p *process) Pause() { p.skip() }

// Resume belongs to Pause.
func (p *process) Resume() { p.skip() }

func (p *process) skip() {
	p.tb.Helper()
	p.tb.Skip("freezing a process needs Linux")
}
