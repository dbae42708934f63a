package worker

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/telemetry"
)

// Metrics are the metrics of all loops of a process; the label job is the loop's name. A loop's name is a label, so
// names must come from a small fixed set. The time of the last success uses the clock of the machine (decision 34).
type Metrics struct {
	runs, errors, panics *prometheus.CounterVec
	success              *prometheus.GaugeVec
	duration             *prometheus.HistogramVec
}

// NewMetrics registers the metrics; call it once per registry.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f, label := promauto.With(reg), []string{"job"}
	counter := func(name, help string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, label)
	}
	return &Metrics{
		runs:   counter("job_runs_total", "Rounds of background jobs."),
		errors: counter("job_errors_total", "Rounds that failed, panics included."),
		panics: counter("job_panics_total", "Rounds that panicked: each is a defect."),
		success: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "job_last_success_timestamp_seconds", Help: "Time of the last successful round.",
		}, label),
		duration: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "job_duration_seconds", Help: "Duration of rounds.", Buckets: telemetry.Buckets,
		}, label),
	}
}

// loopMetrics are the series of one loop, looked up once.
type loopMetrics struct {
	runs, errors, panics prometheus.Counter
	success              prometheus.Gauge
	duration             prometheus.Observer
}

// of creates the series of a loop on construction, so that an alert on missing successes can distinguish "never
// succeeded" from "not running here".
func (m *Metrics) of(job string) loopMetrics {
	return loopMetrics{
		runs: m.runs.WithLabelValues(job), errors: m.errors.WithLabelValues(job), panics: m.panics.WithLabelValues(job),
		success: m.success.WithLabelValues(job), duration: m.duration.WithLabelValues(job),
	}
}
