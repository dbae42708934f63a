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

// binary is the path of the command under test. The build tag fasthash makes passwords cheap to hash, which would
// otherwise take a third of the processor time of all servers. Otherwise the command equals a release, see
// sharedResources.released.
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
	if err := build(binary, "fasthash"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.Close()
	testenv.Parallel(parallelTests)
	return m.Run()
}

// build builds the command with build tags.
func build(path, tags string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags="+tags,
		"-o", path, "comanda/cmd/comanda")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// parallelTests is the number of tests that run at the same time. They mostly wait for other processes, but within
// promised times, and more tests than this would delay each other beyond those.
const parallelTests = 6

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

// sharedResources are the resources of all tests, with the cleanups that run after the last one.
type sharedResources struct {
	broker   lazy[string]
	postgres lazy[demoRows]
	sqlite   lazy[[]byte]

	faultclock lazy[string] // the binary with a shiftable clock
	release    lazy[string] // the binary as it is released
	former     lazy[string] // the binary of the previous release

	mu   sync.Mutex
	idle [][]*testenv.Server // Clusters that no test uses

	testenv.Shared
}

var shared sharedResources

// released returns the binary as it is released, without build tags.
func (l *sharedResources) released(t testing.TB) string {
	t.Helper()
	return l.release.get(func() string { return l.tagged(t, "release", "") })
}

// tagged builds a binary beside the one under test.
func (l *sharedResources) tagged(t testing.TB, name, tags string) string {
	t.Helper()
	path := binary + "-" + name
	testenv.NoError(t, build(path, tags))
	return path
}

// lazy is a value that the first test to need it creates. After a failure the next test tries again.
type lazy[T any] struct {
	mu   sync.Mutex
	made bool
	v    T
}

func (o *lazy[T]) get(build func() T) T {
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
func (l *sharedResources) brokerURL(t testing.TB) string {
	t.Helper()
	return l.broker.get(func() string { return testenv.AMQP(l.For(t)) })
}

// cluster returns a Redis Cluster for the test alone. It empties and reuses one that a passed test has left, because a
// start takes two seconds.
func (l *sharedResources) cluster(t *testing.T) []*testenv.Server {
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
				if reply := n.Say(line); !strings.HasPrefix(reply, "+OK") {
					t.Errorf("%s is answered %q", line, reply)
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
