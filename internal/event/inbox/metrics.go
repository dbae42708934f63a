package inbox

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the consumers' figures.
type Metrics struct {
	messages *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewMetrics registers the consumers' figures; without a registry they are only counted.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		messages: f.NewCounterVec(prometheus.CounterOpts{
			Name: "consumer_message_total",
			Help: "Events by what became of them at a consumer: ok, dup, retry or dead.",
		}, []string{"consumer", "result"}),
		duration: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "consumer_handle_duration_seconds",
			Help:    "Time that a consumer needed for a batch of events.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"consumer"}),
	}
}

func (m *Metrics) applied(consumer string, unseen, repeated int) {
	m.messages.WithLabelValues(consumer, "ok").Add(float64(unseen))
	m.messages.WithLabelValues(consumer, "dup").Add(float64(repeated))
}

func (m *Metrics) took(consumer string, d time.Duration) {
	m.duration.WithLabelValues(consumer).Observe(d.Seconds())
}
