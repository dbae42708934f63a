package bench

import (
	"strings"
	"testing"
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
