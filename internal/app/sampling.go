package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/document"
	"comanda/internal/telemetry"
)

// sampleInterval is the interval of checks for documents that Redis lost. A pass is followed by a pause of sampleRest
// times its duration and a rebuild by buildRest times, so that together they take less than a fifth of one connection's
// time, however many documents there are or slow the machine is. With 100,000 documents all sets are checked within the
// ten seconds after which a loss must be repaired.
const (
	sampleInterval = time.Second
	sampleRest     = 10
	buildRest      = 10
)

// sampleMetrics are the sampler's metrics.
type sampleMetrics struct {
	passes   *prometheus.CounterVec
	compared prometheus.Counter
	lost     *prometheus.CounterVec
	restored prometheus.Counter
	took     prometheus.Histogram
	evicting prometheus.Gauge
	evicted  prometheus.Gauge
}

// wireSampler adds metrics to the sampler and lets it read the servers' eviction counters.
func (k *Core) wireSampler(reg prometheus.Registerer) {
	f := promauto.With(reg)
	m := &sampleMetrics{
		passes: f.NewCounterVec(prometheus.CounterOpts{
			Name: "document_sample_total", Help: "Samples of documents in Redis, by result.",
		}, []string{"result"}),
		compared: f.NewCounter(prometheus.CounterOpts{
			Name: "document_sample_compared_total", Help: "Documents compared and sets counted by samples.",
		}),
		lost: f.NewCounterVec(prometheus.CounterOpts{
			Name: "document_lost_total", Help: "Differences between SQL and Redis found by samples, by kind.",
		}, []string{"kind"}),
		restored: f.NewCounter(prometheus.CounterOpts{
			Name: "document_restored_total", Help: "Documents restored because a sample found them incomplete.",
		}),
		took: f.NewHistogram(prometheus.HistogramOpts{
			Name: "document_sample_duration_seconds", Help: "Duration of samples, without repairs.", Buckets: telemetry.Buckets,
		}),
		evicting: f.NewGauge(prometheus.GaugeOpts{
			Name: "redis_evicting_servers", Help: "Redis masters whose maxmemory-policy is not noeviction.",
		}),
		evicted: f.NewGauge(prometheus.GaugeOpts{
			Name: "redis_evicted_keys", Help: "Keys evicted by Redis masters since their start.",
		}),
	}
	for _, result := range []string{sampleClean, sampleLost, sampleEvicted, sampleBehind} { // creates the series, for alerts
		m.passes.WithLabelValues(result)
	}
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "document_damaged", Help: "1 while lost documents are being restored and lists are read from SQL.",
	}, func() float64 {
		if k.Generation.Damaged() {
			return 1
		}
		return 0
	})
	k.Sampler.Evictions = func(ctx context.Context) (int64, error) {
		memory, err := k.Redis.Memory(ctx)
		if err == nil {
			m.evicting.Set(float64(len(memory.Evicting())))
			m.evicted.Set(float64(memory.Evicted))
		}
		return memory.Evicted, err
	}
	k.Sampler.Observe = func(ctx context.Context, s document.Sample) { m.observe(ctx, s, k.Log) }
}

// Results of a sample.
const (
	sampleClean   = "clean"
	sampleLost    = "lost"
	sampleEvicted = "evicted"
	sampleBehind  = "behind" // the projector is behind, so the sample is incomplete
)

// observe counts a sample and logs losses. A sample has one result; losses outrank evictions, and both outrank a
// projector that is behind.
func (m *sampleMetrics) observe(ctx context.Context, s document.Sample, log *slog.Logger) {
	result := sampleClean
	switch {
	case len(s.Lost) > 0:
		result = sampleLost
	case s.Evicted:
		result = sampleEvicted
	case s.Behind:
		result = sampleBehind
	}
	m.passes.WithLabelValues(result).Inc()
	m.compared.Add(float64(s.Documents + s.Sets))
	m.restored.Add(float64(s.Restored))
	m.took.Observe(s.Took.Seconds())
	var what []string // kinds only, because keys contain addresses
	for _, d := range s.Lost {
		m.lost.WithLabelValues(d.Kind).Inc()
		if w := d.Ref.Entity.Name + " " + d.Kind; !slices.Contains(what, w) {
			what = append(what, w)
		}
	}
	if len(s.Lost) > 0 || s.Evicted {
		log.WarnContext(ctx, "redis has lost keys of documents; they are restored", "differences", len(s.Lost),
			"kinds", strings.Join(what, ", "), "evictions", s.Evicted)
	}
}
