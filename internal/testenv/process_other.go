//go:build !linux

package testenv

import "syscall"

// dieWithParent returns nil: on these systems a killed test binary leaves its servers running.
func dieWithParent() *syscall.SysProcAttr { return nil }

// Pause skips the test, because not every system has the signals for it.
func (p *process) Pause() { p.skip() }

// Resume skips the test, like Pause.
func (p *process) Resume() { p.skip() }

func (p *process) skip() {
	p.tb.Helper()
	p.tb.Skip("freezing a process needs Linux")
}
