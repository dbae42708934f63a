package inbox

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/telemetry"
)

// Metrics are the consumers' metrics.
type Metrics struct {
	messages *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewMetrics registers the consumers' metrics with reg; if reg is nil they are not exported. The buckets of the
// duration reach from 1 ms to 16 s, because a batch of hundreds of events may take seconds.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	return &Metrics{
		messages: f.Counters("consumer_message_total", "Events by consumer and result: ok, dup, retry or dead.",
			"consumer", "result"),
		duration: f.Histograms("consumer_handle_duration_seconds", "Duration of handling a batch of events.",
			prometheus.ExponentialBuckets(0.001, 4, 8), "consumer"),
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
