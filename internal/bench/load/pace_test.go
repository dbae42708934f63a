package load

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/testenv"
)

// bubble runs a measurement against a server in the same bubble of fake time, so that every instant is exact. takes
// returns the response time of the n-th request, counted over all connections.
func bubble(t *testing.T, p Plan, takes func(n int64) time.Duration) (r *Result, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		var served sync.WaitGroup
		defer served.Wait()
		p.Target, p.Want, p.Requests = Target{"127.0.0.1:80"}, http.StatusOK, getRequests(Target{"127.0.0.1:80"})
		p.dial = func(context.Context) (net.Conn, error) {
			clientConn, serverConn := net.Pipe()
			served.Go(func() { respond(serverConn, func() { time.Sleep(takes(requests.Add(1))) }) })
			return clientConn, nil
		}
		begin := time.Now()
		r = testenv.Must(Run(t.Context(), p))(t)
		took = time.Since(begin)
	})
	return r, took
}

// respond serves one connection until its other end is closed.
func respond(c net.Conn, pause func()) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		pause()
		if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
			return
		}
	}
}

// stall returns a millisecond for all requests but one, which takes 300.
func stall(n int64) time.Duration {
	if n == 3 {
		return 300 * time.Millisecond
	}
	return time.Millisecond
}

func slower(h *Histogram, than time.Duration) (n int64) {
	for _, bar := range h.all().Distribution() {
		if bar.To > than.Microseconds() {
			n += bar.Count
		}
	}
	return n
}

// L3: if a server stalls for 300 ms, all requests that were due meanwhile count as slow. The unpaced generator sends
// nothing in that time and counts one slow response: that is coordinated omission.
func TestRun_pacedCountsFromWhenItWasDue(t *testing.T) {
	r, _ := bubble(t, Plan{Conns: 1, Duration: 600 * time.Millisecond}, stall)
	if n := slower(&r.Latencies, 100*time.Millisecond); n != 1 || r.Latencies.Quantile(0.99) > 2*time.Millisecond {
		t.Errorf("unpaced: %d slow answers, p99 %s", n, r.Latencies.Quantile(0.99))
	}
	// A request is due every 5 ms. The third is answered 300 ms late, and those of the 200 ms after it wait for more
	// than 100 ms: 40 in all, and the stalled request itself.
	r, _ = bubble(t, Plan{Conns: 1, Duration: 600 * time.Millisecond, Rate: 200}, stall)
	if n := slower(&r.Latencies, 100*time.Millisecond); n < 40 || n > 51 || r.Latencies.Count() != 120 {
		t.Errorf("paced: %d slow answers of %d", n, r.Latencies.Count())
	}
	if p := r.Latencies.Quantile(0.99); p < 290*time.Millisecond || p > 305*time.Millisecond {
		t.Errorf("paced: p99 is %s", p)
	}
}

// Connections take turns, so that the rate is even instead of a burst per interval.
func TestRun_pacedIsEven(t *testing.T) {
	r, took := bubble(t, Plan{Conns: 10, Warmup: 500 * time.Millisecond, Duration: time.Second, Rate: 100},
		func(int64) time.Duration { return time.Millisecond })
	if r.Done != 100 || r.PerSecond() != 100 || r.Failed() != 0 {
		t.Errorf("%d done at %.0f per second, errors %v", r.Done, r.PerSecond(), r.Errors)
	}
	if took < 1490*time.Millisecond || took > 1500*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	if r.Latencies.Max() != time.Millisecond || r.Latencies.Quantile(0.5) != time.Millisecond {
		t.Errorf("max %s, p50 %s", r.Latencies.Max(), r.Latencies.Quantile(0.5))
	}
}

// A server that is too slow for the rate does not prolong the measurement, and unsent requests are reported (L2, L3).
func TestRun_pacedGivesUp(t *testing.T) {
	r, took := bubble(t, Plan{Conns: 2, Duration: 100 * time.Millisecond, Timeout: 100 * time.Millisecond, Rate: 1000},
		func(int64) time.Duration { return time.Minute })
	if took != 200*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	if r.Done != 0 || r.Errors["no answer"] != 2 || r.Errors["never sent"] != 98 || r.Latencies.Count() != 100 {
		t.Errorf("done %d, errors %v, %d latencies", r.Done, r.Errors, r.Latencies.Count())
	}
	// Requests are due evenly over the first 100 ms, and the measurement ends at 200.
	if p50 := r.Latencies.Quantile(0.5); p50 < 149*time.Millisecond || p50 > 153*time.Millisecond {
		t.Errorf("half of them waited %s", p50)
	}
}

// The throughput counts the responses in time. A later response still counts as slow.
func TestRun_lastAnswersCountAsSlow(t *testing.T) {
	r, took := bubble(t, Plan{Conns: 1, Warmup: 15 * time.Millisecond, Duration: 100 * time.Millisecond},
		func(n int64) time.Duration {
			if n == 11 {
				return 500 * time.Millisecond
			}
			return 10 * time.Millisecond
		})
	if r.Done != 9 || r.Bytes != 18 || r.Latencies.Count() != 10 || r.Latencies.Max() != 500*time.Millisecond {
		t.Errorf("%d done, %d latencies, max %s", r.Done, r.Latencies.Count(), r.Latencies.Max())
	}
	if took != 600*time.Millisecond {
		t.Errorf("it took %s", took)
	}
}
