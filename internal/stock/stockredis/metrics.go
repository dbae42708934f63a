package stockredis

import (
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/stock"
	"comanda/internal/telemetry"
)

var statusNames = map[stock.AdmissionStatus]string{
	stock.Cold: "cold", stock.Admitted: "admitted", stock.Duplicate: "duplicate", stock.Refused: "refused",
	stock.Mismatched: "conflict", stock.Ended: "terminal",
}

var outcomeNames = map[int64]string{1: "changed", 2: "same", 3: "opposite"}

type metrics struct {
	statuses map[stock.AdmissionStatus]prometheus.Counter // looked up once: every order counts here
	outcomes *prometheus.CounterVec
	unknown  prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := telemetry.Metrics(reg)
	try := f.Counters("gate_try_total", "Reservations requested from the admission cache, by its answer.", "answer")
	m := metrics{
		statuses: map[stock.AdmissionStatus]prometheus.Counter{},
		outcomes: f.Counters("gate_apply_total",
			"Operations from SQL applied to the admission cache. The outcome opposite is a disagreement with SQL.",
			"op", "outcome"),
		unknown: f.Counter("redis_epoch_mismatch_total",
			"Script calls that found their scope missing, incomplete or being rebuilt."),
	}
	for a, name := range statusNames {
		m.statuses[a] = try.WithLabelValues(name)
	}
	return m
}
