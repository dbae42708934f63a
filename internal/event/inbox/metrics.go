package inbox

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the consumers' metrics.
type Metrics struct {
	messages *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewMetrics registers the consumers' metrics with reg; if reg is nil they are not exported. The buckets of the
// duration reach from 1 ms to 16 s, because a batch of hundreds of events may take seconds.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		messages: f.NewCounterVec(prometheus.CounterOpts{
			Name: "consumer_message_total",
			Help: "Events by consumer and result: ok, dup, retry or dead.",
		}, []string{"consumer", "result"}),
		duration: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "consumer_handle_duration_seconds",
			Help:    "Duration of handling a batch of events.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"consumer"}),
	}
}

// applied counts events of a batch; repeated are those that the consumer had applied before.
func (m *Metrics) applied(consumer string, unseen, repeated int) {
	m.messages.WithLabelValues(consumer, "ok").Add(float64(unseen))
	m.messages.WithLabelValues(consumer, "dup").Add(float64(repeated))
}

func (m *Metrics) observe(consumer string, d time.Duration) {
	m.duration.WithLabelValues(consumer).Observe(d.Seconds())
}
