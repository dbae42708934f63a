package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/clock"
	"comanda/internal/keyspace"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/worker"
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

// The runbook says what each loop of a process does.
func TestLoops_in_the_runbook(t *testing.T) {
	runbook := string(testenv.Must(os.ReadFile("../../docs/runbook.md"))(t))
	p := startProcess(t, map[string]string{"COMANDA_REDIS_URL": "redis://" + testenv.RedisServer(t).Addr()}, API, Worker, Relay)
	shown := prometheus.NewRegistry()
	shown.MustRegister(p.registry)
	loops := 0
	for _, family := range testenv.Must(shown.Gather())(t) {
		for _, m := range family.GetMetric() {
			if family.GetName() != "job_runs_total" {
				continue
			}
			loops++
			if name := m.GetLabel()[0].GetValue(); !strings.Contains(runbook, "*"+name+"*") {
				t.Errorf("the runbook does not mention the loop %s", name)
			}
		}
	}
	if loops < 30 {
		t.Errorf("%d loops run, want at least 30", loops)
	}
}

// On SQLite a second server would also move the deadlines after a step of the clock, whatever its data folder is.
func TestStart_one_server_on_SQLite(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "shared.db")
	settings := map[string]string{"COMANDA_DATABASE_URL": address}
	startProcess(t, settings, API, Worker, Relay)
	c := testenv.Must(LoadConfig(map[string]string{
		"COMANDA_DATABASE_URL": address, "COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0",
	}, nil, "", nil))(t)
	_, err := start(t.Context(), c, ServeOptions{Roles: []ProcessRole{API}, Out: io.Discard}, slog.New(slog.DiscardHandler))
	if !errors.Is(err, sqldb.ErrServed) {
		t.Errorf("a second server starts: error %v, want ErrServed", err)
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

// A process is busy after large commits, stays so between two commits, and is not busy half a second after the last one.
func TestBusyGroup(t *testing.T) {
	t.Parallel()
	var batches, commands int64
	busy := busyGroup(func() (int64, int64) { return batches, commands })
	commit := func(of ...int64) {
		for _, n := range of {
			batches, commands = batches+1, commands+n
		}
	}
	check := func(step string, want bool) {
		t.Helper()
		if got := busy(); got != want {
			t.Errorf("%s: busy = %v, want %v", step, got, want)
		}
	}
	check("no commit yet", false)
	commit(1, 2, 1)
	check("small commits", false)
	commit(busyBatch - 1)
	check("just below", false)
	commit(1, 2*busyBatch-1)
	check("large on average", true)
	for range busyChecks {
		check("a commit lasts", true)
	}
	check("no commit any more", false)
	commit(300)
	check("again", true)
	commit(3)
	check("small again", false)
}

// While a process has not received the messages that were sent in time, it expires no reservation. Afterwards it
// expires those that were not confirmed.
func TestReservations_waitForTheBroker(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k, system := demoCore(t, db), authz.System()
		testenv.Must(k.stockServices().Items.SetAvailable(t.Context(), system, 1, "bones", 10))(t)
		for _, id := range []string{"confirmed", "forgotten"} {
			testenv.Must2(k.ReservationService.Reserve(t.Context(), system, stock.ReservationRequest{
				ID: id, Branch: 1, TTL: stock.MinTTL, Items: []stock.SKULine{{SKU: "bones", Qty: 1}},
			}))(t)
		}
		late := func() int64 {
			n, _ := testenv.Must2(k.Reservations.OverdueReservations(t.Context(), k.DB.Now()))(t)
			return n
		}
		testenv.Eventually(t, 10*time.Second, func() bool { return late() == 2 })
		caughtUp := make(chan struct{})
		loop := k.reservations(caughtUp)
		if err := loop.Run(t.Context()); err != nil || late() != 2 {
			t.Fatalf("%d are overdue, %v", late(), err)
		}
		if r, err := k.ReservationService.Confirm(t.Context(), system, "confirmed"); err != nil || r.Status != stock.StatusConfirmed {
			t.Errorf("Confirm = %+v, %v, want CONFIRMED", r, err)
		}
		close(caughtUp)
		if err := loop.Run(t.Context()); err != nil || late() != 0 {
			t.Fatalf("%d are overdue, %v", late(), err)
		}
		if r, err := k.ReservationService.Confirm(t.Context(), system, "forgotten"); err == nil {
			t.Errorf("Confirm of an expired reservation = %+v, want an error", r)
		}
	})
}

