package live

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics counts messages and subscriptions. The series are looked up once, because every message counts here.
type metrics struct {
	in, out, lost, subscriptions prometheus.Counter
	subscribed                   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := promauto.With(reg)
	messages := f.NewCounterVec(prometheus.CounterOpts{
		Name: "live_messages_total",
		Help: "Notifications between processes: received (in), sent (out), or not sent (lost).",
	}, []string{"way"})
	return metrics{
		in: messages.WithLabelValues("in"), out: messages.WithLabelValues("out"), lost: messages.WithLabelValues("lost"),
		subscriptions: f.NewCounter(prometheus.CounterOpts{
			Name: "live_subscriptions_total",
			Help: "Subscriptions of this process to notifications; more than one means that it reconnected.",
		}),
		subscribed: f.NewGauge(prometheus.GaugeOpts{
			Name: "live_hearing", Help: "1 while this process receives notifications of others; otherwise its streams only poll.",
		}),
	}
}
