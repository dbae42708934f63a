package bench

import (
	"os"
	"strings"
	"testing"
	"time"
)

const exposition = `# HELP gate_try_total Reservations asked of the gate by their answer.
# TYPE gate_try_total counter
gate_try_total{answer="admitted"} 300
gate_try_total{answer="cold"} 100
# TYPE gate_try_total_other counter
gate_try_total_other 7
# TYPE gate_apply_total counter
gate_apply_total{op="HELD",outcome="same"} 240
gate_apply_total{op="CANCEL",outcome="changed"} 60
# TYPE redis_command_duration_seconds histogram
redis_command_duration_seconds_bucket{cmd="try",le="0.001"} 9
redis_command_duration_seconds_bucket{cmd="try",le="+Inf"} 10
redis_command_duration_seconds_sum{cmd="try"} 0.01
redis_command_duration_seconds_count{cmd="try"} 10
redis_command_duration_seconds_bucket{cmd="apply",le="+Inf"} 20
redis_command_duration_seconds_sum{cmd="apply"} 0.02
redis_command_duration_seconds_count{cmd="apply"} 20
breaker_state{dep="redis"} 0
nonsense
`

func TestAdmissionBatches(t *testing.T) {
	s := parseSamples(strings.NewReader(exposition))
	if got, want := admissionBatches(samples{}, s), (Batches{Try: 30, Held: 15, Cold: 0.25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := admissionBatches(s, s); got != (Batches{}) {
		t.Errorf("nothing has happened: %+v", got)
	}
	if got := admissionBatches(nil, nil); got != (Batches{}) {
		t.Errorf("a server without metrics: %+v", got)
	}
}

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
		t.Error("this process is not postgres")
	}
	if m := machine(); m.Cores < 1 || m.Go == "" || m.OS == "" {
		t.Errorf("machine() = %+v, want cores, Go version and system", m)
	}
}
