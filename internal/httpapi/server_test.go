package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/testenv"
)

func TestServer_PanicIsAnsweredAndLogged(t *testing.T) {
	h := newHarness(t, nil)
	a := h.send("GET", "/fail?how=panic", "")
	if p := a.problem(t); a.StatusCode != 500 || p["code"] != "internal" || strings.Contains(a.body, "range") {
		t.Errorf("panic: status %d with body %s, want 500 internal without its text", a.StatusCode, a.body)
	}
	testenv.Eventually(t, 5*time.Second, func() bool { return len(h.log.records(t)) == 1 })
	log := h.log.String()
	for _, want := range []string{"out of range", "harness_test.go", a.Header.Get("X-Request-Id")} {
		if !strings.Contains(log, want) {
			t.Errorf("log without %q: %s", want, log)
		}
	}
	if got := h.observed("/fail", "GET", "500"); got != 1 {
		t.Errorf("answers observed = %v, want 1", got)
	}
	if a = h.send("GET", "/orders/7", ""); a.StatusCode != 200 {
		t.Errorf("status after a panic = %d, want 200", a.StatusCode)
	}
}

// A truncated response must not look complete.
func TestServer_PanicWithinTheAnswerCutsTheConnection(t *testing.T) {
	h := newHarness(t, nil, func(a *API) {
		a.Handle(Route{Pattern: "GET /half", Policy: Public, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("half"))
				_ = http.NewResponseController(w).Flush()
				panic("in the middle")
			})})
	})
	res, err := h.client.Get("http://" + h.Addr().String() + "/half")
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Error("the client took the half for the whole")
	}
	testenv.Eventually(t, 5*time.Second, func() bool { return len(h.log.records(t)) == 1 })
	if rec := h.log.records(t)[0]; rec["level"] != "ERROR" || rec["err"] != "panic: in the middle" {
		t.Errorf("log record = %v, want ERROR with the panic", rec)
	}
}

func TestServer_ClientThatGoesAwayIsNoFailure(t *testing.T) {
	h := newHarness(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	req := testenv.Must(http.NewRequestWithContext(ctx, "GET", "http://"+h.Addr().String()+"/wait", nil))(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		if res, err := h.client.Do(req); err == nil {
			_ = res.Body.Close()
			t.Error("the cancelled request was answered")
		}
	})
	<-h.inside
	leave()
	wg.Wait()
	testenv.Eventually(t, 5*time.Second, func() bool {
		return h.observed("/wait", "GET", "499") == 1 && len(h.log.records(t)) == 1
	})
	rec := h.log.records(t)[0]
	if rec["level"] != "INFO" || rec["code"] != "client_closed" {
		t.Errorf("log record = %v, want INFO with client_closed", rec)
	}
}

func TestServer_DeadlineGives503(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.RequestTimeout = 30 * time.Millisecond })
	a := h.send("GET", "/wait", "")
	if p := a.problem(t); a.StatusCode != 503 || p["code"] != "timeout" || a.Header.Get("Retry-After") == "" {
		t.Errorf("deadline: status %d with body %s, want 503 timeout with Retry-After", a.StatusCode, a.body)
	}
}

// H5: the request beyond the limit is refused at once, probes are not, and a freed place is used again.
func TestServer_LimitsRequestsInFlight(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxInFlight = 3 })
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if a := h.send("GET", "/wait", ""); a.StatusCode != http.StatusNoContent {
				t.Errorf("request within the limit: status %d with body %s, want 204", a.StatusCode, a.body)
			}
		})
	}
	for range 3 {
		<-h.inside
	}
	a := h.send("GET", "/orders/7", "")
	if p := a.problem(t); a.StatusCode != 503 || p["code"] != "overloaded" || a.Header.Get("Retry-After") != "1" {
		t.Errorf("fourth request: status %d with body %s, want 503 overloaded with Retry-After 1", a.StatusCode, a.body)
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if a := h.send("GET", path, ""); a.StatusCode != 200 {
			t.Errorf("%s of a busy instance: status %d, want 200", path, a.StatusCode)
		}
	}
	if got := h.metric("http_server_active_requests", nil); got != 3 {
		t.Errorf("active requests = %v, want 3", got)
	}
	if got := h.metric("http_server_rejected_total", map[string]string{"reason": "overloaded"}); got != 1 {
		t.Errorf("rejected requests = %v, want 1", got)
	}
	h.gate <- struct{}{}
	testenv.Eventually(t, 5*time.Second, func() bool { return h.send("GET", "/orders/7", "").StatusCode == 200 })
	h.gate <- struct{}{}
	h.gate <- struct{}{}
	wg.Wait()
	testenv.Eventually(t, 5*time.Second, func() bool { return h.working.Load() == 0 && h.inFlight.Load() == 0 })
}

