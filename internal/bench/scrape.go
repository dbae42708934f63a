package bench

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Server metrics from which batch sizes of the admission cache are computed.
const (
	gateTries    = "gate_try_total"
	gateAdmitted = gateTries + `{answer="admitted"}`
	gateCold     = gateTries + `{answer="cold"}`
	gateApplied  = "gate_apply_total"
	tryCalls     = `redis_command_duration_seconds_count{cmd="try"}`
	applyCalls   = `redis_command_duration_seconds_count{cmd="apply"}`
)

// samples are metric values by series name in the exposition format.
type samples map[string]float64

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
	return parseSamples(io.LimitReader(res.Body, 8<<20))
}

// parseSamples parses lines of "series value"; label values of the series in use contain no spaces.
func parseSamples(r io.Reader) samples {
	all := samples{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		series, value, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			all[series] = v
		}
	}
	return all
}

// total sums all series of one metric.
func (s samples) total(name string) (sum float64) {
	for series, v := range s {
		if series == name || strings.HasPrefix(series, name+"{") {
			sum += v
		}
	}
	return sum
}

// gateBatches returns how many reservations shared a script call between two scrapes.
func gateBatches(before, after samples) (b Batches) {
	grown := func(series string) float64 { return after[series] - before[series] }
	if n := grown(tryCalls); n > 0 {
		b.Try = grown(gateAdmitted) / n
	}
	if n := grown(applyCalls); n > 0 {
		b.Held = (after.total(gateApplied) - before.total(gateApplied)) / n
	}
	if n := after.total(gateTries) - before.total(gateTries); n > 0 {
		b.Cold = grown(gateCold) / n
	}
	return b
}
