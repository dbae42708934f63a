package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/backoff"
	"comanda/internal/clock"
	"comanda/internal/telemetry"
)

// ErrStopping is the cancellation cause of a round's context after Stop. Work that distinguishes a shutdown from a
// time-out checks context.Cause for it.
var ErrStopping = errors.New("worker: stopping")

// Default limits of the pause after a failure. The first failure is often a lost connection, which the next attempt
// replaces. DefaultMaxPause is the longest delay until a loop resumes after a dependency is available again.
const (
	DefaultMinPause = 100 * time.Millisecond
	DefaultMaxPause = 10 * time.Second
)

// Loop describes periodic work. Several processes may run the same loop at the same time: W1 holds within one process
// only.
type Loop struct {
	Name string // name in logs and metrics; lower case, from a small set

	// Run performs one round. It may also run until its context ends, like a queue consumer; then Every is the pause
	// before a restart.
	Run func(ctx context.Context) error

	Every    time.Duration // from the end of a round to the start of the next, ±10 %; zero means only after Wake
	Timeout  time.Duration // limit of a round; zero means none
	MinPause time.Duration // after a first failure; zero means DefaultMinPause
	MaxPause time.Duration // after many failures; zero means DefaultMaxPause
}

// Worker runs one Loop. It can be restarted after Stop. It is safe for concurrent use.
//
// The goroutine that Start creates is the only one that runs rounds. The lock guards starting and stopping only, and is
// never held while a round runs.
type Worker struct {
	loop        Loop
	backoff     backoff.Policy
	log         *slog.Logger
	m           loopMetrics
	wake        chan struct{}
	roundErrors chan error // nil unless a test called observeRounds

	mu     sync.Mutex
	cancel context.CancelCauseFunc // cancels the latest run; nil before the first
	done   chan struct{}           // closed when the goroutine of the latest run has ended
}

// New returns a worker; Start starts it. It panics on an incomplete loop, which is a programming error that the first
// start reveals.
func New(l Loop, log *slog.Logger, m *Metrics) *Worker {
	if l.Name == "" || l.Run == nil || l.Every < 0 {
		panic("worker: a loop needs a name, a function and a period that is not negative")
	}
	l.MinPause = cmp.Or(l.MinPause, DefaultMinPause)
	l.MaxPause = max(cmp.Or(l.MaxPause, DefaultMaxPause), l.MinPause)
	return &Worker{
		loop: l, backoff: backoff.Policy{First: l.MinPause, Factor: 2, Max: l.MaxPause},
		log: log.With("job", l.Name), m: m.of(l.Name), wake: make(chan struct{}, 1),
	}
}

// Start starts the loop with an immediate round. The loop ends with Stop or with ctx. Pass a context that outlives the
// ordered shutdown, not the one that a signal cancels. Start does not wait for the first round, so a failing
// dependency does not delay the start of the process.
func (w *Worker) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	// If Stop timed out, a round may still be running. A second goroutine would break W1.
	if w.done != nil && !ended(w.done) {
		return fmt.Errorf("worker: %s is already running", w.loop.Name)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	w.cancel, w.done = cancel, done
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	return nil
}

// Stop cancels the running round and waits for its end, at most until ctx ends. It does nothing if the worker is not
// running. If ctx ends first, the loop is still cancelled, and Stop may be called again to wait longer. A round that
// ignores its context cannot be ended, so work must pass its context on.
func (w *Worker) Stop(ctx context.Context) error {
	w.mu.Lock()
	cancel, done := w.cancel, w.done
	w.mu.Unlock()
	if cancel == nil {
		return nil
	}
	cancel(ErrStopping)
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	if ended(done) { // both channels were ready, and select chose ctx
		return nil
	}
	return fmt.Errorf("worker: %s has not ended: %w", w.loop.Name, context.Cause(ctx))
}

// ended reports whether a goroutine has closed its channel. It never blocks.
func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Wake requests a round now instead of at the end of the period (W3). It never blocks. It may be called before Start
// and after Stop: the first round then serves the request.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default: // a request is pending already
	}
}

// observeRounds returns a channel that receives the error of each round, for tests. Call it before Start. Results are
// dropped while the channel is full.
func (w *Worker) observeRounds() <-chan error {
	if w.roundErrors == nil {
		w.roundErrors = make(chan error, 1024) // enough for the rounds that a test does not read
	}
	return w.roundErrors
}

// run performs rounds until ctx ends. The first round begins at once, so that work which became due while the process
// was down is done.
func (w *Worker) run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		err := w.round(ctx)
		if err == nil || ctx.Err() != nil { // an error after cancellation is not a failure of the work
			failures = 0
		} else {
			failures++
		}
		if w.roundErrors != nil {
			select {
			case w.roundErrors <- err:
			default:
			}
		}
		w.pause(ctx, failures)
	}
}

