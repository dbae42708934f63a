package live

import (
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/telemetry"
)

// metrics counts messages and subscriptions. The series are looked up once, because every message counts here.
type metrics struct {
	in, out, lost, subscriptions prometheus.Counter
	subscribed                   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := telemetry.Metrics(reg)
	messages := f.Counters("live_messages_total",
		"Notifications between processes: received (in), sent (out), or not sent (lost).", "way")
	return metrics{
		in: messages.WithLabelValues("in"), out: messages.WithLabelValues("out"), lost: messages.WithLabelValues("lost"),
		subscriptions: f.Counter("live_subscriptions_total",
			"Subscriptions of this process to notifications; more than one means that it reconnected."),
		subscribed: f.Gauge("live_hearing",
			"1 while this process receives notifications of others; otherwise its streams only poll."),
	}
}