// The waiting time of a branch's first ticket is exported until it is served, and steps are counted by kind.
func TestCore_measuresTheKitchen(t *testing.T) {
	f := newFixture(t)
	m := f.core.Metrics
	measured := func() map[string]float64 {
		t.Helper()
		testenv.NoError(t, f.core.measureKitchen(t.Context()))
		return exportedValues(t, m.tickets, m.steps)
	}
	const age = "kitchen_oldest_ticket_age_seconds 1"
	if _, waits := measured()[age]; waits {
		t.Fatal("a ticket waits before the first order")
	}
	f.make("{order}")
	if _, waits := measured()[age]; waits {
		t.Error("a ticket that is not paid waits")
	}
	id := f.make("{paidorder}")
	causeFault(t, f.core.DB, "paid", f.core.DB.Now().UnixMilli()-90_000, id)
	if s := measured()[age]; s < 90 || s > 150 {
		t.Errorf("it has waited for %v seconds", s)
	}
	for _, step := range []string{"start", "start", "ready", "serve"} {
		f.must(f.ask("kitchenA", "POST", "/api/orders/"+id+"/"+step, ""))
	}
	after := measured()
	if _, waits := after[age]; waits {
		t.Error("a served ticket waits")
	}
	for _, kind := range []string{"start", "ready", "serve"} {
		if n := after["kitchen_step_total "+kind]; n != 1 {
			t.Errorf("%s was counted %v times", kind, n)
		}
	}
}

// While the time is in doubt nothing expires, and requests wait for a moment and then continue.
func TestClock_in_doubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Of(func(context.Context) (time.Time, error) { return time.Now(), nil })
		rounds := 0
		l := whenReliable(c, worker.Loop{Name: "sweeper", Run: func(context.Context) error { rounds++; return nil }})
		waits := func(want time.Duration) {
			t.Helper()
			begun := time.Now()
			awaitClock(c)(t.Context())
			if d := time.Since(begun); d != want {
				t.Errorf("a request waited for %v, want %v", d, want)
			}
		}
		run := func(want int) {
			t.Helper()
			if err := l.Run(t.Context()); err != nil || rounds != want {
				t.Errorf("%d rounds, want %d; %v", rounds, want, err)
			}
		}
		run(0)
		waits(clockWait)
		go func() {
			time.Sleep(clockWait / 10)
			if err := c.Measure(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		waits(clockWait / 10)
		run(1)
	})
}

// A process whose database is migrated beyond its release answers 503 and does nothing else, whether it was running
// before or starts then. It still answers probes.
func TestProcess_olderThanItsSchema(t *testing.T) {
	settings := map[string]string{
		"COMANDA_DATABASE_URL": sqldbtest.PostgresURL(t), "COMANDA_REDIS_URL": "redis://" + testenv.RedisServer(t).Addr(),
	}
	running := startProcess(t, settings, API, Worker)
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
	started := startProcess(t, settings, API)
	for _, p := range []*process{running, started} {
		answers(p, "/branches", http.StatusServiceUnavailable, "schema_newer")
		answers(p, "/nothing", http.StatusServiceUnavailable, "schema_newer")
		answers(p, "/livez", http.StatusOK, "")
		answers(p, "/readyz", http.StatusServiceUnavailable, "")
	}
}

// The daily comparison exports its differences, and operators see when it was. A later comparison by hand ends the alert.
func TestDailyVerifier_in_a_process(t *testing.T) {
	t.Parallel()
	h := newDocumentServer(t)
	core := h.p.core
	reg := prometheus.NewRegistry()
	reg.MustRegister(h.p.registry)
	if counterSum(t, reg, "document_drift") != 0 {
		t.Error("drift before the first comparison")
	}
	h.redis.Say("SET dish:999999 {}")
	testenv.NoError(t, core.Redis.Do(t.Context(), "DEL", keyspace.DocumentsVerified()).Err())
	begun := core.DB.Now().Truncate(time.Millisecond)
	testenv.NoError(t, core.Daily.RunOnce(t.Context()))
	// The loop of measurements reads the result of whichever process compared.
	testenv.Eventually(t, 20*time.Second, func() bool {
		return counterSum(t, reg, "document_drift") > 0 &&
			counterSum(t, reg, "document_verified_timestamp_seconds") >= float64(begun.Unix())
	})
	out := testenv.Must(core.systemService().Outbox(t.Context()))(t)
	if d := out.Documents; d.VerifiedAt == nil || d.VerifiedAt.Before(begun) || d.Differences == 0 {
		t.Errorf("operators see %+v", d)
	}
	h.redis.Say("DEL dish:999999")
	if !h.verified() {
		t.Error("differences are left")
	}
	testenv.Eventually(t, 20*time.Second, func() bool { return counterSum(t, reg, "document_drift") == 0 })

	// It begins when the restaurant is closed: with the first branch's business day.
	now := time.Date(2026, 11, 26, 15, 0, 0, 0, time.UTC)
	branches := testenv.Must(core.Branches.Store.Branches(t.Context()))(t)
	start := testenv.Must(core.quietHour(t.Context(), now))(t)
	testenv.Equal(t, branches[0].Calendar().At(now).Start, start)
	if start.After(now) || now.Sub(start) > 25*time.Hour {
		t.Errorf("quietHour = %v for %v, want the last start of a business day", start, now)
	}
}
