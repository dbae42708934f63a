package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is one process of `comanda serve`. It keeps its address over kill and start. Its methods are for the goroutine
// of the test.
type server struct {
	s      *site
	addr   string
	env    settings // on top of the site's
	args   []string // after serve
	binary string   // the command; "" is the one under test
	log    string   // file of what it and its predecessors have written to stderr

	cmd    *exec.Cmd     // nil while it does not run
	exited chan struct{} // closed when the process of cmd has ended
}

// start runs the process and returns when it says that it is ready.
func (v *server) start() {
	t := v.s.t
	t.Helper()
	log, err := os.OpenFile(v.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has a handle of its own
	out, err := os.Create(v.out())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(cmp.Or(v.binary, binary), append([]string{"serve"}, v.args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = v.s.environ(v.env), out, log, dieWithParent()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	v.cmd, v.exited = cmd, exited
	go func() {
		_ = cmd.Wait() // the state tells the rest
		close(exited)
	}()
	v.s.await(patience, func() error {
		select {
		case <-exited:
			t.Fatalf("the server has ended by itself: %v", cmd.ProcessState)
		default:
		}
		if a := v.s.sendTo(v.addr, http.MethodGet, "/readyz", nil); a.status != http.StatusOK {
			return fmt.Errorf("not ready: %v", a)
		}
		return nil
	})
}

// out is the file of what the process has printed for its operator since it was started.
func (v *server) out() string { return v.log + ".out" }

// awaitGreeting waits until the process has printed the last line of its start with the demo, which comes after the
// accounts of the demo are made.
func (v *server) awaitGreeting() {
	v.s.t.Helper()
	v.s.await(patience, func() error {
		out, err := os.ReadFile(v.out())
		if err != nil || !strings.Contains(string(out), "All tables") {
			return fmt.Errorf("printed is %q (%w)", out, err)
		}
		return nil
	})
}

// kill ends the process with SIGKILL: nothing is written, said or closed any more.
func (v *server) kill() {
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Kill() // fails only when the process has ended by itself
	<-v.exited
	v.cmd = nil
	v.s.http.CloseIdleConnections()
}

// stop ends the process as an operator does, and expects it to take its leave properly.
func (v *server) stop() {
	t := v.s.t
	t.Helper()
	if v.cmd == nil {
		return
	}
	// A connection on which nothing was sent yet, as the client opens them in advance, would be waited for.
	v.s.http.CloseIdleConnections()
	_ = v.cmd.Process.Signal(syscall.SIGTERM) // fails only when the process has ended by itself
	select {
	case <-v.exited:
		if state := v.cmd.ProcessState; state.ExitCode() != 0 {
			t.Errorf("a server that was told to stop ended with: %v", state)
		}
	case <-time.After(patience):
		t.Errorf("a server that was told to stop has not ended within %v", patience)
	}
	v.kill()
}

// close ends the process at the end of a test and shows what it has logged if the test has failed.
func (v *server) close() {
	if !v.s.t.Failed() {
		v.stop()
	}
	v.kill()
	if !v.s.t.Failed() {
		return
	}
	const shown = 16 << 10
	log, _ := os.ReadFile(v.log) // a server that has never been started has none
	if cut := len(log) - shown; cut > 0 {
		log = append([]byte("...\n"), log[cut+bytes.IndexByte(log[cut:], '\n')+1:]...)
	}
	v.s.t.Logf("%s has logged:\n%s", filepath.Base(v.log), log)
}
