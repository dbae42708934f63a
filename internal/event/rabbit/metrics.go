package rabbit

import (
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/telemetry"
)

// Metrics are the metrics of the broker connections. The role is publisher or consumer. The gauges reflect the latest
// connection of the process.
type Metrics struct {
	connected *prometheus.GaugeVec
	blocked   *prometheus.GaugeVec
	lost      *prometheus.CounterVec
	differing *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg; if reg is nil they are not exported.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	return &Metrics{
		connected: f.Gauges("rabbit_connected", "1 while the connection to the broker is up, by role.", "role"),
		blocked:   f.Gauges("rabbit_blocked", "1 while the broker blocks publishers.", "role"),
		lost:      f.Counters("rabbit_connection_lost_total", "Lost connections to the broker.", "role"),
		differing: f.Gauges("rabbit_queue_differs", "1 if the queue exists with other arguments than Comanda declares.", "queue"),
	}
}
