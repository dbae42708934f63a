package bench

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"time"

	"comanda/internal/bench/load"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

// Waiting for the server between two measurements (B4).
const (
	settleLimit = 30 * time.Second
	settlePoll  = 20 * time.Millisecond
)

// session is one run: what is measured, what it is measured with, and what was found so far.
type session struct {
	Config
	target  load.Target
	db      *sqldb.DB
	redis   *redisdb.DB // nil where the server has its own store
	product *product
	report  Report

	usedBefore, holdsBefore int64 // of Redis and of the ledger, before the first load
}

// Run measures everything. It takes about fifteen times the configured duration.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	s := &session{Config: c.withDefaults()}
	s.report = Report{At: time.Now().UTC(), Machine: machine(), Seconds: s.Duration.Seconds()}
	defer s.close()
	if err := s.open(ctx); err != nil {
		return s.report, err
	}
	steps := s.steps()
	for i, step := range steps {
		s.Progress(i+1, len(steps), step.name)
		if err := step.do(ctx); err != nil {
			return s.report, fmt.Errorf("bench: %s: %w", step.name, err)
		}
	}
	return s.report, nil
}

type step struct {
	name string
	do   func(ctx context.Context) error
}

// steps begin with the product, because the raw limits are measured at the batch sizes that it has reached.
func (s *session) steps() []step {
	all := []step{{"preparation", s.prepare}}
	for _, n := range s.Conns {
		all = append(all, step{fmt.Sprintf("orders at %d connections", n), func(ctx context.Context) error { return s.orders(ctx, n) }})
	}
	return append(all,
		step{"memory of a hold", s.memory},
		step{"orders at half of the best load", s.half},
		step{"refusals", s.refusals},
		step{"menus", s.menus},
		step{"limit: echo", s.echo},
		step{"limit: scripts", s.scripts},
		step{"limit: commits", s.commits},
	)
}

func (s *session) open(ctx context.Context) (err error) {
	s.report.Memory.IdleRSS = rss(s.PID)
	if s.target, err = load.ParseTarget(s.Target); err != nil {
		return err
	}
	if s.db, err = sqldb.Open(ctx, sqldb.Config{URL: s.DatabaseURL, MaxConns: 2}); err != nil {
		return err
	}
	version, err := s.db.Version(ctx)
	if err != nil {
		return err
	}
	s.report.Database = fmt.Sprint(s.db.Engine(), " ", version)
	s.report.Redis = "in process"
	if s.RedisURL == "" {
		return s.db.Durable(ctx)
	}
	s.redis, err = redisdb.Open(ctx, redisdb.Config{URL: s.RedisURL, Namespace: s.Namespace, Timeout: rawPatient})
	if err != nil {
		return err
	}
	server, err := s.redis.Server(ctx)
	if err != nil {
		return err
	}
	s.report.Redis = fmt.Sprint(server.Mode, " ", server.Version)
	return s.db.Durable(ctx)
}

func (s *session) close() {
	if s.product != nil {
		s.product.close()
	}
	if s.redis != nil {
		s.redis.Close()
	}
	if s.db != nil {
		s.db.Close()
	}
}

func (s *session) prepare(ctx context.Context) (err error) {
	s.product, err = enter(ctx, s.target, s.Tokens, slices.Max(s.Conns))
	if err != nil {
		return err
	}
	s.settle(ctx)
	_, s.usedBefore, _ = s.measureRedis(ctx)
	s.holdsBefore, _, err = s.countHolds(ctx, 0)
	return err
}

// ask runs one measurement against the product or the echo.
func (s *session) ask(ctx context.Context, p load.Plan) (Load, error) {
	if p.Target == (load.Target{}) {
		p.Target = s.target
	}
	p.Warmup, p.Duration = s.warmup(), s.Duration
	r, err := load.Run(ctx, p)
	if err != nil {
		return Load{}, err
	}
	return loadOf(r, p.Rate), nil
}

// ordering makes orders of dishes that are not sold out.
func (s *session) ordering(conns int, items []string) load.Plan {
	name := run()
	return load.Plan{Conns: conns, Want: http.StatusCreated, Requests: func(conn int) func() []byte {
		return s.product.orders(name, conn, items)
	}}
}

// orders measures one load, with what an order costs until nothing of it is left to be done.
func (s *session) orders(ctx context.Context, conns int) error {
	began := s.db.Now().UnixMilli()
	metrics, costs := s.product.scrape(ctx), s.look(ctx)
	l, err := s.ask(ctx, s.ordering(conns, s.product.items))
	if err != nil {
		return err
	}
	o := OrderLoad{Load: l, Batches: gateBatches(metrics, s.product.scrape(ctx)), Drain: s.settle(ctx).Seconds()}
	placed, batches, err := s.countHolds(ctx, began)
	if err != nil {
		return err
	}
	if batches > 0 {
		o.Batches.Commit = float64(placed) / float64(batches)
		o.CPU = costs.each(s.look(ctx), placed)
	}
	s.report.Orders = append(s.report.Orders, o)
	return nil
}

// countHolds counts today's holds of the branch since an instant of the deciding clock, and the transactions they came in.
func (s *session) countHolds(ctx context.Context, since int64) (holds, batches int64, err error) {
	var branch int64
	if _, err := fmt.Sscan(s.product.branch, &branch); err != nil {
		return 0, 0, err
	}
	rows, err := s.db.Query(ctx, batchCount, branch, s.product.bizDate, since)
	n, _, err := sqldb.One(rows, err, func(r sqldb.Rows) (n [2]int64, err error) { return n, r.Scan(&n[0], &n[1]) })
	return n[0], n[1], err
}

