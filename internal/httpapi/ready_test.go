package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

var errDown = errors.New("dial tcp 10.0.0.7:5432: refused")

func newTestReadiness(log io.Writer) *readiness {
	return newReadiness(slog.New(slog.NewTextHandler(log, nil)))
}

func ask(t *testing.T, rd *readiness) (int, Readiness) {
	t.Helper()
	w := httptest.NewRecorder()
	rd.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	var rep Readiness
	testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &rep))
	return w.Code, rep
}

func TestReadiness_States(t *testing.T) {
	fine := func(context.Context) error { return nil }
	down := func(context.Context) error { return errDown }
	for name, c := range map[string]struct {
		sql, redis func(context.Context) error
		code       int
		status     string
	}{
		"all well":   {fine, fine, 200, "ok"},
		"redis down": {fine, down, 200, "degraded"},
		"sql down":   {down, fine, 503, "unavailable"},
		"both down":  {down, down, 503, "unavailable"},
	} {
		rd := newTestReadiness(io.Discard)
		rd.add("sql", true, c.sql)
		rd.add("redis", false, c.redis)
		if code, rep := ask(t, rd); code != c.code || rep.Status != c.status || len(rep.Checks) != 2 {
			t.Errorf("%s: status %d, report %+v, want %d and %s", name, code, rep, c.code, c.status)
		}
	}
	if code, rep := ask(t, newTestReadiness(io.Discard)); code != 200 || rep.Status != "ok" {
		t.Errorf("without checks: %d %+v", code, rep)
	}
}

// H3: the cause is only logged; the response has only the text that a fault allows.
func TestReadiness_HidesCauses(t *testing.T) {
	var log strings.Builder
	rd := newTestReadiness(&log)
	rd.add("sql", true, func(context.Context) error { return errDown })
	rd.add("migrations", true, func(context.Context) error {
		return fault.New(fault.Unavailable, "", "Migration 12 is missing.").Because(errDown)
	})
	_, rep := ask(t, rd)
	if rep.Checks["sql"].Error != "failed" || rep.Checks["migrations"].Error != "Migration 12 is missing." {
		t.Errorf("answer %+v", rep)
	}
	if strings.Count(log.String(), "10.0.0.7") != 2 {
		t.Errorf("log %s", log.String())
	}
}

func TestReadiness_ManyProbesAskOnce(t *testing.T) {
	rd := newTestReadiness(io.Discard)
	var probes atomic.Int32
	release := make(chan struct{})
	rd.add("sql", true, func(context.Context) error {
		probes.Add(1)
		<-release
		return nil
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { ask(t, rd) })
	}
	testenv.Eventually(t, 5*time.Second, func() bool { return probes.Load() > 0 })
	close(release)
	wg.Wait()
	if n := probes.Load(); n != 1 {
		t.Errorf("20 probes at once asked %d times", n)
	}
}

func TestReadiness_AnswersAgainForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rd := newTestReadiness(io.Discard)
		probes := 0
		rd.add("sql", true, func(context.Context) error {
			probes++
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		for _, want := range []int{1, 1, 2} {
			if _, rep := ask(t, rd); probes != want || rep.Checks["sql"].LatencyMs != 100 {
				t.Errorf("asked %d times, want %d: %+v", probes, want, rep)
			}
			time.Sleep(readyFor/2 + 1)
		}
	})
}

func TestReadiness_DoesNotWaitForAHangingCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rd := newTestReadiness(io.Discard)
		release := make(chan struct{})
		rd.add("redis", false, func(context.Context) error { <-release; return nil })
		begun := time.Now()
		code, rep := ask(t, rd)
		if d := time.Since(begun); d != probeTimeout || code != 200 || rep.Status != "degraded" {
			t.Errorf("after %s: %d %+v", d, code, rep)
		}
		testenv.Equal(t, "no answer in time", rep.Checks["redis"].Error)
		close(release)
	})
}

func TestLive_sends_no_query(t *testing.T) {
	h := newHarness(t, nil)
	w := httptest.NewRecorder()
	h.Check("sql", true, func(context.Context) error { t.Error("asked"); return errDown })
	h.ServeHTTP(w, httptest.NewRequest("GET", "/livez", nil))
	if w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("/livez: status %d with body %q, want 200 with ok", w.Code, w.Body)
	}
}
