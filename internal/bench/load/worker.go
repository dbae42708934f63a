package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Reconnecting: a worker opens another connection after a pause, at most redials times in a row. The pause keeps a server
// that is restarting from being flooded with connections; a fifth of a second without any is a server that is gone.
const (
	redials     = 20
	redialPause = 10 * time.Millisecond
)

// worker sends requests over one connection and keeps its own counts, so that workers never wait for each other.
type worker struct {
	plan  Plan
	index int
	next  func() []byte
	conn  conn

	from   time.Time // responses before it are warm-up
	until  time.Time // no requests are sent after it
	giveUp time.Time // no responses are awaited after it
	spent  time.Time // when the requests ran out; zero before

	done      int64
	bytes     int64
	errors    map[string]int64
	latencies Histogram
}

// runUnpaced sends the next request as soon as the previous one has its response.
func (w *worker) runUnpaced(ctx context.Context) {
	failed := 0
	for ctx.Err() == nil && failed < redials {
		begin := time.Now()
		if !begin.Before(w.until) {
			return
		}
		failed = w.sendNext(ctx, begin, failed)
	}
}

// runPaced sends requests when they are due, workers in rotation, whether or not the previous response was in time
// (L3). Each worker has its share of the rate and starts at another moment, so that the requests of all are spread
// evenly.
func (w *worker) runPaced(ctx context.Context, begin time.Time) {
	each := time.Duration(float64(w.plan.Conns) / w.plan.Rate * float64(time.Second))
	// A pause of zero would make an endless loop of requests that are due at once.
	each = max(each, time.Microsecond)
	due := begin.Add(each * time.Duration(w.index) / time.Duration(w.plan.Conns))
	failed := 0
	for ; due.Before(w.until) && failed < redials; due = due.Add(each) {
		if !time.Now().Before(w.giveUp) || !sleepUntil(ctx, due) {
			break
		}
		failed = w.sendNext(ctx, due, failed)
	}
	if ctx.Err() == nil && w.spent.IsZero() {
		w.neverSent(due, each)
	}
}

// neverSent counts requests for which no time was left as errors, with the latency up to now. Leaving them out would
// make a server that is too slow look faster than it is (L3).
func (w *worker) neverSent(due time.Time, each time.Duration) {
	now := time.Now()
	for ; due.Before(w.until); due = due.Add(each) {
		if due.Before(w.from) {
			continue
		}
		w.errors["never sent"]++
		if waited := now.Sub(due); waited > 0 {
			w.latencies.Record(waited)
		}
	}
}

// sleepUntil sleeps until an instant and reports whether it was not interrupted.
func sleepUntil(ctx context.Context, at time.Time) bool {
	pause := time.Until(at)
	if pause <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sendNext sends the next request and counts its outcome, measured from begin. It returns the number of consecutive requests
// without a working connection, and redials when the worker must stop.
func (w *worker) sendNext(ctx context.Context, begin time.Time, failed int) int {
	request := w.next()
	if request == nil {
		w.spent = begin
		return redials
	}
	a, err := w.conn.send(request)
	end := time.Now()
	switch {
	case ctx.Err() != nil:
		return failed
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.fail(end, "no answer")
		w.latencies.Record(end.Sub(begin)) // lower bound of the latency
		return redials                     // the measurement is over
	case err != nil:
		w.fail(end, "connection")
		sleepUntil(ctx, end.Add(redialPause))
		w.reopen(ctx)
		return failed + 1
	case a.status != w.plan.Want && (a.status != w.plan.Also || a.status == 0):
		w.fail(end, fmt.Sprintf("status %d", a.status))
	default:
		w.count(begin, end, a)
	}
	if a.close {
		w.reopen(ctx)
	}
	return 0
}

// count ignores responses of the warm-up. A response after the end does not count for the throughput, but its latency
// counts, because the slowest responses always come last.
func (w *worker) count(begin, end time.Time, a answer) {
	if end.Before(w.from) {
		return
	}
	w.latencies.Record(end.Sub(begin))
	if !end.After(w.until) {
		w.done++
		w.bytes += a.bytes
	}
}

// fail counts an error by its kind, unless it was within the warm-up.
func (w *worker) fail(at time.Time, kind string) {
	if !at.Before(w.from) {
		w.errors[kind]++
	}
}

// reopen reconnects. If that fails the connection stays closed, and the next request fails on it.
func (w *worker) reopen(ctx context.Context) {
	if err := w.conn.open(ctx); err != nil {
		w.conn.close()
	}
}