func TestServer_StopDrains(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.DrainDelay = 50 * time.Millisecond })
	addr := h.Addr().String()
	var wg sync.WaitGroup
	wg.Go(func() {
		if a := h.send("GET", "/wait", ""); a.StatusCode != http.StatusNoContent {
			t.Errorf("request in flight: status %d with body %s, want 204", a.StatusCode, a.body)
		}
	})
	<-h.inside
	begun, stopped := time.Now(), make(chan error, 1)
	go func() { stopped <- h.Stop(context.Background()) }()
	testenv.Eventually(t, 5*time.Second, h.ready.draining.Load)
	w := httptest.NewRecorder() // the response to a probe within the delay
	h.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != 503 || !strings.Contains(w.Body.String(), `"status":"unavailable"`) {
		t.Errorf("/readyz while draining: status %d with body %s, want 503 unavailable", w.Code, w.Body)
	}
	testenv.Eventually(t, 5*time.Second, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	if d := time.Since(begun); d < 50*time.Millisecond {
		t.Errorf("listener closed after %s, want at least 50 ms", d)
	}
	select {
	case err := <-stopped:
		t.Fatalf("Stop = %v while a request was in flight, want it to wait", err)
	default:
	}
	h.gate <- struct{}{}
	wg.Wait()
	if err := <-stopped; err != nil {
		t.Errorf("Stop = %v, want nil", err)
	}
}

// A connection that is idle when Stop is called is served until the listener is closed, and then closed.
func TestServer_StopServesIdleConnections(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.DrainDelay = time.Minute })
	conn := testenv.Must(net.Dial("tcp", h.Addr().String()))(t)
	defer conn.Close()
	r := bufio.NewReader(conn)
	ask := func() (status int, last bool) {
		testenv.Must(io.WriteString(conn, "GET /orders/7 HTTP/1.1\r\nHost: "+h.Addr().String()+"\r\n\r\n"))(t)
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, a.Body)
		_ = a.Body.Close()
		return a.StatusCode, a.Close
	}
	if status, last := ask(); status != 200 || last {
		t.Fatalf("status %d, last answer %t, want 200 on an open connection", status, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- h.Stop(ctx) }()
	testenv.Eventually(t, 5*time.Second, h.ready.draining.Load)
	if status, last := ask(); status != 200 || !last {
		t.Errorf("while draining: status %d, last answer %t, want 200 and the last one", status, last)
	}
	cancel() // the delay is over
	testenv.ErrorIs(t, io.EOF, testenv.Err(r.ReadByte()), "read after the delay")
	<-stopped
}

func TestServer_Stop_closes_hanging_requests(t *testing.T) {
	h := newHarness(t, nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		res, err := h.client.Get("http://" + h.Addr().String() + "/wait")
		if err == nil {
			_ = res.Body.Close()
			t.Error("the request was answered although nothing let it end")
		}
	})
	<-h.inside
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	testenv.ErrorIs(t, context.DeadlineExceeded, h.Stop(ctx))
	wg.Wait()
	testenv.Eventually(t, 5*time.Second, func() bool { return h.inFlight.Load() == 0 })
}

