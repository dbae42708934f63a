package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

func discardLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func newWorker(l Loop) *Worker {
	if l.Name == "" {
		l.Name = "test"
	}
	return New(l, discardLog(), NewMetrics(prometheus.NewRegistry()))
}

// value returns a counter or gauge of a loop, or the number of observations of a histogram.
func value(t *testing.T, reg *prometheus.Registry, name, job string) float64 {
	t.Helper()
	families := testenv.Must(reg.Gather())(t)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name || m.GetLabel()[0].GetValue() != job {
				continue
			}
			if h := m.GetHistogram(); h != nil {
				return float64(h.GetSampleCount())
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	t.Fatalf("no series %s of %s", name, job)
	return 0
}

// start starts w. The test fails unless the loop has ended with it.
func start(t *testing.T, w *Worker) {
	t.Helper()
	testenv.NoError(t, w.Start(t.Context()))
	t.Cleanup(func() {
		if err := w.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// wantAbout fails the test unless d is at most 10 % away from want: W5's jitter.
func wantAbout(t *testing.T, what string, d, want time.Duration) {
	t.Helper()
	if d < want*9/10 || d > want*11/10 {
		t.Errorf("%s: %s, want %s ±10 %%", what, d, want)
	}
}

func TestWorker_first_round_is_immediate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(Loop{Every: time.Minute, Run: func(context.Context) error { return nil }})
		ran := w.observeRounds()
		begun := time.Now()
		start(t, w)
		<-ran
		if d := time.Since(begun); d != 0 {
			t.Errorf("the first round came after %s", d)
		}
		var different bool
		for range 20 {
			last := time.Now()
			<-ran
			d := time.Since(last)
			wantAbout(t, "period", d, time.Minute)
			different = different || d != time.Minute
		}
		if !different {
			t.Error("twenty periods without any jitter")
		}
	})
}

func TestWorker_WakeRunsNowAndCoalesces(t *testing.T) { // W3
	synctest.Test(t, func(t *testing.T) {
		rounds := 0
		w := newWorker(Loop{Run: func(context.Context) error { rounds++; return nil }})
		start(t, w)
		synctest.Wait()
		for range 10 {
			w.Wake()
		}
		synctest.Wait()
		testenv.Equal(t, 2, rounds)
		time.Sleep(24 * time.Hour)
		if rounds != 2 {
			t.Errorf("%d rounds without a period and without a wake", rounds)
		}
	})
}

func TestWorker_WakeDuringARoundIsAnsweredByTheNext(t *testing.T) { // W1, W3
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var active, rounds atomic.Int32
		w := newWorker(Loop{Run: func(context.Context) error {
			if active.Add(1) > 1 {
				t.Error("two rounds at the same time")
			}
			defer active.Add(-1)
			rounds.Add(1)
			<-gate
			return nil
		}})
		start(t, w)
		synctest.Wait() // the first round is running
		w.Wake()
		w.Wake()
		synctest.Wait()
		if got := rounds.Load(); got != 1 {
			t.Errorf("%d rounds while the first still runs", got)
		}
		gate <- struct{}{}
		gate <- struct{}{}
		synctest.Wait()
		testenv.Equal(t, 2, rounds.Load())
	})
}

func TestWorker_BacksOffAndRecovers(t *testing.T) { // W2, W3
	synctest.Test(t, func(t *testing.T) {
		var healthy atomic.Bool
		w := newWorker(Loop{
			Every: time.Hour, MinPause: time.Second, MaxPause: 5 * time.Second,
			Run: func(context.Context) error {
				if healthy.Load() {
					return nil
				}
				return errBroken
			},
		})
		ran := w.observeRounds()
		start(t, w)
		<-ran
		for _, want := range []time.Duration{1, 2, 4, 5, 5} {
			last := time.Now()
			w.Wake() // must not shorten the pause
			testenv.ErrorIs(t, errBroken, <-ran, "the signal carries")
			wantAbout(t, "pause", time.Since(last), want*time.Second)
		}
		healthy.Store(true)
		testenv.NoError(t, <-ran)
		healthy.Store(false)
		last := time.Now()
		<-ran // a period after the success
		wantAbout(t, "period after the recovery", time.Since(last), time.Hour)
		last = time.Now()
		<-ran
		wantAbout(t, "pause after a recovery", time.Since(last), time.Second)
	})
}

