package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"comanda/internal/clock"
	"comanda/internal/fault"
)

const (
	readyFor     = time.Second // how long a result is reused, so that probes cause little load
	probeTimeout = time.Second // a dependency that is slower than this is not ready
)

// The states of an instance and of its checks.
const (
	stateOK          = "ok"
	stateDegraded    = "degraded"    // a non-critical check failed
	stateUnavailable = "unavailable" // a critical check failed, or the instance is stopping
	stateFailed      = "failed"      // state of one failed check
)

// live reports that the process runs. It checks no dependencies: an orchestrator that restarts instances because a
// dependency is down would turn one failure into two.
func live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

type check struct {
	name     string
	critical bool
	probe    func(ctx context.Context) error
}

// readiness serves /readyz.
type readiness struct {
	log      *slog.Logger
	checks   []check // not modified after Start
	draining atomic.Bool

	mu   sync.Mutex // held during the checks, so that concurrent probes share one run
	at   clock.Stopwatch
	last Readiness
}

// Readiness is the state of an instance and of each of its checks.
type Readiness struct {
	Status string           `json:"status" enum:"ok,degraded,unavailable"`
	Checks map[string]Check `json:"checks"`
}

// Check is the result of one check.
type Check struct {
	Status    string  `json:"status" enum:"ok,failed"`
	LatencyMs float64 `json:"latencyMs"`
	Error     string  `json:"error,omitempty"`
}

func newReadiness(log *slog.Logger) *readiness { return &readiness{log: log} }

func (rd *readiness) add(name string, critical bool, probe func(ctx context.Context) error) {
	rd.checks = append(rd.checks, check{name, critical, probe})
}

func (rd *readiness) drain(on bool) { rd.draining.Store(on) }

// ServeHTTP answers 503 only for stateUnavailable. A degraded instance still takes orders and must keep its traffic.
func (rd *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rep := rd.report(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if rep.Status == stateUnavailable {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(rep)
}

// report returns the state of the instance. Concurrent callers share the result, so it must not fail when one of them
// disconnects.
func (rd *readiness) report(ctx context.Context) Readiness {
	// Draining is read after the checks: an instance that begins to stop meanwhile must not report ok.
	rep := rd.ask(context.WithoutCancel(ctx))
	if rd.draining.Load() {
		rep.Status = stateUnavailable
	}
	return rep
}

// Readiness returns the result of /readyz, for clients that cannot reach it.
func (a *API) Readiness(ctx context.Context) Readiness { return a.s.ready.report(ctx) }

// ask runs all checks concurrently, unless the last result is still fresh.
func (rd *readiness) ask(ctx context.Context) Readiness {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if rd.at.Elapsed() < readyFor {
		return rd.last
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	results := make([]Check, len(rd.checks))
	var wg sync.WaitGroup
	for i, c := range rd.checks {
		wg.Go(func() { results[i] = rd.run(ctx, c) })
	}
	wg.Wait()

	rep := Readiness{Status: stateOK, Checks: make(map[string]Check, len(results))}
	for i, c := range rd.checks {
		rep.Checks[c.name] = results[i]
		switch {
		case results[i].Status == stateOK:
		case c.critical:
			rep.Status = stateUnavailable
		case rep.Status == stateOK:
			rep.Status = stateDegraded
		}
	}
	rd.at, rd.last = clock.Start(), rep
	return rep
}

// run runs one check. It does not wait for a probe that ignores its context; that goroutine ends on its own.
func (rd *readiness) run(ctx context.Context, c check) Check {
	begun := clock.Start()
	// The buffer lets a probe that is too late end without a receiver.
	answer := make(chan error, 1)
	go func() { answer <- c.probe(ctx) }()
	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = ctx.Err()
	}
	res := Check{Status: stateOK, LatencyMs: float64(begun.Elapsed().Microseconds()) / 1000}
	if err != nil {
		res.Status, res.Error = stateFailed, publicText(err)
		rd.log.WarnContext(ctx, "readiness check failed", "check", c.name, "critical", c.critical, "err", err)
	}
	return res
}

// publicText returns what strangers may see of a failed check (H3).
func publicText(err error) string {
	var f *fault.Error
	switch {
	case errors.As(err, &f) && f.Detail != "":
		return f.Detail
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return "failed"
}
