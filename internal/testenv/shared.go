package testenv

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// Shared collects the cleanups of resources that all tests of a package share, such as a server. TestMain calls Close
// after the last test. It is safe for concurrent use.
type Shared struct {
	mu       sync.Mutex
	cleanups []func()
}

// For returns t with its cleanups deferred to Close. The first test that needs a shared resource uses it to create the
// resource for all.
func (s *Shared) For(t testing.TB) testing.TB { return forAll{t, s} }

// Close runs the cleanups in reverse order.
func (s *Shared) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	s.cleanups = nil
}

// forAll is a testing.TB whose cleanups outlive its test.
type forAll struct {
	testing.TB
	s *Shared
}

// Cleanup implements testing.TB. The embedded test would run fn at its own end.
func (f forAll) Cleanup(fn func()) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.cleanups = append(f.s.cleanups, fn)
}

// TempDir implements testing.TB. That of the embedded test would be removed at its end, while other tests still use it.
func (f forAll) TempDir() string {
	dir, err := os.MkdirTemp("", "comanda-shared-")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Errorf implements testing.TB. It prints instead of failing a test, because Close runs when no test does.
func (f forAll) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
