package telemetry

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/testenv"
)

func TestRegistry_ServesBuildRuntimeAndOwnMetrics(t *testing.T) {
	reg := NewRegistry(Build{Version: "v1.2.3", Revision: "abc", GoVersion: "go1.26"})
	promauto.With(reg).NewCounter(prometheus.CounterOpts{Name: "orders_total", Help: "Orders."}).Add(3)

	w := testenv.Serve(t, MetricsHandler(reg), "GET", "/metrics", "")
	for _, want := range []string{
		`build_info{goversion="go1.26",revision="abc",version="v1.2.3"} 1`, "go_goroutines", "orders_total 3",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestReadBuild_compiler(t *testing.T) {
	if b := ReadBuild(); !strings.HasPrefix(b.GoVersion, "go1.") || b.Version == "" {
		t.Errorf("build %+v", b)
	}
}

func TestBuckets_Ascend(t *testing.T) {
	if !slices.IsSorted(Buckets) || Buckets[0] != 0.005 || Buckets[len(Buckets)-1] != 10 {
		t.Errorf("buckets %v", Buckets)
	}
}
