package telemetry

import (
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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
