package outbox

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the relay's figures.
type Metrics struct {
	pending   prometheus.Gauge
	oldest    prometheus.Gauge
	letters   *prometheus.GaugeVec
	published prometheus.Counter
	refused   prometheus.Counter
	dead      prometheus.Counter
}

// NewMetrics registers the relay's figures; without a registry they are only counted.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	total := f.NewCounterVec(prometheus.CounterOpts{
		Name: "outbox_publish_total", Help: "Events that the relay published, had refused, or gave up.",
	}, []string{"result"})
	return &Metrics{
		pending: f.NewGauge(prometheus.GaugeOpts{
			Name: "outbox_pending", Help: "Events that wait to be published.",
		}),
		oldest: f.NewGauge(prometheus.GaugeOpts{
			Name: "outbox_oldest_age_seconds", Help: "Age of the oldest event that waits.",
		}),
		letters: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "dlq_messages", Help: "Dead letters that nobody has replayed, by consumer.",
		}, []string{"consumer"}),
		published: total.WithLabelValues("ok"),
		refused:   total.WithLabelValues("refused"),
		dead:      total.WithLabelValues("dead"),
	}
}

// measureEvery keeps the counting of a long backlog from costing more than the relaying of it.
const measureEvery = 5 * time.Second

// measure brings the gauges up to date. It runs after failures too: that is when they matter.
func (r *Relay) measure(ctx context.Context) {
	now := r.now()
	if now.Sub(r.measured) < measureEvery || ctx.Err() != nil {
		return
	}
	r.measured = now
	s, err := ReadStatus(ctx, r.db)
	if err != nil {
		r.log.WarnContext(ctx, "the outbox could not be counted", "err", err)
		return
	}
	r.metrics.pending.Set(float64(s.Pending))
	r.metrics.oldest.Set(s.OldestAgeSeconds)
	r.metrics.letters.Reset()
	for _, c := range s.Dead {
		r.metrics.letters.WithLabelValues(deadLabel(c.Consumer)).Set(float64(c.Letters))
	}
}

// deadLabel names the relay, whose letters have no consumer.
func deadLabel(consumer string) string {
	if consumer == "" {
		return "relay"
	}
	return consumer
}
