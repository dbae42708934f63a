package telemetry

import (
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Buckets are the upper bounds, in seconds, of all duration histograms, as OpenTelemetry recommends them for HTTP
// servers. One set makes the stages of a request comparable.
var Buckets = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// Build identifies the program's version.
type Build struct {
	Version   string // a release, or "devel"
	Revision  string // the commit, with "+dirty" when the tree had changes; empty when unknown
	GoVersion string
}

// version is set by the linker: -X comanda/internal/telemetry.version=v1.2.3.
var version = "devel"

// ReadBuild returns the build information that the compiler and the linker left in the binary. The binary of a test has
// no revision.
func ReadBuild() Build {
	b := Build{Version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.GoVersion = info.GoVersion
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Revision += "+dirty"
		}
	}
	return b
}

// NewRegistry returns a registry with the metrics of the Go runtime and of the process. Other packages register theirs
// through Metrics(registry). Each process and each test has its own: the global registry would refuse a second
// server in one process.
func NewRegistry(b Build) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "build_info",
		Help:        "Version, revision and Go version of the program; the value is always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "goversion": b.GoVersion},
	})
	info.Set(1)
	reg.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// MetricsHandler serves the registry to Prometheus. It limits concurrent and long scrapes, because a scrape takes
// memory and CPU from requests.
func MetricsHandler(reg *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		Registry: reg, MaxRequestsInFlight: 4, Timeout: 5 * time.Second,
	})
}

// Factory registers metrics by name and help text, followed by the names of labels if the metric has any. A second
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
