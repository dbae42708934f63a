package app

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/worker"
)

// A process whose database is migrated beyond its release answers 503 and does nothing else, whether it was running
// before or starts then. It still answers probes.
func TestProcess_olderThanItsSchema(t *testing.T) {
	dir := map[string]string{"COMANDA_DATA_DIR": dataDir(t)}
	running := startProcess(t, dir, API, Worker)
	answers := func(p *process, path string, status int, code string) {
		t.Helper()
		r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.server.Addr().String()+path,
			nil))(t)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var problem struct{ Code string }
		if code != "" {
			testenv.NoError(t, json.NewDecoder(res.Body).Decode(&problem))
		}
		if res.StatusCode != status || problem.Code != code {
			t.Errorf("GET %s: %d %q, want %d %q", path, res.StatusCode, problem.Code, status, code)
		}
	}
	answers(running, "/branches", http.StatusOK, "")
	sqldbtest.MigrateLater(t, running.core.DB, 9000, 20)
	testenv.NoError(t, running.schema.check(t.Context()))
	answers(running, "/branches", http.StatusOK, "")

	sqldbtest.MigrateLater(t, running.core.DB, 9001, 9000)
	testenv.NoError(t, running.schema.check(t.Context()))
	ran := false
	loop := running.schema.guarded(worker.Loop{Run: func(context.Context) error {
		ran = true
		return nil
	}})
	if err := loop.Run(t.Context()); err != nil || ran {
		t.Errorf("a loop runs on a schema that is too new: %t, %v", ran, err)
	}
	started := startProcess(t, dir, API)
	for _, p := range []*process{running, started} {
		answers(p, "/branches", http.StatusServiceUnavailable, "schema_newer")
		answers(p, "/nothing", http.StatusServiceUnavailable, "schema_newer")
		answers(p, "/livez", http.StatusOK, "")
		answers(p, "/readyz", http.StatusServiceUnavailable, "")
	}
}