// round runs the work once and records metrics and logs. A panic is recovered and handled like an error of the round,
// so that one bad row cannot end the process (W2).
func (w *Worker) round(ctx context.Context) (err error) {
	select {
	// The request is consumed before the work begins and not after it: a Wake during the round may be about a change
	// that the round has not read.
	case <-w.wake: // this round serves all Wakes until here
	default:
	}
	// The time limit applies to the work only. observe checks ctx: a round that exceeded its limit counts as failed,
	// and a round that Stop has ended does not.
	limited, cancel := ctx, context.CancelFunc(func() {})
	if w.loop.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, w.loop.Timeout)
	}
	defer cancel()
	begun := clock.Start()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			w.m.panics.Inc()
			w.log.ErrorContext(ctx, "job panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
		w.observe(ctx, begun.Elapsed(), err)
	}()
	return w.loop.Run(limited)
}

// observe records the outcome of a round in metrics and logs. Each failure is logged as a warning, at most once per
// pause, which grows with the failures.
func (w *Worker) observe(ctx context.Context, took time.Duration, err error) {
	w.m.runs.Inc()
	w.m.duration.Observe(took.Seconds())
	switch {
	case err == nil:
		w.m.success.SetToCurrentTime()
	case ctx.Err() == nil:
		w.m.errors.Inc()
		w.log.WarnContext(ctx, "job failed", "err", err, "took", took)
	}
}

// pause waits for the next round: for the period or a Wake after success, for the whole back-off after a failure.
// After a failure, wake is a nil channel, which is never ready; a Wake then stays pending for the next round (W3).
func (w *Worker) pause(ctx context.Context, failures int) {
	wake, wait := w.wake, jitter(w.loop.Every, 0.1)
	if failures > 0 {
		wake, wait = nil, jitter(w.backoff.After(failures), 0.1)
	} else if w.loop.Every == 0 {
		wait = math.MaxInt64 // only a Wake ends the pause
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// jitter changes d by a random share of at most ±part, so that processes that were started together do not keep
// querying the database at the same moments.
func jitter(d time.Duration, part float64) time.Duration {
	return d + time.Duration((2*rand.Float64()-1)*part*float64(d)) //nolint:gosec // not security-relevant
}

// Metrics are the metrics of all loops of a process; the label job is the loop's name. A loop's name is a label, so
// names must come from a small fixed set. The time of the last success uses the clock of the machine (decision 34).
type Metrics struct {
	runs, errors, panics *prometheus.CounterVec
	success              *prometheus.GaugeVec
	duration             *prometheus.HistogramVec
}

// NewMetrics registers the metrics; call it once per registry.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	return &Metrics{
		runs:     f.Counters("job_runs_total", "Rounds of background jobs.", "job"),
		errors:   f.Counters("job_errors_total", "Rounds that failed, panics included.", "job"),
		panics:   f.Counters("job_panics_total", "Rounds that panicked: each is a defect.", "job"),
		success:  f.Gauges("job_last_success_timestamp_seconds", "Time of the last successful round.", "job"),
		duration: f.Histograms("job_duration_seconds", "Duration of rounds.", telemetry.Buckets, "job"),
	}
}

// loopMetrics are the series of one loop, looked up once.
type loopMetrics struct {
	runs, errors, panics prometheus.Counter
	success              prometheus.Gauge
	duration             prometheus.Observer
}

// of creates the series of a loop when its worker is created, so that an alert on missing successes can
// distinguish a loop that never succeeded from one that does not run in this process.
func (m *Metrics) of(job string) loopMetrics {
	return loopMetrics{
		runs: m.runs.WithLabelValues(job), errors: m.errors.WithLabelValues(job), panics: m.panics.WithLabelValues(job),
		success: m.success.WithLabelValues(job), duration: m.duration.WithLabelValues(job),
	}
}

// Service is anything that starts and stops, such as a Worker or a server. Both methods return when their work is
// complete. Stop does nothing if the service is not running. Start must not wait for services that start later, and
// Stop may be called again after an error.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// Group starts services in the given order and stops them in reverse, so that the dependencies of a service run at
// least as long as the service. It holds its lock during all of Start and Stop, so a Stop during a Start waits until
// Start returns.
type Group struct {
	mu       sync.Mutex
	services []Service
	running  int // services[:running] have been started
}

// NewGroup returns a group of services; Start starts them.
func NewGroup(services ...Service) *Group { return &Group{services: services} }

// rollback is the time limit for stopping services after a failed start. It does not depend on ctx, because the
// context of an interrupted start has ended.
const rollback = 10 * time.Second

// Start starts all services. If one fails, the services before it are stopped and its error is returned. A group that
// has failed to start may be started again, unless a service could not be stopped.
func (g *Group) Start(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running > 0 {
		return errors.New("worker: the group is already running")
	}
	for _, s := range g.services {
		if err := s.Start(ctx); err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollback)
			defer cancel()
			return errors.Join(err, g.stop(ctx))
		}
		g.running++
	}
	return nil
}

// Stop stops all services, even if one fails, and joins the errors. When ctx ends, the remaining services are still
// stopped but not waited for; Stop may be called again. A repeated Stop also calls services that have stopped already,
// which then do nothing.
func (g *Group) Stop(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stop(ctx)
}

// stop stops the started services in reverse order. The caller holds the lock. running does not change after an error,
// so that the next Stop calls all services again.
func (g *Group) stop(ctx context.Context) error {
	var errs []error
	for _, s := range slices.Backward(g.services[:g.running]) {
		errs = append(errs, s.Stop(ctx))
	}
	err := errors.Join(errs...)
	if err == nil {
		g.running = 0
	}
	return err
}
