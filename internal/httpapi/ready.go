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
	readyFor     = time.Second // how long an answer is given again: probes must not add up to a load
	probeTimeout = time.Second // a dependency that is slower than this is not ready
)

// The states of an instance and of its checks.
const (
	stateOK          = "ok"
	stateDegraded    = "degraded"    // a check failed that is not critical
	stateUnavailable = "unavailable" // a critical check failed, or the instance is stopping
	stateFailed      = "failed"      // of one check
)

// live says that the process runs. It asks nobody: an orchestrator that restarted instances because a dependency is
// down would turn one failure into two.
func live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

type check struct {
	name     string
	critical bool
	probe    func(ctx context.Context) error
}

// readiness answers /readyz.
type readiness struct {
	log      *slog.Logger
	checks   []check // fixed once the server has started
	draining atomic.Bool

	mu   sync.Mutex // held while asking, so that many probes at once ask once
	at   clock.Stopwatch
	last Readiness
}

// Readiness is whether an instance can serve, and what each of its checks says.
type Readiness struct {
	Status string           `json:"status" enum:"ok,degraded,unavailable"`
	Checks map[string]Check `json:"checks"`
}

// Check is what one check says.
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

func (rd *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rep := rd.tell(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if rep.Status == stateUnavailable {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(rep)
}

// tell gives the state of the instance. The answer is shared: it must not fail because the one who asks goes away.
func (rd *readiness) tell(ctx context.Context) Readiness {
	rep := rd.ask(context.WithoutCancel(ctx))
	if rd.draining.Load() {
		rep.Status = stateUnavailable
	}
	return rep
}

// Readiness tells what /readyz does, also to those whom no probe reaches.
func (a *API) Readiness(ctx context.Context) Readiness { return a.s.ready.tell(ctx) }

// ask runs all checks at the same time, unless the last answer is still fresh.
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

// run asks one check. A probe that ignores its context is not waited for: its goroutine ends when it does.
func (rd *readiness) run(ctx context.Context, c check) Check {
	begun := clock.Start()
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

// publicText tells strangers what they may know of a failed check (H3).
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
