package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

// binary is the command under test.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "comanda-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "comanda")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "comanda/cmd/comanda")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	defer atEnd.run()
	return m.Run()
}

// noteSources looks at every directory that the binary is made of. No package of it is imported here, so this is how go
// test learns that a result which it has kept is about older sources; it listens only once tests are running.
var noteSources = sync.OnceValue(func() error {
	for _, root := range []string{"../../cmd", ".."} {
		if err := filepath.WalkDir(root, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return err
		}
	}
	return nil
})

// lasting is what is made once for all tests, and what to do when the last has ended.
type lasting struct {
	mu       sync.Mutex
	broker   string
	cleanups []func()
}

var atEnd lasting

func (l *lasting) run() {
	for _, f := range slices.Backward(l.cleanups) {
		f()
	}
}

// brokerURL is the address of a virtual host that all tests of this process share, each with names of its own. Making
// one takes seconds.
func (l *lasting) brokerURL(t testing.TB) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broker == "" {
		l.broker = testenv.AMQP(forAll{t, l})
	}
	return l.broker
}

// forAll is the test that happens to come first, on behalf of all: what it would clean up stays until the last has ended.
type forAll struct {
	testing.TB
	l *lasting
}

func (f forAll) Cleanup(fn func()) { f.l.cleanups = append(f.l.cleanups, fn) }

// Errorf is called by a cleanup, when there is no test any more that could fail.
func (f forAll) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
