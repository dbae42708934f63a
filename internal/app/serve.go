package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog/catalogsql"
	"comanda/internal/demo"
	"comanda/internal/event/bus"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/event/rabbit"
	"comanda/internal/httpapi"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
	"comanda/internal/worker"
)

// ProcessRole is a part of the work that a process may do.
type ProcessRole string

// The roles. Any number of processes may have each.
const (
	API    ProcessRole = "api"    // serves HTTP
	Worker ProcessRole = "worker" // expires orders, closes visits, runs periodic work
	Relay  ProcessRole = "relay"  // publishes and consumes events, and expires reservations of other systems
)

// ParseRoles parses a list such as "api,worker". "all" and an empty list mean every role.
func ParseRoles(list string) ([]ProcessRole, error) {
	if list == "" || list == "all" {
		return []ProcessRole{API, Worker, Relay}, nil
	}
	var roles []ProcessRole
	for name := range strings.SplitSeq(list, ",") {
		r := ProcessRole(strings.TrimSpace(name))
		if r != API && r != Worker && r != Relay {
			return nil, fmt.Errorf("%q is not a role: api, worker, relay", name)
		}
		roles = append(roles, r)
	}
	return roles, nil
}

// ServeOptions are the options of Serve.
type ServeOptions struct {
	Roles []ProcessRole
	Demo  bool
	Out   io.Writer // receives the printed links
	Log   io.Writer
}

// stopTimeout is how long a stopping process may take, after the drain delay, to answer requests and finish queued
// work.
const stopTimeout = 20 * time.Second

// Serve runs a process until ctx ends or it fails. It returns nil after an orderly stop. A failure of the listener
// stops the process in the same order as a signal.
func Serve(ctx context.Context, c Config, o ServeOptions) error {
	if o.Demo {
		var err error
		if c, err = c.WithDemo(); err != nil {
			return err
		}
		if err := validateDemoPassword(); err != nil {
			return err
		}
	}
	// The buffer is closed last, so that the log records of the stop are written.
	buffer := telemetry.NewBuffer(o.Log)
	defer func() { _ = buffer.Close() }()
	log, err := telemetry.NewLogger(buffer, c.Log)
	if err != nil {
		return err
	}
	p, err := start(ctx, c, o, log)
	if err != nil {
		if ctx.Err() != nil { // the process was stopped while starting, which explains any failure
			log.Info("stopped before the start", "err", err)
			return nil
		}
		return err
	}
	// The start needs several times the memory that the server keeps, most of it to hash the demo's passwords. The runtime
	// would return it over minutes.
	releaseMemory()
	var failed <-chan error
	if p.server != nil {
		failed = p.server.Failed()
	}
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case err = <-failed:
		log.Error("the server failed", "err", err)
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.DrainDelay+stopTimeout)
	defer cancel()
	return errors.Join(err, p.stop(stopping))
}

// process is a running process with the resources that it has opened, in the order of opening.
type process struct {
	core     *Core // nil if the schema is too new
	schema   *schemaGuard
	server   *httpapi.Server // nil without the role
	registry prometheus.Collector
	group    *worker.Group
	close    []func()
}

