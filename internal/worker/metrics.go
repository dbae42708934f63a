package worker

import (
	"github.com/prometheus/client_golang/prometheus"

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
	f := telemetry.Metrics(reg)
	return &Metrics{
		runs:     f.Counters("job_runs_total", "Rounds of background jobs.", "job"),
		errors:   f.Counters("job_errors_total", "Rounds that failed, panics included.", "job"),
		panics:   f.Counters("job_panics_total", "Rounds that panicked: each is a defect.", "job"),
		success:  f.Gauges("job_last_success_timestamp_seconds", "Time of the last successful round.", "job"),
		duration: f.Histograms("job_duration_seconds", "Duration of rounds.", telemetry.Buckets, "job"),
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
