package bench

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"time"

	"comanda/internal/bench/load"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

// session is the state of one run.
type session struct {
	Config
	target  load.Target
	db      *sqldb.DB
	redis   *redisdb.DB // nil for an embedded store
	product *product
	report  Report

	before redisFigures // figures before the first load
	holds  int64        // holds of the day before the first load
}

// Run performs all measurements. Between measurements it fills carts, places orders to be paid and waits until the
// server has processed them: with 4 s per measurement it takes about four minutes. After an error the report contains
// the measurements that were completed.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	s := &session{Config: c.withDefaults()}
	s.report = Report{At: time.Now().UTC(), Machine: machine(), Seconds: s.Duration.Seconds()}
	if s.History != nil {
		s.report.History = new(*s.History)
	}
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

// steps returns the measurements. The product comes first, because the raw limits use the batch sizes that it reached.
func (s *session) steps() []step {
	var all []step
	if s.History != nil {
		all = append(all, step{"documents of the history", s.waitDocuments})
	}
	all = append(all, step{"preparation", s.prepare})
	if s.OnlyParts {
		return append(all, step{"parts of an order", s.parts})
	}
	for _, n := range s.Conns {
		all = append(all, step{fmt.Sprintf("orders at %d connections", n), func(ctx context.Context) error {
			return s.orders(ctx, n)
		}})
	}
	all = append(all,
		step{"memory of a hold", s.memory},
		step{"orders at half of the best load", s.half},
		step{"refusals", s.refusals},
		step{"menus", s.menus})
	if len(s.OptionTokens) > 0 {
		all = append(all, step{"orders with options", s.options})
	}
	if len(s.Members) > 0 {
		all = append(all, step{"members log in", s.enterMembers}, step{"carts and checkouts", s.members})
	}
	if s.VNPay.TmnCode != "" {
		all = append(all, step{"reports of payments", s.notices})
	}
	if s.ServiceToken != "" {
		all = append(all, step{"reservations", s.reservations})
	}
	if s.Streams > 0 {
		all = append(all, step{fmt.Sprintf("%d live streams", s.Streams), s.streams})
	}
	return append(all,
		step{"limit: echo", s.echo},
		step{"limit: scripts", s.scripts},
		step{"limit: commits", s.commits},
		step{"limit: floor", s.floor},
	)
}

// open connects to the server's stores, and refuses a database that acknowledges commits before they are on disk: its
// figures would mean nothing.
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

// close may be called after an open that failed half-way.
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

// usualConns is the number of connections of members and payment notifications, unless fewer connections place orders.
const usualConns = 256

// prepare enters the restaurant and notes the figures from which growth is computed. It has as many guests as
// connections, so that no guest orders on two of them.
func (s *session) prepare(ctx context.Context) (err error) {
	s.product, err = openTables(ctx, s.target, s.Tokens, slices.Max(s.Conns))
	if err != nil {
		return err
	}
	s.product.conns = min(usualConns, slices.Max(s.Conns))
	s.settle(ctx)
	if s.before, err = s.askRedis(ctx); err != nil {
		return err
	}
	s.holds, _, err = s.countHolds(ctx, 0)
	return err
}

var (
	//go:embed *.sql sql/*.sql
	files embed.FS
	//go:embed lua/*.lua
	scripts embed.FS

	stmts         = sqldb.Load(files)
	measureScript = redisdb.MustScript(scripts, "lua/measure.lua")
)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must
