package rabbit

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the figures of the connections to the broker. The role is publisher or consumer; a gauge says what the
// latest connection of the process knew.
type Metrics struct {
	connected *prometheus.GaugeVec
	blocked   *prometheus.GaugeVec
	lost      *prometheus.CounterVec
	differing *prometheus.GaugeVec
}

// NewMetrics registers the figures; without a registry they are only counted.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		connected: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rabbit_connected", Help: "Whether the broker is connected, by what the connection is for.",
		}, []string{"role"}),
		blocked: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rabbit_blocked", Help: "Whether the broker blocks publishers.",
		}, []string{"role"}),
		lost: f.NewCounterVec(prometheus.CounterOpts{
			Name: "rabbit_connection_lost_total", Help: "Connections that ended without our will.",
		}, []string{"role"}),
		differing: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rabbit_queue_differs", Help: "Whether a queue exists with other arguments than ours.",
		}, []string{"queue"}),
	}
}

// number writes a condition as a gauge shows it.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