// start opens everything in the order of dependencies and registers the end of each with onStop. If a step fails, it
// closes what is open.
func start(ctx context.Context, c Config, o ServeOptions, log *slog.Logger) (_ *process, err error) {
	p := &process{}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	build := telemetry.ReadBuild()
	reg := telemetry.NewRegistry(build)
	p.registry = reg
	log.Info("starting", "version", build.Version, "revision", build.Revision, "roles", o.Roles, "settings", c.Redacted())
	db, err := p.database(ctx, c)
	if err != nil {
		return nil, err
	}
	p.schema = &schemaGuard{db: db, log: log}
	if err := p.schema.check(ctx); err != nil {
		return nil, err
	}
	if p.schema.refusal() != nil {
		return p, p.refuse(ctx, c, o, build, log)
	}
	if o.Demo {
		if err := demo.Load(ctx, db); err != nil {
			return nil, err
		}
	}
	// Slugs are assigned before any service caches a branch.
	if err := catalogsql.New(db, nil).AssignSlugs(ctx, db.Now()); err != nil {
		return nil, err
	}
	rc, err := c.redis(log, reg)
	if err != nil {
		return nil, err
	}
	redis, err := redisdb.Open(ctx, rc)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "listen" && op.Net == "tcp" {
		return nil, listenError("COMANDA_REDIS_LISTEN", op)
	}
	if err != nil {
		return nil, err
	}
	p.onStop(redis.Close)
	gateways, err := openGateways(ctx, c, db)
	if err != nil {
		return nil, err
	}
	p.onStop(gateways.Close)
	p.core, err = NewCore(ctx, Deps{
		Config: c, DB: db, Redis: redis, Log: log, Metrics: reg, Gateways: gateways,
		Process: c.aboutProcess(build, o.Roles, db.Now()),
	})
	if err != nil {
		return nil, err
	}
	p.onStop(p.core.Close)
	// The cache is invalidated before the loops run, so that they rebuild it instead of trusting it.
	if err := p.core.invalidateCache(ctx); err != nil {
		return nil, err
	}
	services, err := p.services(c, o, log, reg, build)
	if err != nil {
		return nil, err
	}
	return p, p.begin(ctx, o, reg, services)
}

// begin makes the process ready and starts its services.
func (p *process) begin(
	ctx context.Context, o ServeOptions, reg *prometheus.Registry, services []worker.Service,
) error {
	if p.server != nil {
		if err := p.core.syncPermissions(ctx, p.server, reg); err != nil {
			return err
		}
	}
	var accounts strings.Builder
	if o.Demo && p.server != nil && o.Out != nil { // before /readyz answers, so that they can log in when it does
		if err := p.core.createDemoUsers(ctx, &accounts); err != nil {
			return err
		}
	}
	p.group = worker.NewGroup(services...)
	// The services must outlive ctx, which ends with the signal: stop ends them in order.
	if err := p.group.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	p.core.announce(ctx, p.core.house.Load().config, o, p.server, accounts.String())
	return nil
}

// database opens and migrates the database. It refuses a server that is too old, or that does not wait for the disk.
func (p *process) database(ctx context.Context, c Config) (*sqldb.DB, error) {
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return nil, err
	}
	unlock, err := sqldb.LockServer(c.DatabaseURL)
	if err != nil {
		db.Close()
		return nil, err
	}
	// In reverse order: the next server must not open the file before this one has closed it.
	p.onStop(unlock)
	p.onStop(db.Close)
	if _, err := db.Version(ctx); err != nil {
		return nil, err
	}
	if err := db.Durable(ctx); err != nil {
		return nil, err
	}
	return db, db.Migrate(ctx)
}

// services returns the services in starting order; they stop in reverse.
func (p *process) services(
	c Config, o ServeOptions, log *slog.Logger, reg *prometheus.Registry, build telemetry.Build,
) ([]worker.Service, error) {
	jobs := worker.NewMetrics(reg)
	add := func(all []worker.Service, loops ...worker.Loop) []worker.Service {
		for _, l := range loops {
			all = append(all, worker.New(p.schema.guarded(l), log, jobs))
		}
		return all
	}
	var services []worker.Service
	if c.DebugListen != "" {
		services = append(services, &debugServer{listen: c.DebugListen})
	}
	// The clock starts first: until it is settled, other loops skip their rounds. A detected step wakes it.
	measuring := worker.New(p.core.clockLoop(), log, jobs)
	p.core.DB.Clock().MoveWith(p.core.moveDeadlines)
	p.core.DB.Clock().Watch(log, measuring.Wake)
	services = append(services, measuring)
	// Every process that may commit orders updates the admission cache. Every process that consumes from the broker
	// may start a round of the sweeper.
	syncers := add(nil, p.core.syncerLoops()...)
	wakeSyncer(p.core.Redis, syncers)
	services = append(services, syncers...)
	services = append(services, worker.New(p.schema.loop(), log, jobs))
	services = add(services, p.core.commonLoops()...)
	sweeper := worker.New(p.schema.guarded(whenReliable(p.core.DB.Clock(), p.core.sweeper())), log, jobs)
	if slices.Contains(o.Roles, Worker) {
		services = append(services, sweeper)
		services = add(services, p.core.workLoops(log, reg)...)
	}
	broker, err := p.relay(c, o, log, reg, sweeper, add)
	if err != nil {
		return nil, err
	}
	services = append(services, broker...)
	if !slices.Contains(o.Roles, API) {
		return services, nil
	}
	services = add(append(services, lastWrites{p.core}), p.core.requestLoops()...)
	if p.server, err = p.core.newServer(build.Version, log, reg); err != nil {
		return nil, err
	}
	p.schema.watch(p.server)
	// The server starts last and stops first, so that no request finds a stopped loop.
	return append(services, publicServer{p.server}), nil
}

