package rabbit

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
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
	f := promauto.With(reg)
	return &Metrics{
		connected: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rabbit_connected", Help: "1 while the connection to the broker is up, by role.",
		}, []string{"role"}),
		blocked: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rabbit_blocked", Help: "1 while the broker blocks publishers.",
		}, []string{"role"}),
		lost: f.NewCounterVec(prometheus.CounterOpts{
			Name: "rabbit_connection_lost_total", Help: "Lost connections to the broker.",
		}, []string{"role"}),
		differing: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rabbit_queue_differs", Help: "1 if the queue exists with other arguments than Comanda declares.",
		}, []string{"queue"}),
	}
}

// gaugeValue returns 1 for true and 0 for false.
func gaugeValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
