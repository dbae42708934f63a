package e2e

import "syscall"

// dieWithParent makes the kernel kill a server whose test binary dies without cleaning up, as a test timeout does.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
