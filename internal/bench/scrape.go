package bench

import (
	"context"
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Server metrics from which batch sizes of the admission cache are computed.
const (
	admissionTries   = "gate_try_total"
	admissionApplied = "gate_apply_total"
	redisCalls       = "redis_command_duration_seconds"
)

// maxMetrics is several times the size of a server's metrics.
const maxMetrics = 8 << 20

// samples are metrics by name. A nil map has no metrics, and every count in it is 0.
type samples map[string]*dto.MetricFamily

// scrape reads the server's metrics. They only refine the report, so it returns none if they are unavailable.
func (p *product) scrape(ctx context.Context) samples {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.target.URL()+"/metrics", http.NoBody)
	if err != nil {
		return nil
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil
	}
	return parseSamples(io.LimitReader(res.Body, maxMetrics))
}

// parseSamples parses the text format of Prometheus.
func parseSamples(r io.Reader) samples {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, _ := parser.TextToMetricFamilies(r) // what it could read
	return all
}

// gather returns the metrics of this process.
func gather(reg *prometheus.Registry) samples {
	families, _ := reg.Gather() // what it could collect
	all := samples{}
	for _, f := range families {
		all[f.GetName()] = f
	}
	return all
}

// count sums a metric's counters, or its histograms' observations, that have the label; all of them without one.
func (s samples) count(name, label, value string) (sum float64) {
	for _, m := range s[name].GetMetric() {
		found := label == ""
		for _, l := range m.GetLabel() {
			found = found || l.GetName() == label && l.GetValue() == value
		}
		if found {
			sum += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// admissionBatches returns how many reservations shared a script call between two scrapes. A size is 0 if there were no
// calls, as with a server that has no admission cache or no metrics.
func admissionBatches(before, after samples) (b Batches) {
	grown := func(name, label, value string) float64 {
		return after.count(name, label, value) - before.count(name, label, value)
	}
	if n := grown(redisCalls, "cmd", "try"); n > 0 {
		b.Try = grown(admissionTries, "answer", "admitted") / n
	}
	if n := grown(redisCalls, "cmd", "apply"); n > 0 {
		b.Held = grown(admissionApplied, "", "") / n
	}
	if n := grown(admissionTries, "", ""); n > 0 {
		b.Cold = grown(admissionTries, "answer", "cold") / n
	}
	return b
}
