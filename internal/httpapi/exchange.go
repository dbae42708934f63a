package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/telemetry"
	"comanda/internal/uid"
)

// exchange is one request with its response: the ResponseWriter of handlers and the data of the log record. Only the
// goroutine of the request writes to it.
type exchange struct {
	http.ResponseWriter

	id     string
	begun  clock.Stopwatch
	client netip.Addr // client address, behind trusted proxies
	route  *route     // nil until routed
	actor  string
	status int // 0 until the response has started
	code   string
	cause  error // cause of an error; for the log only (H3)
	muted  bool  // discards the body of the mux's own 404 or 405
}

// exchangeOf returns the exchange of a request's context, or nil.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := telemetry.CarrierOf(ctx).(*exchange)
	return x
}

// LogAttrs adds the request id to every record that is logged with the request's context.
func (x *exchange) LogAttrs() []slog.Attr { return []slog.Attr{slog.String("request_id", x.id)} }

// RequestID returns the request id of a context, or "". It correlates log records. The client may have chosen it, so it
// must not be used for decisions.
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id
	}
	return ""
}

// newExchange accepts the request id of a proxy or client, so that its logs and the server's can be joined. Without
// one it creates an id.
func newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, begun: clock.Start()}
	if given := r.Header["X-Request-Id"]; len(given) == 1 && plausibleID(given[0]) {
		x.id = given[0]
	} else {
		x.id = uid.New(x.begun.Begun())
	}
	return x
}

// plausibleID reports whether a request id of a client is acceptable: ^[A-Za-z0-9-]{8,64}$.
func plausibleID(s string) bool {
	if len(s) < 8 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		default:
			return false
		}
	}
	return true
}

// Unwrap lets http.ResponseController access the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader records the status. The mux's own 404 and 405 are discarded, because a problem replaces them afterwards;
// their headers, such as Allow, are kept.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && x.route == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		x.muted, x.status = true, status
		return
	}
	// Informational statuses, such as 103, may precede the final one.
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write discards the body of the mux's own 404 or 405. Otherwise it writes the body, with status 200 if none was set.
func (x *exchange) Write(p []byte) (int, error) {
	if x.muted {
		return len(p), nil
	}
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(p)
}

// note copies the fields of a problem that are logged, sets its request id, and returns it.
func (x *exchange) note(p *Problem) *Problem {
	p.RequestID = x.id
	x.code, x.cause = p.Code, p.cause
	return p
}

// fail responds with a problem; the response must not have started.
func (x *exchange) fail(p *Problem) {
	body, err := json.Marshal(x.note(p))
	if err != nil { // an extra member does not marshal: send the problem without it
		p.extra = nil
		body, _ = json.Marshal(p)
		x.cause = err
	}
	h := x.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
		h.Del(name) // headers of the abandoned response
	}
	h["Content-Type"], h["Cache-Control"] = problemHeader, noStore
	// huma does this for its own responses; here the problem is written without huma.
	maps.Copy(h, p.GetHeaders())
	x.WriteHeader(p.Status)
	_, _ = x.Write(append(body, '\n'))
}

// refuse responds with a problem to a request of a plain handler or without a route. The response must not have
// started.
func (x *exchange) refuse(r *http.Request, p *Problem) {
	if p.Status == http.StatusNotFound && wantsPage(r) {
		x.missing(r, p)
		return
	}
	x.fail(p)
}

// Fail responds with the problem of err in a plain handler. The response must not have started.
func Fail(_ http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	if x == nil {
		panic("httpapi: Fail outside of a server")
	}
	x.refuse(r, problemOf(r.Context(), err))
}

// metrics are the server's own. Labels have few values each, because every combination is a time series.
type metrics struct {
	duration *prometheus.HistogramVec
	rejected *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, inFlight *atomic.Int64, streams func() float64) *metrics {
	f := telemetry.Metrics(reg)
	f.GaugeFunc("http_server_active_requests", "Requests in progress.",
		func() float64 { return float64(inFlight.Load()) })
	f.GaugeFunc("http_server_streams", "Open server-sent event streams.", streams)
	return &metrics{
		duration: f.Histograms("http_server_request_duration_seconds",
			"Duration from the end of the request's headers to the end of the handler.", telemetry.Buckets,
			"route", "method", "status"),
		rejected: f.Counters("http_server_rejected_total", "Requests refused before they reached a handler.", "reason"),
	}
}

// knownMethod keeps the label set of methods closed.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return m
	}
	return "_OTHER"
}

// observe counts one response. Statuses come from this server, so their label set is closed as well.
func (rt *route) observe(method string, status int, took time.Duration) {
	if rt.stream && status == http.StatusOK {
		return // the duration of a stream is not a latency
	}
	rt.s.metrics.duration.WithLabelValues(rt.Path, knownMethod(method), statusText(status)).Observe(took.Seconds())
}

// statusText returns a status code as text. Common codes need no allocation.
func statusText(status int) string {
	if status >= 0 && status < len(statusTexts) {
		return statusTexts[status]
	}
	return "_OTHER"
}

var statusTexts = func() (texts [600]string) {
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return texts
}()