func TestServer_LifeCycle(t *testing.T) {
	h := newHarness(t, nil)
	if h.Start(t.Context()) == nil {
		t.Error("a second Start is accepted")
	}
	for range 2 {
		testenv.NoError(t, h.Stop(t.Context()))
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatalf("Start after Stop: %v", err)
	}
	if a := h.send("GET", "/readyz", ""); a.StatusCode != 200 {
		t.Errorf("/readyz after a restart: status %d with body %s, want 200", a.StatusCode, a.body)
	}
	taken := Default()
	taken.Listen = h.Addr().String()
	s := testenv.Must(New(taken, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	if s.Start(t.Context()) == nil {
		t.Error("two servers on one port")
	}
}

// A stream outlives the deadlines of ordinary requests and does not count against their limit.
func TestServer_StreamIsNotBounded(t *testing.T) {
	end := make(chan struct{})
	h := newHarness(t, func(c *Config) {
		c.ReadTimeout, c.WriteTimeout, c.RequestTimeout = 60*time.Millisecond, 60*time.Millisecond, 40*time.Millisecond
		c.MaxInFlight = 1
	}, func(a *API) {
		a.Handle(Route{Pattern: "GET /stream", Policy: Public, Stream: true, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("begin "))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-end:
					_, _ = w.Write([]byte("end"))
				case <-r.Context().Done():
				}
			})})
	})
	res, err := h.client.Get("http://" + h.Addr().String() + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for range 5 { // each takes the only place and runs into its deadline
		if a := h.send("GET", "/wait", ""); a.problem(t)["code"] != "timeout" {
			t.Errorf("request beside the stream: status %d with body %s, want code timeout", a.StatusCode, a.body)
		}
	}
	close(end)
	testenv.Equal(t, "begin end", string(testenv.Must(io.ReadAll(res.Body))(t)))
}

// H3: secrets in every part of a request, on success and on failure.
func TestServer_logs_no_guest_data(t *testing.T) {
	const canary = "Qr7canary9Xy"
	h := newHarness(t, nil)
	body := strings.Replace(orderJSON, "no onion", canary, 1)
	h.send("GET", "/orders/"+canary+"?qr="+canary, "", CustomerTokenHeader, canary)
	h.send("GET", "/cis/landing?qr="+canary, "")        // not found
	h.send("GET", "/orders/7?page="+canary, "")         // invalid
	h.send("GET", "/orders/7?page=1&a=%00"+canary, "")  // invalid URL
	h.send("GET", "//orders/"+canary+"?qr="+canary, "") // redirected
	h.send("GET", "/fail?how=panic&qr="+canary, "", CustomerTokenHeader, canary)
	h.send("GET", "/fail?how=unknown&qr="+canary, "", "Authorization", "Bearer "+canary)
	h.send("GET", "/staff?qr="+canary, "", "Authorization", "Bearer "+canary)
	h.send("GET", "/orders/7", "", CustomerTokenHeader, strings.Repeat(canary, 20)) // too long
	h.send("GET", "/orders/7", "", "X-Request-Id", canary+"!", "Referer", "https://a/?qr="+canary, "User-Agent", canary)
	h.send("POST", "/cis/order/create?qr="+canary, body, "Content-Type", "application/json", CustomerTokenHeader, canary)
	h.post(strings.Replace(body, `"items"`, `"`+canary+`"`, 1))
	h.send("POST", "/cis/order/create", canary, "Content-Type", canary)

	testenv.Eventually(t, 5*time.Second, func() bool { return len(h.log.records(t)) == 13 })
	if log := h.log.String(); strings.Contains(log, canary) {
		t.Errorf("the log has the token: %s", log)
	}
	if a := h.send("GET", "/metrics", ""); strings.Contains(a.body, canary) {
		t.Error("the metrics contain the token")
	}
}

func TestServer_Record(t *testing.T) {
	h := newHarness(t, nil)
	h.send("GET", "/orders/77", "", CustomerTokenHeader, "tok", "X-Request-Id", "request-0001")
	h.send("GET", "/nothing", "")
	h.send("GET", "/staff", "", "Authorization", "Bearer "+serviceToken)
	h.post(`{}`)
	testenv.Eventually(t, 5*time.Second, func() bool { return len(h.log.records(t)) == 4 })
	records := h.log.records(t)
	for i, want := range []map[string]any{
		{"request_id": "request-0001", "method": "GET", "route": "/orders/{id}", "status": 200.0, "actor": "guest"},
		{"route": "unmatched", "status": 404.0, "code": "not_found"},
		{"route": "/staff", "status": 204.0, "actor": "service"},
		{"route": "/cis/order/create", "method": "POST", "status": 422.0, "code": "invalid", "actor": "anonymous"},
	} {
		for name, v := range want {
			if records[i][name] != v {
				t.Errorf("record %d: %s = %v, want %v", i, name, records[i][name], v)
			}
		}
		if d, ok := records[i]["dur_us"].(float64); !ok || d < 0 {
			t.Errorf("record %d: dur_us = %v, want a number of at least 0", i, records[i]["dur_us"])
		}
	}
}

