package redisdb

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	errors  *prometheus.CounterVec
	breaker prometheus.Gauge
	seconds *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := promauto.With(reg)
	return metrics{
		errors: f.NewCounterVec(prometheus.CounterOpts{
			Name: "redis_error_total", Help: "Failed Redis calls by kind.",
		}, []string{"kind"}),
		breaker: f.NewGauge(prometheus.GaugeOpts{
			Name: "breaker_state", Help: "0 while a dependency is in use, 1 while it counts as down.",
			ConstLabels: prometheus.Labels{"dep": "redis"},
		}),
		seconds: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "redis_command_duration_seconds", Help: "Duration of Redis calls by command or script.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .2},
		}, []string{"cmd"}),
	}
}

// call records one finished call.
func (m metrics) call(cmd string, took time.Duration, k kind) {
	m.seconds.WithLabelValues(cmd).Observe(took.Seconds())
	if k != fine {
		m.errors.WithLabelValues(string(k)).Inc()
	}
}
