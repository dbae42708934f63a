package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/ordering"
	"comanda/internal/stock"
	"comanda/internal/telemetry"
	"comanda/internal/visit"
)

// metrics is the figures of rooms that know no driver.
type metrics struct {
	created     *prometheus.CounterVec
	transitions *prometheus.CounterVec
	callbacks   *prometheus.CounterVec
	cold        prometheus.Counter
	doubted     prometheus.Counter
	buried      prometheus.Counter
	drift       prometheus.Gauge
	rebuilds    *prometheus.CounterVec
	rebuildTime prometheus.Histogram
	stuck       *prometheus.GaugeVec
	refundsDue  prometheus.Gauge
	refundAge   prometheus.Gauge
	opsPending  prometheus.Gauge
	opsAge      prometheus.Gauge
	clockOffset prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	f := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	count := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		created:     counter("order_created_total", "Requests to place an order, by what became of them.", "result"),
		transitions: counter("order_transition_total", "Orders that changed, by their new state and the cause.", "to", "cause"),
		callbacks:   counter("payment_callback_total", "Reports about payments, by method and result.", "method", "result"),
		cold:        count("reservation_cold_total", "Orders that went on without the gate."),
		doubted:     count("reservation_doubted_total", "Refusals of the gate that the ledger's counters did not bear out."),
		buried:      count("reservation_buried_total", "Leases that ended without an order."),
		drift:       gauge("reservation_drift_units", "Units by which the gate differed from the ledger at the last look."),
		rebuilds:    counter("redis_rebuild_total", "Rebuilds of a scope of the gate.", "result"),
		rebuildTime: f.NewHistogram(prometheus.HistogramOpts{
			Name: "redis_rebuild_duration_seconds", Help: "How long rebuilds took.", Buckets: telemetry.Buckets,
		}),
		stuck: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "payment_stuck", Help: "Payment attempts that somebody must look at, by state.",
		}, []string{"state"}),
		refundsDue:  gauge("refund_obligation_open", "Refunds that are not back yet."),
		refundAge:   gauge("refund_obligation_oldest_age_seconds", "Age of the oldest refund that is not back yet."),
		opsPending:  gauge("redis_outbox_pending", "Transactions that Redis has not taken in."),
		opsAge:      gauge("redis_outbox_oldest_age_seconds", "Age of the oldest transaction that Redis has not taken in."),
		clockOffset: gauge("clock_offset_seconds", "How far the deciding clock is ahead of this process's."),
	}
}

// counting is a counter as ordering knows it.
type counting struct{ *prometheus.CounterVec }

// Count adds one.
func (c counting) Count(labels ...string) { c.WithLabelValues(labels...).Inc() }

func (m *metrics) orders() *ordering.Metrics {
	return &ordering.Metrics{
		Created: counting{m.created}, Transition: counting{m.transitions}, Callback: counting{m.callbacks},
	}
}

func (m *metrics) gatekeeper() stock.Observer {
	return stock.Observer{
		Cold:    m.cold.Inc,
		Doubted: m.doubted.Inc,
		Buried:  func(n int) { m.buried.Add(float64(n)) },
		Drift:   func(units int64) { m.drift.Set(float64(units)) },
		Rebuilt: func(took time.Duration, err error) {
			result := "ok"
			if err != nil {
				result = "failed"
			}
			m.rebuilds.WithLabelValues(result).Inc()
			m.rebuildTime.Observe(took.Seconds())
		},
	}
}

// countScans gives what counts scans of tables' codes.
func countScans(reg prometheus.Registerer) func(result string) {
	scans := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "qr_exchange_total", Help: "Scans of tables' codes, by what became of them.",
	}, []string{"result"})
	for _, r := range visit.ScanResults() { // an alert finds the series before the first scan
		scans.WithLabelValues(r)
	}
	return func(result string) { scans.WithLabelValues(result).Inc() }
}
