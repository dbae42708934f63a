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
	at   time.Time
	last report
}

type report struct {
	Status string                 `json:"status"`
	Checks map[string]checkResult `json:"checks"`
}

type checkResult struct {
	Status    string  `json:"status"`
	LatencyMs float64 `json:"latencyMs"`
	Error     string  `json:"error,omitempty"`
}

func newReadiness(log *slog.Logger) *readiness { return &readiness{log: log} }

func (rd *readiness) add(name string, critical bool, probe func(ctx context.Context) error) {
	rd.checks = append(rd.checks, check{name, critical, probe})
}

func (rd *readiness) drain(on bool) { rd.draining.Store(on) }

func (rd *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The answer is shared: it must not fail because the one probe that asks goes away.
	rep := rd.ask(context.WithoutCancel(r.Context()))
	if rd.draining.Load() {
		rep.Status = stateUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	if rep.Status == stateUnavailable {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(rep)
}

// ask runs all checks at the same time, unless the last answer is still fresh.
func (rd *readiness) ask(ctx context.Context) report {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if !rd.at.IsZero() && time.Since(rd.at) < readyFor {
		return rd.last
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	results := make([]checkResult, len(rd.checks))
	var wg sync.WaitGroup
	for i, c := range rd.checks {
		wg.Go(func() { results[i] = rd.run(ctx, c) })
	}
	wg.Wait()

	rep := report{Status: stateOK, Checks: make(map[string]checkResult, len(results))}
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
	rd.at, rd.last = time.Now(), rep
	return rep
}

// run asks one check. A probe that ignores its context is not waited for: its goroutine ends when it does.
func (rd *readiness) run(ctx context.Context, c check) checkResult {
	begun := time.Now()
	answer := make(chan error, 1)
	go func() { answer <- c.probe(ctx) }()
	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = ctx.Err()
	}
	res := checkResult{Status: stateOK, LatencyMs: float64(time.Since(begun).Microseconds()) / 1000}
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
