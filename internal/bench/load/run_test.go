package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/testenv"
)

// serve starts a server that ends with the test and returns it as a target.
func serve(t testing.TB, h http.HandlerFunc) Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return testenv.Must(ParseTarget(s.URL))(t)
}

// getRequests returns functions that always send the same request for the root.
func getRequests(t Target) func(int) func() []byte {
	request := t.Request("GET", "/", "")
	return func(int) func() []byte { return func() []byte { return request } }
}

func TestParseTarget(t *testing.T) {
	for base, addr := range map[string]string{
		"http://127.0.0.1:8080": "127.0.0.1:8080", "http://localhost:1/": "localhost:1", "http://[::1]:9": "[::1]:9",
		"http://127.7.7.7": "127.7.7.7:80",
	} {
		if got, err := ParseTarget(base); err != nil || got.addr != addr {
			t.Errorf("ParseTarget(%s) = %q, %v, want %s", base, got.addr, err, addr)
		}
	}
	// L1: only loopback addresses are accepted.
	for _, base := range []string{
		"http://example.com", "http://10.0.0.1:8080", "https://127.0.0.1", "127.0.0.1:8080", "http://0.0.0.0:80", "",
		"http://127.0.0.1@example.com", "http://user@127.0.0.1", "http://127.0.0.1.example.com",
		"http://[fe80::1]", "http://127.0.0.1/x",
	} {
		if _, err := ParseTarget(base); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("ParseTarget(%q): error %v, want ErrNotLoopback", base, err)
		}
	}
}

func TestRun_counts_answers(t *testing.T) {
	var requests atomic.Int64
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("12345"))
	})
	r := testenv.Must(Run(t.Context(), Plan{
		Target: target, Conns: 4, Duration: 200 * time.Millisecond, Want: http.StatusOK, Requests: getRequests(target),
	}))(t)
	late := requests.Load() - r.Done - r.Failed() // number of responses after the end
	if r.Done == 0 || late < 0 || late > 4 || r.Errors["status 503"] < r.Done/20 || r.Bytes != 5*r.Done {
		t.Errorf("%d asked, %d done with %d bytes, errors %v", requests.Load(), r.Done, r.Bytes, r.Errors)
	}
	if n := r.Latencies.Count(); n < r.Done || n > r.Done+4 || r.Latencies.Quantile(0.5) <= 0 {
		t.Errorf("%d latencies of %d answers, half of them within %s", n, r.Done, r.Latencies.Quantile(0.5))
	}
	if want := float64(r.Done) / 0.2; r.PerSecond() != want {
		t.Errorf("%v per second, want %v", r.PerSecond(), want)
	}
}

func TestRun_stopsWithItsContext(t *testing.T) {
	for name, rate := range map[string]float64{"unpaced": 0, "paced": 100} {
		t.Run(name, func(t *testing.T) {
			requests := make(chan struct{}, 100)
			release := make(chan struct{})
			target := serve(t, func(http.ResponseWriter, *http.Request) {
				requests <- struct{}{}
				<-release
			})
			defer close(release)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-requests
				cancel()
			}()
			begin := time.Now()
			_, err := Run(ctx, Plan{
				Target: target, Conns: 3, Duration: time.Minute, Rate: rate, Want: http.StatusOK, Requests: getRequests(target),
			})
			if !errors.Is(err, context.Canceled) || time.Since(begin) > 5*time.Second {
				t.Errorf("%v after %s", err, time.Since(begin))
			}
		})
	}
}

func TestRun_opensClosedConnectionsAnew(t *testing.T) {
	var requests atomic.Int64
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch requests.Add(1) % 3 {
		case 0:
			w.Header().Set("Connection", "close")
		case 1:
			panic(http.ErrAbortHandler) // cuts the connection
		}
	})
	r := testenv.Must(Run(t.Context(), Plan{
		Target: target, Conns: 1, Duration: 200 * time.Millisecond, Want: http.StatusOK, Requests: getRequests(target),
	}))(t)
	if r.Done < 2 || r.Errors["connection"] < 1 || len(r.Errors) != 1 {
		t.Errorf("%d done, errors %v", r.Done, r.Errors)
	}
}