func TestServer_QuietLogsFailuresOnly(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.AccessLog = false })
	h.send("GET", "/orders/77", "")
	h.send("GET", "/fail?how=unknown", "")
	testenv.Eventually(t, 5*time.Second, func() bool { return len(h.log.records(t)) == 1 })
	if rec := h.log.records(t)[0]; rec["status"] != 500.0 {
		t.Errorf("log record = %v, want status 500", rec)
	}
}

// H4: the number of series stays small, whatever clients send.
func TestServer_MetricLabelsAreBounded(t *testing.T) {
	h := newHarness(t, nil)
	for i := range 30 {
		h.send(fmt.Sprintf("M%d", i), fmt.Sprintf("/p%d?q=%d", i, i), "")
		h.send("GET", fmt.Sprintf("/orders/%d", i), "")
		h.send("GET", fmt.Sprintf("/unknown/%d", i), "")
	}
	series := func() (n int) {
		families := testenv.Must(h.reg.Gather())(t)
		for _, f := range families {
			n += len(f.GetMetric())
		}
		return n
	}
	testenv.Eventually(t, 5*time.Second, func() bool { return h.observed("unmatched", "_OTHER", "404") == 30 })
	if n := series(); n > 10 {
		t.Errorf("%d series after 90 requests to 3 routes, want at most 10", n)
	}
}

func TestServer_LimitsHeaders(t *testing.T) {
	h := newHarness(t, nil)
	conn := testenv.Must(net.Dial("tcp", h.Addr().String()))(t)
	defer conn.Close()
	request := "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 32<<10) + "\r\n\r\n"
	testenv.Must(conn.Write([]byte(request)))(t)
	answer, _ := io.ReadAll(conn)
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 431 ")) {
		t.Errorf("answer to 32 KB of headers = %.60s, want 431", answer)
	}
}

func TestConfig_Validate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("Validate of the defaults: %v", err)
	}
	for name, change := range map[string]func(*Config){
		"short token":      func(c *Config) { c.ServiceToken = "secret" },
		"no read timeout":  func(c *Config) { c.ReadTimeout = 0 },
		"no idle timeout":  func(c *Config) { c.IdleTimeout = 0 },
		"late deadline":    func(c *Config) { c.RequestTimeout = c.ReadTimeout },
		"negative drain":   func(c *Config) { c.DrainDelay = -1 },
		"nothing at once":  func(c *Config) { c.MaxInFlight = 0 },
		"no body":          func(c *Config) { c.MaxBodyBytes = 0 },
		"malformed origin": func(c *Config) { c.TrustedOrigins = []string{"example.com/path"} },
	} {
		c := Default()
		change(&c)
		err := c.Validate()
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Validate with %s: error %v, want one without the secret", name, err)
		}
		if _, err := New(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry()); err == nil {
			t.Errorf("New with %s = nil, want an error", name)
		}
	}
}

// Only requests that may change something wait for the BeforeChanges check.
func TestServer_BeforeChanges(t *testing.T) {
	s := testenv.Must(New(Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	calls := 0
	s.BeforeChanges(func(context.Context) { calls++ })
	for method, want := range map[string]int{
		http.MethodGet: 0, http.MethodHead: 0, http.MethodOptions: 0,
		http.MethodPost: 1, http.MethodPut: 1, http.MethodPatch: 1, http.MethodDelete: 1,
	} {
		calls = 0
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, "/livez", nil))
		if calls != want {
			t.Errorf("%s: %d calls, want %d", method, calls, want)
		}
	}
}
