package testenv

import "syscall"

// dieWithParent makes the kernel kill a child whose test binary dies without cleaning up, as a test timeout does.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Pause freezes the process (SIGSTOP): connections stay open and nothing is answered, the worst way for a server to be
// ill. Kill also ends a paused one; Stop and Restart need Resume first.
func (p *process) Pause() { p.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *process) Resume() { p.signal(syscall.SIGCONT) }

func (p *process) signal(sig syscall.Signal) {
	p.tb.Helper()
	if p.cmd == nil {
		p.tb.Fatalf("%s is not running", p.name)
	}
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.tb.Fatalf("signal to %s: %v", p.name, err)
	}
}
