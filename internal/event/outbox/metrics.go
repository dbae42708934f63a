package outbox

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/telemetry"
)

// Metrics are the relay's metrics.
type Metrics struct {
	pending   prometheus.Gauge
	oldest    prometheus.Gauge
	letters   *prometheus.GaugeVec
	published prometheus.Counter
	refused   prometheus.Counter
	dead      prometheus.Counter
}

// NewMetrics registers the relay's metrics with reg; if reg is nil they are not exported.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	total := f.Counters("outbox_publish_total", "Events by result: published, refused by the publisher, or dead letter.",
		"result")
	return &Metrics{
		pending:   f.Gauge("outbox_pending", "Events waiting to be published."),
		oldest:    f.Gauge("outbox_oldest_age_seconds", "Age of the oldest event waiting to be published."),
		letters:   f.Gauges("dlq_messages", "Dead letters waiting for a replay, by consumer.", "consumer"),
		published: total.WithLabelValues("ok"),
		refused:   total.WithLabelValues("refused"),
		dead:      total.WithLabelValues("dead"),
	}
}

// measureInterval keeps the counting of a long backlog cheaper than relaying it.
const measureInterval = 5 * time.Second

// measure updates the gauges. It also runs after failures, when the backlog matters most.
func (r *Relay) measure(ctx context.Context) {
	now := r.now()
	if now.Sub(r.measured) < measureInterval || ctx.Err() != nil {
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
	// A consumer whose dead letters are all replayed has no row any more; its series must not keep the old number.
	r.metrics.letters.Reset()
	for _, c := range s.Dead {
		r.metrics.letters.WithLabelValues(c.Consumer).Set(float64(c.Letters))
	}
}
