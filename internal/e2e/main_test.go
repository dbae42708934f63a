package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

// binary is the path of the command under test.
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
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, "comanda/cmd/comanda")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	defer atEnd.Close()
	testenv.Parallel(sideBySide)
	return m.Run()
}

// sideBySide is how many tests run at the same time. They mostly wait for other processes, but within promised times,
// and more tests than this would delay each other beyond those.
const sideBySide = 6

// noteSources stats every directory with sources of the binary. This package imports none of them, so this is how go
// test detects that a cached result is for older sources. go test records only accesses made while tests run.
var noteSources = sync.OnceValue(func() error {
	for _, root := range []string{"../../cmd", ".."} {
		if err := filepath.WalkDir(root, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return err
		}
	}
	return nil
})

// lasting is what all tests share, with its cleanups for the end of the last test.
type lasting struct {
	broker   once[string]
	postgres once[demoRows]
	sqlite   once[[]byte]

	faultclock once[string] // the binary with a shiftable clock
	release    once[string] // the binary of the previous release

	mu   sync.Mutex
	idle [][]*testenv.Server // Clusters that no test uses

	testenv.Shared
}

var atEnd lasting

// once is a value that the first test to need it creates. After a failure the next test tries again.
type once[T any] struct {
	mu   sync.Mutex
	made bool
	v    T
}

func (o *once[T]) get(build func() T) T {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.made {
		o.v = build()
		o.made = true
	}
	return o.v
}

// brokerURL returns the address of a virtual host that all tests of this process share, each with its own names.
// Creating one takes seconds.
func (l *lasting) brokerURL(t testing.TB) string {
	t.Helper()
	return l.broker.get(func() string { return testenv.AMQP(l.For(t)) })
}

// cluster returns a Redis Cluster for the test alone. It empties and reuses one that a passed test has left, because a
// start takes two seconds.
func (l *lasting) cluster(t *testing.T) []*testenv.Server {
	t.Helper()
	l.mu.Lock()
	var nodes []*testenv.Server
	if n := len(l.idle); n > 0 {
		nodes, l.idle = l.idle[n-1], l.idle[:n-1]
	}
	l.mu.Unlock()
	if nodes == nil {
		nodes = testenv.RedisCluster(l.For(t))
	}
	for _, n := range nodes {
		n.HandTo(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		for _, n := range nodes {
			for _, line := range []string{"FLUSHALL", "SCRIPT FLUSH", "CONFIG SET cluster-require-full-coverage yes"} {
				if said := n.Say(line); !strings.HasPrefix(said, "+OK") {
					t.Errorf("%s is answered %q", line, said)
					return
				}
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.idle = append(l.idle, nodes)
	})
	return nodes
}
