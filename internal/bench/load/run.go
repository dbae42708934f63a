// Package load sends requests to a server on this machine at full speed or at a fixed rate, and records latencies.
//
// The generator shares its CPUs with the server, so it does little per request: the caller builds the bytes, and one
// goroutine per connection writes them and reads the response to its end. tsenart/vegeta serves no closed loop over a fixed
// number of connections, and its client costs several times as much per request.
//
//	L1  only loopback addresses are allowed, so that it cannot be used against other servers
//	L2  every measurement ends: by its duration, by its context, or by the timeout of its last response
//	L3  a paced measurement counts latency from the time a request was due, not from when it was sent, so a stall also
//	    counts for the requests that would have been sent meanwhile (no coordinated omission)
//	L4  a reported quantile is never too low, and at most 1/64 plus a microsecond too high
package load

import (
	"context"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Limits of a measurement (L2). More connections than MaxConns would exceed the usual limit of open files.
const (
	MaxConns    = 4096
	MaxDuration = 10 * time.Minute
	MaxRate     = 1e6

	defaultTimeout = 5 * time.Second
)

// Plan describes one measurement.
type Plan struct {
	Target   Target
	Conns    int
	Warmup   time.Duration // not counted
	Duration time.Duration // counted
	Timeout  time.Duration // limit for the last responses after that; default 5 s
	Rate     float64       // requests per second over all connections; 0: at full speed
	Want     int           // expected status; every other one is an error
	Also     int           // second expected status, for requests of two kinds; 0: none
	// Requests returns the function that builds a connection's next request. The bytes are used until the next call.
	// After nil the connection sends no more; the measurement ends when all connections have ended.
	Requests func(conn int) func() []byte

	dial func(context.Context) (net.Conn, error) // default: to the target
}

// Result is the result of a measurement. Requests without a response count as errors, and their waiting time as
// latency.
type Result struct {
	Conns     int
	Done      int64         // expected responses within Elapsed
	Bytes     int64         // sum of their body lengths
	Elapsed   time.Duration // measured time; up to the last response if all requests were sent
	Errors    map[string]int64
	Latencies Histogram
}

// PerSecond returns the throughput. Requests that failed are not part of it.
func (r *Result) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Done) / r.Elapsed.Seconds()
}

// Failed returns the number of errors of all kinds.
func (r *Result) Failed() (n int64) {
	for _, c := range r.Errors {
		n += c
	}
	return n
}

// validate refuses a plan before anything is connected. The zero Target is one that ParseTarget has not checked.
func (p Plan) validate() error {
	switch {
	case p.Target == Target{}:
		return ErrNotLoopback
	case p.Conns < 1 || p.Conns > MaxConns:
		return fmt.Errorf("load: a measurement has 1 to %d connections, not %d", MaxConns, p.Conns)
	case p.Duration <= 0 || p.Warmup < 0 || p.Duration+p.Warmup > MaxDuration:
		return fmt.Errorf("load: a measurement takes up to %s, not %s", MaxDuration, p.Warmup+p.Duration)
	case p.Rate != 0 && (p.Rate < 1 || p.Rate > MaxRate) || p.Requests == nil:
		return fmt.Errorf("load: a measurement needs requests, and a rate of 1 to %d per second or none", int(MaxRate))
	}
	return nil
}

// Run performs a measurement. All connections are open before the first request is sent. When ctx ends first, pending
// requests are aborted and its error is returned.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if p.Timeout <= 0 {
		p.Timeout = defaultTimeout
	}
	if p.dial == nil {
		p.dial = p.Target.dial
	}
	workers := make([]*worker, p.Conns)
	// One after the other: thousands of connections at once could overflow the server's accept queue.
	for i := range workers {
		workers[i] = &worker{
			plan: p, index: i, next: p.Requests(i), errors: map[string]int64{}, conn: conn{dial: p.dial},
		}
		defer workers[i].conn.close()
		if err := workers[i].conn.open(ctx); err != nil {
			return nil, fmt.Errorf("load: connection %d: %w", i+1, err)
		}
	}
	drive(ctx, p, workers)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	r := &Result{Conns: p.Conns, Elapsed: elapsed(p, workers), Errors: map[string]int64{}}
	for _, w := range workers {
		w.addTo(r)
	}
	return r, nil
}

