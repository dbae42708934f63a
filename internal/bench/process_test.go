package bench

import (
	"os"
	"testing"
	"time"
)

func TestUsage_each(t *testing.T) {
	before := usage{"postgres": {1: time.Second, 2: time.Second}}
	after := usage{"postgres": {1: 2 * time.Second, 3: time.Second}, "redis": {9: 0}}
	got := before.each(after, 1000)
	if len(got) != 2 || got[0] != (Cost{"postgres", 2000}) || got[1] != (Cost{"redis", 0}) {
		t.Errorf("each = %+v, want 2000 for postgres and 0 for redis", got)
	}
	if before.each(after, 0) != nil {
		t.Error("a cost of no orders")
	}
}

// The kernel's figures of the test's own process.
func TestProcess_itself(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		if rss(os.Getpid()) != 0 {
			t.Error("memory was read from nowhere")
		}
		return
	}
	if n := rss(os.Getpid()); n < 1<<20 {
		t.Errorf("%d bytes resident", n)
	}
	if _, ok := (group{pids: []int{os.Getpid()}}).cpu(); !ok {
		t.Error("no processor time")
	}
	if _, ok := (group{name: "postgres", pids: []int{os.Getpid(), 0}}).cpu(); ok {
		t.Error("this process is no postgres")
	}
	if m := machine(); m.Cores < 1 || m.Go == "" || m.OS == "" {
		t.Errorf("machine() = %+v, want cores, Go version and system", m)
	}
}
