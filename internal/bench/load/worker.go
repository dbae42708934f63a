package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// What a worker does about a connection that does not work: it opens another after a pause, so many times in a row.
const (
	redials     = 20
	redialPause = 10 * time.Millisecond
)

// worker asks over one connection and keeps its own figures, so that workers never wait for one another.
type worker struct {
	plan  Plan
	index int
	next  func() []byte
	conn  conn

	from   time.Time // what ends before is warming up
	until  time.Time // nothing is begun after
	giveUp time.Time // nothing is waited for after
	spent  time.Time // when there was no request left; zero while there are

	done      int64
	bytes     int64
	errors    map[string]int64
	latencies Histogram
}

// eager asks again as soon as it is answered.
func (w *worker) eager(ctx context.Context) {
	failed := 0
	for ctx.Err() == nil && failed < redials {
		begin := time.Now()
		if !begin.Before(w.until) {
			return
		}
		failed = w.ask(ctx, begin, failed)
	}
}

// paced asks when it is due, every worker in its turn, whether or not the answer before came in time (L3).
func (w *worker) paced(ctx context.Context, begin time.Time) {
	each := time.Duration(float64(w.plan.Conns) / w.plan.Rate * float64(time.Second))
	each = max(each, time.Microsecond)
	due := begin.Add(each * time.Duration(w.index) / time.Duration(w.plan.Conns))
	failed := 0
	for ; due.Before(w.until) && failed < redials; due = due.Add(each) {
		if !time.Now().Before(w.giveUp) || !sleepUntil(ctx, due) {
			break
		}
		failed = w.ask(ctx, due, failed)
	}
	if ctx.Err() == nil && w.spent.IsZero() {
		w.neverSent(due, each)
	}
}

// neverSent charges the server for requests for which no time was left: each has waited at least until now.
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

// sleepUntil tells whether it was slept to the end.
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

// ask sends the next request and counts what comes of it, from the instant begin. It gives how many requests in a row
// have found no working connection, and enough of them when nothing more is to be asked.
func (w *worker) ask(ctx context.Context, begin time.Time, failed int) int {
	request := w.next()
	if request == nil {
		w.spent = begin
		return redials
	}
	a, err := w.conn.ask(request)
	end := time.Now()
	switch {
	case ctx.Err() != nil:
		return failed
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.fail(end, "no answer")
		w.latencies.Record(end.Sub(begin)) // it took at least so long
		return redials                     // the measurement is over
	case err != nil:
		w.fail(end, "connection")
		sleepUntil(ctx, end.Add(redialPause))
		w.reopen(ctx)
		return failed + 1
	case a.Status != w.plan.Want && (a.Status != w.plan.Also || a.Status == 0):
		w.fail(end, fmt.Sprintf("status %d", a.Status))
	default:
		w.count(begin, end, a)
	}
	if a.Close {
		w.reopen(ctx)
	}
	return 0
}

// count is only about what ends after the warming up. An answer after the end is too late for the throughput, but its
// latency counts: the slowest are always the last to come.
func (w *worker) count(begin, end time.Time, a Answer) {
	if end.Before(w.from) {
		return
	}
	w.latencies.Record(end.Sub(begin))
	if !end.After(w.until) {
		w.done++
		w.bytes += a.Bytes
	}
}

func (w *worker) fail(at time.Time, kind string) {
	if !at.Before(w.from) {
		w.errors[kind]++
	}
}

// reopen leaves a connection that could not be opened closed: the next request then fails on it.
func (w *worker) reopen(ctx context.Context) {
	if err := w.conn.open(ctx); err != nil {
		w.conn.close()
	}
}
