package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"comanda/internal/testenv"
)

// runOnTerminal runs the binary like run, with a terminal as standard error; shown is the text on the terminal.
func (s *installation) runOnTerminal(args ...string) (r result, shown string) {
	s.t.Helper()
	master, terminal := openTerminal(s.t)
	defer master.Close()
	var out, drawn bytes.Buffer
	cmd := exec.CommandContext(s.t.Context(), binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.environ(nil), &out, terminal
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&drawn, master) // ends with an error when the last handle of the terminal is closed
	}()
	err := cmd.Run()
	_ = terminal.Close()
	<-done
	if cmd.ProcessState == nil {
		s.t.Fatalf("comanda %s: %v", strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), ""}, drawn.String()
}

// A new owner sees the set-up link in the terminal, without log records around it.
func TestServe_terminal(t *testing.T) {
	s := bare(t, embedded, nil)
	master, terminal := openTerminal(t)
	defer master.Close()
	cmd := exec.CommandContext(t.Context(), binary, "serve")
	cmd.Env, cmd.Stderr = s.environ(nil), terminal
	out := testenv.Must(cmd.StdoutPipe())(t)
	testenv.NoError(t, cmd.Start())
	shown := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the last handle of the terminal is closed
		shown <- string(text)
	}()
	lines, code := bufio.NewScanner(out), ""
	for code == "" && lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "Set-up code"); ok {
			code = rest
		}
	}
	testenv.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, out) // Wait closes the pipe
	testenv.NoError(t, cmd.Wait())
	_ = terminal.Close()
	// The stop may interrupt a loop, which then logs a warning.
	if text := <-shown; code == "" || strings.ContainsAny(text, "{}") || strings.Contains(text, "level=INFO") {
		t.Errorf("%q stands around the code %q", text, code)
	}
}

// openTerminal opens a pseudo-terminal.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master = testenv.Must(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	var locked, number int32
	control := func(request uintptr, value *int32) {
		if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); code != 0 {
			t.Fatal(code)
		}
	}
	control(syscall.TIOCSPTLCK, &locked)
	control(syscall.TIOCGPTN, &number)
	terminal = testenv.Must(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0))(t)
	return master, terminal
}
