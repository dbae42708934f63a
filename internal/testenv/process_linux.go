package testenv

import "syscall"

// dieWithParent makes the kernel kill a child whose test binary dies without cleanup, as after a test time-out.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Pause freezes the process with SIGSTOP: connections stay open and nothing is answered, the hardest failure for
// clients to detect. Kill also ends a paused process; Stop and Restart need Resume first.
func (p *process) Pause() { p.signal(syscall.SIGSTOP) }

// Resume continues a paused process.
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