func TestRun_refuses_unbounded_runs(t *testing.T) {
	good := Plan{Target: Target{"127.0.0.1:1"}, Conns: 1, Duration: time.Second, Requests: getRequests(Target{})}
	for name, corrupt := range map[string]func(*Plan){
		"no target":      func(p *Plan) { p.Target = Target{} },
		"no connections": func(p *Plan) { p.Conns = 0 },
		"too many":       func(p *Plan) { p.Conns = MaxConns + 1 },
		"no duration":    func(p *Plan) { p.Duration = 0 },
		"too long":       func(p *Plan) { p.Warmup = MaxDuration },
		"rate":           func(p *Plan) { p.Rate = MaxRate + 1 },
		"no requests":    func(p *Plan) { p.Requests = nil },
	} {
		p := good
		corrupt(&p)
		if err := p.validate(); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
}

func TestRun_serverOutOfReach(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	target, _ := ParseTarget(s.URL)
	s.Close()
	p := Plan{Target: target, Conns: 1, Duration: time.Second, Requests: getRequests(target)}
	if _, err := Run(t.Context(), p); err == nil {
		t.Error("a closed port was measured")
	}
}

func TestTarget_ClientStaysHere(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.com/", http.StatusFound)
	})
	client := target.Client(time.Second)
	defer client.CloseIdleConnections()
	res, err := client.Get("http://example.com/") // arrives at the target all the same
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusFound {
		t.Errorf("status %d", res.StatusCode)
	}
}

func BenchmarkRun(b *testing.B) {
	target := serve(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	r := testenv.Must(Run(b.Context(), Plan{
		Target: target, Conns: 64, Duration: time.Second, Want: http.StatusOK, Requests: getRequests(target),
	}))(b)
	b.ReportMetric(r.PerSecond(), "requests/s")
	b.ReportMetric(0, "ns/op")
}

// A measurement ends when no connection has a request left, and the results of two can be added.
func TestRun_endsWithItsRequests(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("123")) })
	request := target.Request("GET", "/", "")
	for name, rate := range map[string]float64{"unpaced": 0, "paced": 2000} {
		t.Run(name, func(t *testing.T) {
			var sum Result
			for range 2 {
				r := testenv.Must(Run(t.Context(), Plan{
					Target: target, Conns: 3, Duration: time.Minute, Rate: rate, Want: http.StatusOK,
					Requests: func(conn int) func() []byte {
						left := 5 * conn
						return func() []byte {
							if left--; left < 0 {
								return nil
							}
							return request
						}
					},
				}))(t)
				if r.Done != 15 || r.Failed() != 0 || r.Elapsed <= 0 || r.Elapsed > 30*time.Second {
					t.Errorf("%d done in %s, errors %v", r.Done, r.Elapsed, r.Errors)
				}
				r.Errors["status 500"] = 1
				sum.Add(r)
				if sum.Elapsed < r.Elapsed || sum.Latencies.Max() < r.Latencies.Max() {
					t.Errorf("%+v is more than the sum", r)
				}
			}
			if sum.Conns != 3 || sum.Done != 30 || sum.Bytes != 90 || sum.Failed() != 2 || sum.Latencies.Count() != 30 {
				t.Errorf("%d done with %d bytes, errors %v", sum.Done, sum.Bytes, sum.Errors)
			}
		})
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stream counts events whatever their length, not comments, and a refusal is an error.
func TestTarget_Follow(t *testing.T) {
	next := make(chan string)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			http.Error(w, "no", http.StatusTooManyRequests)
			return
		}
		flusher := http.NewResponseController(w)
		for text := range next {
			fmt.Fprint(w, text)
			if flusher.Flush() != nil {
				return
			}
		}
	}))
	defer h.Close()
	target := testenv.Must(ParseTarget(h.URL))(t)
	events := make(chan time.Time, 8)
	go func() { next <- "retry: 2000\n\n" }()
	s := testenv.Must(target.Follow(t.Context(), target.Request(http.MethodGet, "/", ""), func(at time.Time) { events <- at }))(t)
	long := strings.Repeat("x", 3*streamBuffer)
	for _, text := range []string{"id: 1\ndata: {}\n\n", ": a heartbeat\n\n", "event: menu\ndata: " + long + "\n\n", "data: last\n\n"} {
		next <- text
	}
	for range 3 {
		<-events
	}
	close(next)
	s.Close()
	if n := len(events); n != 0 {
		t.Errorf("%d more events than were sent", n)
	}
	if _, err := target.Follow(t.Context(), target.Request(http.MethodGet, "/refused", ""), nil); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("Follow = %v, want the status 429", err)
	}
}
