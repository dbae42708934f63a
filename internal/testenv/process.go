package testenv

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is a server for one test at a time, which may stop and restart it. Its methods must be called from the
// goroutine of the test.
type process struct {
	tb      testing.TB
	name    string        // for error messages
	ready   string        // the output that means it is ready
	within  time.Duration // limit for the ready output
	command func() *exec.Cmd

	cmd    *exec.Cmd     // nil while stopped
	exited chan struct{} // closed when the process of cmd has ended
}

// HandTo makes t the test that owns the process. The cleanup stays with the test that started it.
func (p *process) HandTo(t testing.TB) { p.tb = t }

// Running reports whether the server is started and was not stopped since.
func (p *process) Running() bool { return p.cmd != nil }

// Stop sends SIGTERM and waits for the process to end. On a stopped process it does nothing.
func (p *process) Stop() { p.end(syscall.SIGTERM) }

// Kill sends SIGKILL, which ends the process like a crash or the kernel's out-of-memory killer, and waits.
func (p *process) Kill() { p.end(syscall.SIGKILL) }

// Restart starts the server again at the same address. It first stops a running one.
func (p *process) Restart() {
	p.tb.Helper()
	p.Stop()
	if err := p.start(); err != nil {
		p.tb.Fatalf("%s does not start again: %v", p.name, err)
	}
}

// end signals the process and waits until it has ended, so that Restart finds its port free.
func (p *process) end(sig os.Signal) {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(sig) // fails only if the process has ended by itself
	<-p.exited
	p.cmd = nil
}

// orphanDelay is how long Wait waits for children of a killed process that keep its output open.
const orphanDelay = 5 * time.Second

// start starts the process and returns when its output says that it is ready. A connection would not prove that,
// because another process may have taken the port.
func (p *process) start() error {
	out := &output{ready: make(chan struct{}), text: []byte(p.ready)}
	cmd := p.command()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr, cmd.WaitDelay = dieWithParent(), orphanDelay
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.exited = cmd, make(chan struct{})
	exited := p.exited
	go func() {
		_ = cmd.Wait() // a signalled process has no useful exit status
		close(exited)
	}()
	select {
	case <-out.ready:
		return nil
	case <-exited:
	case <-time.After(p.within):
	}
	p.Kill()
	return fmt.Errorf("no readiness within %s: %s", p.within, out.buf.Bytes())
}

// FreeAddr counts ports up from a random one, below the range that systems use for outgoing connections, so that no
// other process gets a server's address while the server is stopped.
var (
	firstPort = 12_000 + rand.IntN(16_000)
	ports     atomic.Int32
)

// FreeAddr returns an address on which no process listens. Packages are tested in processes of their own, so each
// starts at a random port; inside one process no port is returned twice.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+int(ports.Add(1)))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}

// output scans the output of a process. Its buffer may be read after the process has ended.
type output struct {
	buf   bytes.Buffer
	text  []byte // the output that means ready
	ready chan struct{}
	once  sync.Once
}

// Write implements io.Writer. It needs no lock, because os/exec copies stdout and stderr in one goroutine when they are
// the same writer.
func (o *output) Write(p []byte) (int, error) {
	o.buf.Write(p)
	if bytes.Contains(o.buf.Bytes(), o.text) {
		o.once.Do(func() { close(o.ready) })
	}
	return len(p), nil
}
