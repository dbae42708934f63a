package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"comanda/internal/bench/load"
	"comanda/internal/keyspace"
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
	if s.History != nil && s.RedisURL != "" { // the embedded server keeps no documents
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
		step{"refusals and menus beside the echo", s.besideEcho})
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

// Config describes the measurements. Target, Tokens and DatabaseURL are required. The zero value of a field with a default
// stands for the default.
type Config struct {
	Target string   // base URL of the running server, on this machine, started without limits
	PID    int      // process id of the server; 0: unknown, so its CPU time and memory are not reported
	Tokens []string // QR tokens of a branch with quotas and a sold-out dish, as Seed returns them

	OptionTokens []string // QR tokens of a branch with options, as SeedOptions returns them; if empty, options are not measured

	Members []Login // one connection each; if empty, member requests are not measured

	VNPay Site // without a TmnCode, payment notifications are not measured

	ServiceToken string // the server's; without it reservations are not measured

	DatabaseURL string             // the server's, with the right to create a schema
	RedisURL    string             // the server's; empty: the embedded store, for the raw measurement too
	Namespace   keyspace.Namespace // namespace of the server's keys

	Streams int           // live streams to measure, at most MaxStreams; 0: none
	Idle    time.Duration // time without changes with and without streams; default 30 s, in which every stream polls once

	History *History // the orders that FillHistory has written into the database; nil: none

	// Echo is the base URL of an EchoHandler server in its own process; empty: the server runs in this process. It
	// should run in its own process like the product, because one Go runtime schedules client and server together at a
	// lower cost than two.
	Echo string

	// Floor is the base URL of a ServeFloor process and FloorPID its process id; empty: it runs in this process.
	Floor    string
	FloorPID int

	// OnlyParts measures nothing but the parts of an order. Debug is then the base URL of the server's profiles.
	OnlyParts bool
	Debug     string

	Duration time.Duration // length of each measurement, after a warm-up of a quarter; default 5 s
	Conns    []int         // numbers of connections; default 64, 128, 256, 512
	Rounds   int           // minimum number of rounds that compare checkouts with orders, and maximum of profiles; default 24
	Progress func(step, steps int, name string)
}

// Limits of a run. They keep a mistyped number from occupying a machine for hours: every load is one measurement. After two
// seconds of warm-up all connections, prepared statements and caches are in use.
const (
	minDuration = 10 * time.Millisecond
	maxDuration = time.Minute
	maxLoads    = 16
	maxWarmup   = 2 * time.Second
)

// withDefaults returns a copy with all defaults. The numbers of connections double, which shows where throughput stops
// growing.
func (c Config) withDefaults() Config {
	if c.Duration == 0 {
		c.Duration = 5 * time.Second
	}
	if len(c.Conns) == 0 {
		c.Conns = []int{64, 128, 256, 512}
	}
	if c.Rounds == 0 {
		c.Rounds = leastRounds
	}
	if c.Idle == 0 {
		c.Idle = 30 * time.Second
	}
	if c.Progress == nil {
		c.Progress = func(int, int, string) {}
	}
	return c
}

// ValidateDuration returns an error unless a measurement may take that long.
func ValidateDuration(d time.Duration) error {
	if d < minDuration || d > maxDuration {
		return fmt.Errorf("bench: a measurement takes %s to %s, not %s", minDuration, maxDuration, d)
	}
	return nil
}

// Validate returns an error if the configuration is invalid. It makes no connections.
func (c Config) Validate() error {
	c = c.withDefaults()
	if _, err := load.ParseTarget(c.Target); err != nil {
		return err
	}
	if _, err := load.ParseTarget(c.Echo); c.Echo != "" && err != nil {
		return err
	}
	if _, err := load.ParseTarget(c.Floor); c.Floor != "" && err != nil {
		return err
	}
	if err := ValidateDuration(c.Duration); err != nil {
		return err
	}
	switch {
	case len(c.Tokens) == 0 || c.DatabaseURL == "":
		return errors.New("bench: the server's database and QR tokens are needed")
	case len(c.Conns) > maxLoads || slices.Min(c.Conns) < 1 || slices.Max(c.Conns) > load.MaxConns:
		return fmt.Errorf("bench: up to %d loads of 1 to %d connections can be measured", maxLoads, load.MaxConns)
	case c.Streams < 0 || c.Streams > MaxStreams:
		return fmt.Errorf("bench: 0 to %d live streams can be measured, not %d", MaxStreams, c.Streams)
	}
	return nil
}

// warmup returns the time before each measurement in which nothing is counted.
func (c Config) warmup() time.Duration { return min(c.Duration/4, maxWarmup) }
