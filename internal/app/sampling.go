package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	pass     func(result string)
	compared prometheus.Counter
	lost     *prometheus.CounterVec
	restored prometheus.Counter
	took     prometheus.Histogram
	evicting prometheus.Gauge
	evicted  prometheus.Gauge
}

// wireSampler adds metrics to the sampler and lets it read the servers' eviction counters.
func (k *Core) wireSampler(reg prometheus.Registerer) {
	f := telemetry.Metrics(reg)
	m := &sampleMetrics{
		pass: f.Counting("document_sample_total", "Samples of documents in Redis, by result.", "result",
			sampleClean, sampleLost, sampleEvicted, sampleBehind),
		compared: f.Counter("document_sample_compared_total", "Documents compared and sets counted by samples."),
		lost:     f.Counters("document_lost_total", "Differences between SQL and Redis found by samples, by kind.", "kind"),
		restored: f.Counter("document_restored_total", "Documents restored because a sample found them incomplete."),
		took:     f.Histogram("document_sample_duration_seconds", "Duration of samples, without repairs."),
		evicting: f.Gauge("redis_evicting_servers", "Redis masters whose maxmemory-policy is not noeviction."),
		evicted:  f.Gauge("redis_evicted_keys", "Keys evicted by Redis masters since their start."),
	}
	f.GaugeFunc("document_damaged", "1 while lost documents are being restored and lists are read from SQL.",
		func() float64 { return telemetry.Truth(k.Generation.Damaged()) })
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
	m.pass(result)
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
