package app

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/testenv"
)

// A process of any role measures the deciding clock and keeps its part of the admission cache.
func TestLoops_of_every_role(t *testing.T) {
	for _, role := range []ProcessRole{API, Worker, Relay} {
		t.Run(string(role), func(t *testing.T) {
			p := startProcess(t, nil, role)
			shown := prometheus.NewRegistry()
			shown.MustRegister(p.registry)
			for _, job := range []string{"clock", "gate_watch"} {
				testenv.Eventually(t, 10*time.Second, func() bool { return rounds(t, shown, job) > 0 })
			}
		})
	}
}

// rounds returns the number of runs of a loop.
func rounds(t *testing.T, from prometheus.Gatherer, job string) (n float64) {
	t.Helper()
	all := testenv.Must(from.Gather())(t)
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == "job_runs_total" && m.GetLabel()[0].GetValue() == job {
				n = m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// startProcess starts a process with some roles on an empty SQLite database. It ends with its test.
func startProcess(t *testing.T, settings map[string]string, roles ...ProcessRole) *process {
	t.Helper()
	environment := map[string]string{"COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0"}
	maps.Copy(environment, settings)
	c := testenv.Must(LoadConfig(environment, nil, "", nil))(t)
	p := testenv.Must(start(t.Context(), c, ServeOptions{Roles: roles, Out: io.Discard}, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := p.stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}
