package httpapi

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/telemetry"
)

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

// statusText avoids an allocation for common statuses.
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
