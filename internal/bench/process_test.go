package bench

import (
	"os"
	"testing"
	"time"
)

func TestCPUTime(t *testing.T) {
	stat := []byte("4711 (postgres: a) (b) S 1 4711 4711 0 -1 4194560 1 2 3 4 150 25 9 9 20 0 1 0 100\n")
	if got, ok := cpuTime(stat, "postgres"); !ok || got != 1750*time.Millisecond {
		t.Errorf("%s, %v", got, ok)
	}
	for _, bad := range []string{
		"", "4711 postgres S", "4711 (postgres) S 1 2", "4711 (postgres) S 1 2 3 4 5 6 7 8 9 10 x y 13",
	} {
		if got, ok := cpuTime([]byte(bad), "postgres"); ok {
			t.Errorf("%q: %s", bad, got)
		}
	}
	// The process id of a server in a container belongs to another process here.
	if _, ok := cpuTime(stat, "redis"); ok {
		t.Error("another program was taken for the server")
	}
}

func TestUsage_each(t *testing.T) {
	before := usage{"postgres": {1: time.Second, 2: time.Second}}
	after := usage{"postgres": {1: 2 * time.Second, 3: time.Second}, "redis": {9: 0}}
	got := before.each(after, 1000)
	if len(got) != 2 || got[0] != (Cost{"postgres", 2000}) || got[1] != (Cost{"redis", 0}) {
		t.Errorf("%+v", got)
	}
	if before.each(after, 0) != nil {
		t.Error("a cost of no orders")
	}
}

// What the kernel says of this very process.
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
		t.Errorf("%+v", m)
	}
}
