package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"

	"comanda/internal/bench/load"
)

// ask runs one measurement against the product. All measurements have the same duration and warm-up, so their results can be
// compared.
func (s *session) ask(ctx context.Context, p load.Plan) (Load, error) {
	p.Target, p.Warmup, p.Duration = s.target, s.warmup(), s.Duration
	r, err := load.Run(ctx, p)
	if err != nil {
		return Load{}, err
	}
	return loadOf(r, p.Rate), nil
}

// ordering returns a plan that orders dishes that are not sold out.
func (s *session) ordering(conns int, items []string) load.Plan {
	return s.product.ordering(conns, items)
}

// ordering returns a plan that orders dishes.
func (p *product) ordering(conns int, items []string) load.Plan {
	name := run()
	return load.Plan{Conns: conns, Want: http.StatusCreated, Requests: func(conn int) func() []byte {
		return p.orders(name, conn, items)
	}}
}

// orders measures one load, with the CPU cost per order including deferred work.
func (s *session) orders(ctx context.Context, conns int) error {
	startMillis := s.db.Now().UnixMilli()
	metrics, costs := s.product.scrape(ctx), s.cpuUsage(ctx)
	l, err := s.ask(ctx, s.ordering(conns, s.product.items))
	if err != nil {
		return err
	}
	if l.PerSecond == 0 {
		return fmt.Errorf("no order was accepted: %s", l.failures())
	}
	o := OrderLoad{Load: l, Drain: s.settle(ctx).Seconds()}
	later := s.cpuUsage(ctx)
	o.Batches = admissionBatches(metrics, s.product.scrape(ctx))
	placed, batches, err := s.countHolds(ctx, startMillis)
	if err != nil {
		return err
	}
	if batches > 0 {
		o.Batches.Commit = float64(placed) / float64(batches)
		o.CPU = costs.each(later, placed)
	}
	s.report.Orders = append(s.report.Orders, o)
	return nil
}

// memory compares Redis before the first order with Redis after the last one.
func (s *session) memory(ctx context.Context) error {
	s.report.Memory.LoadedRSS = rss(s.PID)
	f, err := s.askRedis(ctx)
	if err != nil || f.used == 0 {
		return err
	}
	holds, _, err := s.countHolds(ctx, 0)
	if n := holds - s.holds; err == nil && n > 0 {
		s.report.Memory.HoldKey, s.report.Memory.Hold = f.key, float64(f.used-s.before.used)/float64(n)
	}
	return err
}

// The load of reports beside orders at half speed: some consoles that reload faster than people do.
const (
	reportConns = 4
	reportRate  = 100
	reportDates = 365 // before the current business date
)

// half paces orders at half of the best rate: latency at full speed shows only the length of the queue. Meanwhile managers
// read the sales of a year up to the current business date, which every order changes.
func (s *session) half(ctx context.Context) error {
	best := s.report.Best()
	plan := s.ordering(best.Conns, s.product.items)
	plan.Rate = max(1, math.Round(best.PerSecond/2))
	var g errgroup.Group
	g.Go(func() (err error) {
		s.report.Half, err = s.ask(ctx, plan)
		return err
	})
	if s.ServiceToken != "" {
		g.Go(func() error {
			text, err := s.product.salesReport("Bearer " + s.ServiceToken)
			if err != nil {
				return err
			}
			l, err := s.ask(ctx, load.Plan{
				Conns: reportConns, Rate: reportRate, Want: http.StatusOK, Requests: func(int) func() []byte { return same(text) },
			})
			s.report.Sales = &l
			return err
		})
	}
	err := g.Wait()
	s.settle(ctx)
	return err
}

// salesReport returns a request for the sales by business date of a year.
func (p *product) salesReport(authorization string) ([]byte, error) {
	last, err := time.Parse(time.DateOnly, p.bizDate)
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("/api/reports/sales-days?branchId=%d&from=%s&to=%s", p.branch,
		last.AddDate(0, 0, -reportDates).Format(time.DateOnly), p.bizDate)
	return p.target.Request(http.MethodGet, path, "", "Authorization", authorization), nil
}

// scripts measures the admission scripts with the batch sizes that the product reached, because larger batches are
// cheaper per order.
func (s *session) scripts(ctx context.Context) (err error) {
	sizes := s.report.Best().Batches
	if sizes.Try == 0 || sizes.Held == 0 { // metrics unavailable; assume the batch size of commits
		sizes.Try, sizes.Held = sizes.Commit, sizes.Commit
	}
	s.report.Limits.Script, err = scriptLimit(ctx, s.Config, sizes)
	return err
}

// commits measures the ledger's rows with the batch size of the best load. The scratch database is dropped also after
// an error.
func (s *session) commits(ctx context.Context) (err error) {
	own, drop, err := scratch(ctx, s.db, s.DatabaseURL)
	if err != nil {
		return err
	}
	best := s.report.Best()
	batch := max(1, int(math.Round(best.Batches.Commit)))
	s.report.Limits.Commit, err = commitLimit(ctx, own, batch, s.warmup(), s.Duration)
	s.report.Limits.imply(best.PerSecond)
	if dropped := drop(); err == nil {
		err = dropped
	}
	return err
}

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
