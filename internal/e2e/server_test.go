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

	"comanda/internal/testenv"
)

// server is one process of `comanda serve`. It keeps its address over kill and start. Its methods must be called from
// the goroutine of the test.
type server struct {
	s      *installation
	addr   string
	env    settings // added to the installation's
	args   []string // after serve
	binary string   // the command; "" is the one under test
	log    string   // file of its stderr, over all starts

	cmd    *exec.Cmd     // nil while it does not run
	exited chan struct{} // closed when the process of cmd has ended
}

// start runs the process and returns when it reports that it is ready.
func (v *server) start() {
	t := v.s.t
	t.Helper()
	log := testenv.Must(os.OpenFile(v.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
	defer log.Close() // the process has its own handle
	out := testenv.Must(os.Create(v.out()))(t)
	defer out.Close()
	cmd := exec.Command(cmp.Or(v.binary, binary), append([]string{"serve"}, v.args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = v.s.environ(v.env), out, log, dieWithParent()
	testenv.NoError(t, cmd.Start())
	exited := make(chan struct{})
	v.cmd, v.exited = cmd, exited
	go func() {
		_ = cmd.Wait() // state has the result
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

// out returns the file of the process's standard output since its start.
func (v *server) out() string { return v.log + ".out" }

// awaitGreeting waits until the process has printed the last line of its start with the demo, which comes after the
// demo's accounts are created.
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

// kill sends SIGKILL, so that the process writes and closes nothing more.
func (v *server) kill() {
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Kill() // fails only if the process has ended by itself
	<-v.exited
	v.cmd = nil
	v.s.http.CloseIdleConnections()
}

// stop ends the process as an operator does, and expects a clean exit.
func (v *server) stop() {
	t := v.s.t
	t.Helper()
	if v.cmd == nil {
		return
	}
	// The server would wait for connections without a request, which the client opens in advance.
	v.s.http.CloseIdleConnections()
	_ = v.cmd.Process.Signal(syscall.SIGTERM) // fails only if the process has ended by itself
	select {
	case <-v.exited:
		if state := v.cmd.ProcessState; state.ExitCode() != 0 {
			t.Errorf("a stopped server ended with: %v", state)
		}
	case <-time.After(patience):
		t.Errorf("a stopped server has not ended within %v", patience)
	}
	v.kill()
}

// close ends the process at the end of a test, and prints its log if the test has failed.
func (v *server) close() {
	if !v.s.t.Failed() {
		v.stop()
	}
	v.kill()
	if !v.s.t.Failed() {
		return
	}
	const shown = 16 << 10
	log, _ := os.ReadFile(v.log) // a server that was never started has none
	if cut := len(log) - shown; cut > 0 {
		log = append([]byte("...\n"), log[cut+bytes.IndexByte(log[cut:], '\n')+1:]...)
	}
	v.s.t.Logf("%s has logged:\n%s", filepath.Base(v.log), log)
}
