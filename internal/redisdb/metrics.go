package redisdb

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/telemetry"
)

type metrics struct {
	errors  *prometheus.CounterVec
	breaker prometheus.Gauge
	seconds *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := telemetry.Metrics(reg)
	return metrics{
		errors: f.Counters("redis_error_total", "Failed Redis calls by kind.", "kind"),
		breaker: f.Gauges("breaker_state", "0 while a dependency is in use, 1 while it counts as down.", "dep").
			WithLabelValues("redis"),
		seconds: f.Histograms("redis_command_duration_seconds", "Duration of Redis calls by command or script.",
			[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .2}, "cmd"),
	}
}

// call records one finished call.
func (m metrics) call(cmd string, took time.Duration, k kind) {
	m.seconds.WithLabelValues(cmd).Observe(took.Seconds())
	if k != fine {
		m.errors.WithLabelValues(string(k)).Inc()
	}
}