// elapsed returns the measured time. It is the planned duration, unless all workers ran out of requests before: then
// the last of them decides.
func elapsed(p Plan, workers []*worker) (longest time.Duration) {
	for _, w := range workers {
		if w.spent.IsZero() {
			return p.Duration
		}
		longest = max(longest, w.spent.Sub(w.from))
	}
	return min(longest, p.Duration)
}

// Add adds another measurement of the same load. Both must have the same number of connections; times are added, so
// PerSecond is the mean over both.
func (r *Result) Add(other *Result) {
	r.Conns = other.Conns
	r.Done += other.Done
	r.Bytes += other.Bytes
	r.Elapsed += other.Elapsed
	r.Latencies.Merge(&other.Latencies)
	if r.Errors == nil {
		r.Errors = map[string]int64{}
	}
	for kind, n := range other.Errors {
		r.Errors[kind] += n
	}
}

// drive starts all workers at the same time and waits for them.
func drive(ctx context.Context, p Plan, workers []*worker) {
	begin := time.Now()
	var all sync.WaitGroup
	for _, w := range workers {
		w.from = begin.Add(p.Warmup)
		w.until = w.from.Add(p.Duration)
		w.giveUp = w.until.Add(p.Timeout)
		w.conn.deadline = w.giveUp
		_ = w.conn.net.SetDeadline(w.giveUp) // a closed connection fails at its first request
		all.Go(func() {
			if p.Rate > 0 {
				w.runPaced(ctx, begin)
			} else {
				w.runUnpaced(ctx)
			}
		})
	}
	all.Wait()
}

// addTo adds the counts of a worker that has ended.
func (w *worker) addTo(r *Result) {
	r.Done += w.done
	r.Bytes += w.bytes
	r.Latencies.Merge(&w.latencies)
	for kind, n := range w.errors {
		r.Errors[kind] += n
	}
}

// Two significant digits keep a histogram at 25 KB, so that every connection has its own and needs no lock. The longest
// duration is above that of any measurement (MaxDuration).
const (
	digits  = 2
	longest = time.Hour
)

// Histogram counts durations in microseconds. The zero value is empty. It is not safe for concurrent use.
type Histogram struct {
	counts *hdrhistogram.Histogram // nil while empty
	max    time.Duration
}

// Record adds one duration, rounded up to a microsecond (L4). Negative ones count as zero. Rounding up keeps quantiles
// from being too low. A duration above an hour counts as an hour.
func (h *Histogram) Record(d time.Duration) {
	d = min(max(d, 0), longest)
	_ = h.all().RecordValue(int64((d + time.Microsecond - 1) / time.Microsecond)) // fails only above longest
	h.max = max(h.max, d)
}

// all returns the counts. It creates them when they are first needed, because the zero Histogram must work.
func (h *Histogram) all() *hdrhistogram.Histogram {
	if h.counts == nil {
		h.counts = hdrhistogram.New(1, longest.Microseconds(), digits)
	}
	return h.counts
}

// Merge adds the counts of another histogram. The other one is not changed, but may get its empty counts.
func (h *Histogram) Merge(other *Histogram) {
	h.all().Merge(other.all()) // drops nothing: both have the same range
	h.max = max(h.max, other.max)
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() int64 { return h.all().TotalCount() }

// Max returns the exact longest duration.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration that a share q of all did not exceed (L4); zero if empty. The rank is rounded up here,
// because the library rounds it to the nearest. It is at least 1: for rank 0 the library returns the low end of a bucket,
// which is shorter than the shortest duration.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := float64(max(1, h.Count()))
	rank := max(1, math.Ceil(q*n))
	return min(h.max, time.Duration(h.all().ValueAtQuantile(100*rank/n))*time.Microsecond)
}
