package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"comanda/internal/testenv"
)

// dieWithParent makes the kernel kill a server whose test binary dies without cleanup, as after a test time-out.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// peakKiB returns the process's peak memory as the kernel counts it.
func (v *server) peakKiB(t *testing.T) int {
	t.Helper()
	status := testenv.Must(os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid)))(t)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return testenv.Must(strconv.Atoi(strings.Fields(rest)[0]))(t)
		}
	}
	t.Fatalf("no VmHWM in %s", status)
	return 0
}