func TestWorker_SurvivesAPanic(t *testing.T) { // W2
	synctest.Test(t, func(t *testing.T) {
		var logs strings.Builder
		reg := prometheus.NewRegistry()
		rounds := 0
		w := New(Loop{Name: "sweeper", Every: time.Second, Run: func(context.Context) error {
			if rounds++; rounds == 1 {
				panic("out of range")
			}
			return nil
		}}, slog.New(slog.NewTextHandler(&logs, nil)), NewMetrics(reg))
		ran := w.observeRounds()
		start(t, w)
		if err := <-ran; err == nil {
			t.Error("the panic is not reported")
		}
		if err := <-ran; err != nil {
			t.Errorf("the round after the panic: %v", err)
		}
		synctest.Wait()
		for _, name := range []string{"job_panics_total", "job_errors_total"} {
			if got := value(t, reg, name, "sweeper"); got != 1 {
				t.Errorf("%s = %v, want 1", name, got)
			}
		}
		if !strings.Contains(logs.String(), "out of range") || !strings.Contains(logs.String(), "worker_test.go") {
			t.Errorf("the log has no panic with its stack: %s", logs.String())
		}
	})
}

func TestWorker_TimeoutBoundsARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(Loop{Every: time.Hour, Timeout: 30 * time.Second, Run: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		ran := w.observeRounds()
		begun := time.Now()
		start(t, w)
		testenv.ErrorIs(t, context.DeadlineExceeded, <-ran, "the round ended with")
		testenv.Equal(t, 30*time.Second, time.Since(begun))
	})
}

func TestWorker_Metrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		fail := true
		w := New(Loop{Name: "relay", Every: time.Second, Run: func(context.Context) error {
			fail = !fail
			if fail {
				return errBroken
			}
			return nil
		}}, discardLog(), NewMetrics(reg))
		ran := w.observeRounds()
		start(t, w)
		<-ran
		succeeded := time.Now()
		<-ran
		synctest.Wait()
		for name, want := range map[string]float64{
			"job_runs_total": 2, "job_errors_total": 1, "job_panics_total": 0, "job_duration_seconds": 2,
			"job_last_success_timestamp_seconds": float64(succeeded.UnixNano()) / 1e9,
		} {
			if got := value(t, reg, name, "relay"); got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
	})
}

func TestWorker_StopWaitsForTheRound(t *testing.T) { // W4
	synctest.Test(t, func(t *testing.T) {
		var cause error
		var finished atomic.Bool
		w := newWorker(Loop{Every: time.Hour, Run: func(ctx context.Context) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Second) // like a transaction that rolls back
			finished.Store(true)
			return ctx.Err()
		}})
		testenv.NoError(t, w.Start(t.Context()))
		synctest.Wait()

		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := w.Stop(short); !errors.Is(err, context.DeadlineExceeded) || finished.Load() {
			t.Errorf("Stop with little patience = %v, round finished: %t", err, finished.Load())
		}
		if err := w.Stop(t.Context()); err != nil || !finished.Load() {
			t.Errorf("Stop = %v, round finished: %t", err, finished.Load())
		}
		testenv.ErrorIs(t, ErrStopping, cause, "the round was cancelled because of")
	})
}

func TestWorker_LifeCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rounds := 0
		w := newWorker(Loop{Every: time.Hour, Run: func(context.Context) error { rounds++; return nil }})
		bg := context.Background()
		if err := w.Stop(bg); err != nil {
			t.Errorf("Stop before Start = %v", err)
		}
		for range 3 {
			testenv.NoError(t, w.Start(bg))
			if w.Start(bg) == nil {
				t.Error("a second Start is accepted")
			}
			synctest.Wait()
			for range 2 {
				testenv.NoError(t, w.Stop(bg))
			}
		}
		if rounds != 3 {
			t.Errorf("%d rounds in three lives", rounds)
		}
		life, end := context.WithCancel(bg)
		testenv.NoError(t, w.Start(life))
		end() // the loop also ends with the context of its start
		synctest.Wait()
		if err := w.Start(bg); err != nil {
			t.Errorf("Start after the context of the first has ended = %v", err)
		}
		testenv.NoError(t, w.Stop(bg))
	})
}

// The guarantees hold under concurrent calls, as the race detector checks.
func TestWorker_ConcurrentStartStopWake(t *testing.T) {
	var active atomic.Int32
	w := newWorker(Loop{Every: time.Millisecond, Run: func(context.Context) error {
		if active.Add(1) > 1 {
			t.Error("two rounds at the same time") // W1, even over restarts
		}
		active.Add(-1)
		return nil
	}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				_ = w.Start(context.Background()) // most calls find it running
				w.Wake()
				if err := w.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	testenv.NoError(t, w.Stop(context.Background()))
}

func TestNew_RefusesAnIncompleteLoop(t *testing.T) {
	run := func(context.Context) error { return nil }
	for _, l := range []Loop{{Run: run}, {Name: "a"}, {Name: "a", Run: run, Every: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", l)
				}
			}()
			New(l, discardLog(), NewMetrics(prometheus.NewRegistry()))
		}()
	}
}