// settle waits until the server has published and applied everything, and tells how long that took (B4). A server whose
// worker or relay runs elsewhere or not at all is waited for no longer than the limit.
func (s *session) settle(ctx context.Context) time.Duration {
	begin := time.Now()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for time.Since(begin) < settleLimit {
		rows, err := s.db.Query(ctx, backlogCheck)
		left, _, err := sqldb.One(rows, err, func(r sqldb.Rows) (n int64, err error) { return n, r.Scan(&n) })
		if err != nil || left == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return time.Since(begin)
		}
	}
	return time.Since(begin)
}

// memory compares Redis before the first order with Redis after the last.
func (s *session) memory(ctx context.Context) error {
	s.report.Memory.LoadedRSS = rss(s.PID)
	key, used, err := s.measureRedis(ctx)
	if err != nil || s.redis == nil {
		return err
	}
	holds, _, err := s.countHolds(ctx, 0)
	if n := holds - s.holdsBefore; err == nil && n > 0 {
		s.report.Memory.HoldKey, s.report.Memory.Hold = key, float64(used-s.usedBefore)/float64(n)
	}
	return err
}

func (s *session) half(ctx context.Context) (err error) {
	best := s.report.Best()
	plan := s.ordering(best.Conns, s.product.items)
	plan.Rate = max(1, math.Round(best.PerSecond/2))
	s.report.Half, err = s.ask(ctx, plan)
	s.settle(ctx)
	return err
}

func (s *session) refusals(ctx context.Context) (err error) {
	plan := s.ordering(s.report.Best().Conns, []string{s.product.soldOut})
	plan.Want = http.StatusConflict
	s.report.Refusals, err = s.ask(ctx, plan)
	return err
}

// menus are asked over the smallest number of connections: their bodies are large enough to fill the machine.
func (s *session) menus(ctx context.Context) error {
	if err := s.product.readMenu(ctx); err != nil { // the validator has changed with the orders
		return err
	}
	for _, m := range []struct {
		into    *Load
		want    int
		headers []string
	}{
		{&s.report.Menu, http.StatusOK, nil},
		{&s.report.Compressed, http.StatusOK, []string{"Accept-Encoding", "gzip"}},
		{&s.report.Unchanged, http.StatusNotModified, []string{"If-None-Match", s.product.etag}},
	} {
		l, err := s.ask(ctx, load.Plan{Conns: slices.Min(s.Conns), Want: m.want, Requests: s.product.menus(m.headers...)})
		if err != nil {
			return err
		}
		*m.into = l
	}
	return nil
}

func (s *session) echo(ctx context.Context) (err error) {
	base := s.Echo
	if base == "" {
		var stop func()
		if base, stop, err = serveEcho(ctx); err != nil {
			return err
		}
		defer stop()
	}
	plan := s.ordering(s.report.Best().Conns, s.product.items)
	if plan.Target, err = load.ParseTarget(base); err != nil {
		return err
	}
	s.report.Limits.Echo, err = s.ask(ctx, plan)
	return err
}

func (s *session) scripts(ctx context.Context) (err error) {
	sizes := s.report.Best().Batches
	if sizes.Try == 0 || sizes.Held == 0 { // the server does not tell; what shared a commit came as close together
		sizes.Try, sizes.Held = sizes.Commit, sizes.Commit
	}
	s.report.Limits.Script, err = scriptLimit(ctx, s.Config, sizes)
	return err
}

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

// measureRedis asks a Redis of its own what the last order's hold and everything take, and which process it is.
func (s *session) measureRedis(ctx context.Context) (key, used int64, err error) {
	n, err := s.askRedis(ctx)
	return n[0], n[1], err
}

func (s *session) askRedis(ctx context.Context) (n [3]int64, err error) {
	if s.redis == nil {
		return n, nil
	}
	var branch int64
	if _, err := fmt.Sscan(s.product.branch, &branch); err != nil {
		return n, err
	}
	record := keyspace.HoldRecord(branch, s.product.lastID)
	got, err := s.redis.Run(ctx, measureScript, []keyspace.Key{record}, nil).Ints()
	if err == nil && len(got) != len(n) {
		err = fmt.Errorf("the script gave %d figures", len(got))
	}
	copy(n[:], got)
	return n, err
}

// usage is what the processes have used at one moment.
type usage map[string]map[int]time.Duration

// look reads the processor time of everything that works for an order.
func (s *session) look(ctx context.Context) usage {
	groups := []group{{part: "generator", pids: []int{os.Getpid()}}}
	switch s.PID {
	case 0:
	case os.Getpid():
		groups[0].part = "generator and server"
	default:
		groups = append(groups, group{part: "server", pids: []int{s.PID}})
	}
	rows, err := s.db.Query(ctx, processList)
	pids, _ := sqldb.Collect(rows, err, func(r sqldb.Rows) (pid int, err error) { return pid, r.Scan(&pid) })
	groups = append(groups, group{part: "postgres", name: "postgres", pids: pids})
	if n, err := s.askRedis(ctx); err == nil && n[2] > 0 {
		groups = append(groups, group{part: "redis", pids: []int{int(n[2])}})
	}
	u := usage{}
	for _, g := range groups {
		if used, ok := g.cpu(); ok {
			u[g.part] = used
		}
	}
	return u
}

// each divides what was used since by a number of orders.
func (u usage) each(later usage, orders int64) []Cost {
	var costs []Cost
	for _, part := range []string{"server", "generator and server", "generator", "postgres", "redis"} {
		if used, ok := later[part]; ok && orders > 0 {
			costs = append(costs, Cost{part, float64(since(u[part], used).Microseconds()) / float64(orders)})
		}
	}
	return costs
}