// wakeSyncer runs the admission cache's loops at once when Redis is back or was replaced.
func wakeSyncer(redis *redisdb.DB, loops []worker.Service) {
	redis.OnChange(func(redisdb.Change) {
		for _, s := range loops {
			if w, ok := s.(*worker.Worker); ok {
				w.Wake()
			}
		}
	})
}

// relay returns the services that move events: to RabbitMQ if it is configured, else to the consumers in this process.
// The process that consumes messages of other systems also expires their reservations, because only this process can
// detect that it has received all of them.
func (p *process) relay(
	c Config, o ServeOptions, log *slog.Logger, reg *prometheus.Registry, sweeper *worker.Worker,
	add func([]worker.Service, ...worker.Loop) []worker.Service,
) ([]worker.Service, error) {
	if !slices.Contains(o.Roles, Relay) {
		return nil, nil
	}
	in := inbox.New(p.core.DB, inbox.Options{Log: log, Metrics: inbox.NewMetrics(reg)})
	options := outbox.Options{Log: log, Metrics: outbox.NewMetrics(reg)}
	if c.AMQPURL == "" {
		local, err := bus.New(in, p.core.consumers()...)
		if err != nil {
			return nil, err
		}
		// Without a broker no confirmation can be delayed in a queue, so reservations may expire at once.
		now := make(chan struct{})
		close(now)
		return add(nil, relayLoop(outbox.New(p.core.DB, local, options)), p.core.reservations(now)), nil
	}
	// The stored payment window is used, because it is an argument of the queues.
	rc := p.core.house.Load().config.rabbit(p.core.consumers(), log, rabbit.NewMetrics(reg))
	publisher, err := rabbit.NewPublisher(rc)
	if err != nil {
		return nil, err
	}
	p.onStop(publisher.Close)
	consumers, err := rabbit.NewConsumers(rc, in, sweeper.Wake)
	if err != nil {
		return nil, err
	}
	return add(nil, relayLoop(outbox.New(p.core.DB, publisher, options)), consumers.Loop(),
		p.core.reservations(consumers.CaughtUp())), nil
}

func (c Config) rabbit(consumers []inbox.Consumer, log *slog.Logger, m *rabbit.Metrics) rabbit.Config {
	return rabbit.Config{
		URL: c.AMQPURL, Prefix: c.AMQPPrefix, StockExchange: c.StockExchange, PaymentWindow: c.PaymentWindow,
		Consumers: consumers, Log: log, Metrics: m,
	}
}

// onStop registers a function that release calls. Functions are called in reverse order.
func (p *process) onStop(f func()) { p.close = append(p.close, f) }

// stop stops the services in reverse order. If ctx ends first, the connections are closed nevertheless; the next
// process finds unfinished work in SQL.
func (p *process) stop(ctx context.Context) error {
	err := p.group.Stop(ctx)
	p.release()
	return err
}

// release closes what start has opened. A second call does nothing.
func (p *process) release() {
	for _, f := range slices.Backward(p.close) {
		f()
	}
	p.close = nil
}
