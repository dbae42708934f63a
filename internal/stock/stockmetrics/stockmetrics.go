// Package stockmetrics defines the metrics that every implementation of the admission cache exports.
package stockmetrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/stock"
	"comanda/internal/telemetry"
)

// Metrics counts the calls of an admission cache. It is safe for concurrent use.
type Metrics struct {
	statuses map[stock.AdmissionStatus]prometheus.Counter // created in advance, because every order is counted here
	outcomes *prometheus.CounterVec
	unknown  prometheus.Counter
}

// New registers the metrics; a nil registerer keeps them private.
func New(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	try := f.Counters("gate_try_total", "Reservations requested from the admission cache, by its answer.", "answer")
	m := &Metrics{
		statuses: map[stock.AdmissionStatus]prometheus.Counter{},
		outcomes: f.Counters("gate_apply_total",
			"Operations from SQL applied to the admission cache. The outcome opposite is a disagreement with SQL.",
			"op", "outcome"),
		unknown: f.Counter("redis_epoch_mismatch_total",
			"Calls that found their scope missing, incomplete or being rebuilt."),
	}
	for s := stock.Cold; s <= stock.Ended; s++ {
		m.statuses[s] = try.WithLabelValues(s.String())
	}
	return m
}

// Reserved counts an answer to a request for a provisional hold.
func (m *Metrics) Reserved(s stock.AdmissionStatus) { m.statuses[s].Inc() }

// Applied counts an applied operation by its effect.
func (m *Metrics) Applied(kind stock.OpKind, e stock.Effect) {
	m.outcomes.WithLabelValues(string(kind), e.String()).Inc()
}

// Unknown counts a call whose scope is unknown.
func (m *Metrics) Unknown() { m.unknown.Inc() }
