package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Factory registers metrics by name and help text; the names of labels follow where there are several series. A second
// registration of a name panics, because two packages would overwrite each other's figures.
type Factory struct{ auto promauto.Factory }

// Metrics returns the factory of a registry. If reg is nil, its metrics count but are not exported. To add a
// constant label to all metrics of a factory, wrap the registry with prometheus.WrapRegistererWith.
func Metrics(reg prometheus.Registerer) Factory { return Factory{promauto.With(reg)} }

// Counter registers a counter without labels.
func (f Factory) Counter(name, help string) prometheus.Counter {
	return f.auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// Counters registers a counter with labels.
func (f Factory) Counters(name, help string, labels ...string) *prometheus.CounterVec {
	return f.auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Counting registers a counter with one label and returns the function that adds one. It creates the series of the
// known values at once, so that an alert finds them before the first event.
func (f Factory) Counting(name, help, label string, known ...string) func(value string) {
	counters := f.Counters(name, help, label)
	for _, value := range known {
		counters.WithLabelValues(value)
	}
	return func(value string) { counters.WithLabelValues(value).Inc() }
}

// CounterFunc registers a counter that is read when it is scraped.
func (f Factory) CounterFunc(name, help string, value func() float64) {
	f.auto.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value)
}

// Gauge registers a gauge without labels.
func (f Factory) Gauge(name, help string) prometheus.Gauge {
	return f.auto.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// Gauges registers a gauge with labels.
func (f Factory) Gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// GaugeFunc registers a gauge that is read when it is scraped.
func (f Factory) GaugeFunc(name, help string, value func() float64) {
	f.auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// Histogram registers a histogram of durations without labels.
func (f Factory) Histogram(name, help string) prometheus.Histogram {
	return f.auto.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: Buckets})
}

// Histograms registers a histogram with labels and with the upper bounds of its buckets.
func (f Factory) Histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.auto.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Truth returns 1 for true and 0 for false, the values of gauges that show a state.
func Truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
