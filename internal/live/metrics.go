package live

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	in, out, lost, begun prometheus.Counter
	hearing              prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := promauto.With(reg)
	messages := f.NewCounterVec(prometheus.CounterOpts{
		Name: "live_messages_total",
		Help: "Messages by which processes wake each other's streams: in, out, or lost on the way out.",
	}, []string{"way"})
	return metrics{
		in: messages.WithLabelValues("in"), out: messages.WithLabelValues("out"), lost: messages.WithLabelValues("lost"),
		begun: f.NewCounter(prometheus.CounterOpts{
			Name: "live_subscriptions_total", Help: "How often this process has begun to listen; more than once means again.",
		}),
		hearing: f.NewGauge(prometheus.GaugeOpts{
			Name: "live_hearing", Help: "1 while this process hears what others have changed; otherwise its streams only look.",
		}),
	}
}
