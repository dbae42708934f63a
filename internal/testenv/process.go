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

// process is a server that belongs to one test at a time, which may end it and start it again. Its methods are for the
// goroutine of the test.
type process struct {
	tb      testing.TB
	name    string        // as errors tell it
	ready   string        // what it prints once it serves
	within  time.Duration // until it has printed that
	command func() *exec.Cmd

	cmd    *exec.Cmd     // nil while stopped
	exited chan struct{} // closed when the process of cmd has ended
}

// HandTo makes t the test to which the process belongs. What ends the process stays with the test that started it.
func (p *process) HandTo(t testing.TB) { p.tb = t }

// Stop ends the process the polite way (SIGTERM) and waits for its end. Stopping a stopped server does nothing.
func (p *process) Stop() { p.end(syscall.SIGTERM) }

// Kill ends the process with SIGKILL, as a crash or the kernel's memory killer does.
func (p *process) Kill() { p.end(syscall.SIGKILL) }

// Restart starts the server again at the same address. A running one is stopped first.
func (p *process) Restart() {
	p.tb.Helper()
	p.Stop()
	if err := p.start(); err != nil {
		p.tb.Fatalf("%s does not start again: %v", p.name, err)
	}
}

func (p *process) end(sig os.Signal) {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(sig) // fails only when the process has ended by itself
	<-p.exited
	p.cmd = nil
}

// orphanDelay is how long helpers of a process that has been killed may hold on to what it printed to.
const orphanDelay = 5 * time.Second

// start returns when the process itself says that it is ready: a stranger who took the port cannot be mistaken for it.
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
		_ = cmd.Wait() // the exit status of a signalled process is of no interest
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

// ports are handed out from a random place on, below the range from which systems take the ports of outgoing
// connections: nobody gets the address of a server while it is dead.
var (
	firstPort = 12_000 + rand.IntN(16_000)
	ports     atomic.Int32
)

// FreeAddr gives an address at which nobody listens.
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

// output watches what the process prints. Its buffer may be read once the process has ended.
type output struct {
	buf   bytes.Buffer
	text  []byte // after which it is ready
	ready chan struct{}
	once  sync.Once
}

// Write is only ever called by one goroutine: os/exec copies stdout and stderr together when they are the same writer.
func (o *output) Write(p []byte) (int, error) {
	o.buf.Write(p)
	if bytes.Contains(o.buf.Bytes(), o.text) {
		o.once.Do(func() { close(o.ready) })
	}
	return len(p), nil
}
