package app

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"comanda/internal/httpapi"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
	"comanda/internal/worker"
)

// schemaInterval is the interval of checks whether a later release has migrated the database.
const schemaInterval = 5 * time.Second

// schemaGuard stops a process that is too old for its database: its loops do nothing, and every request is answered 503
// schema_newer, until the process is replaced or the migration is reverted.
type schemaGuard struct {
	db    *sqldb.DB
	log   *slog.Logger
	newer atomic.Pointer[error]
}

// check reads the state of the schema.
func (g *schemaGuard) check(ctx context.Context) error {
	s, err := g.db.Schema(ctx)
	if err != nil {
		return err
	}
	refusal := s.Check()
	if refusal == nil {
		g.newer.Store(nil)
		return nil
	}
	// The state is logged once, and not every five seconds.
	if g.newer.Swap(&refusal) == nil {
		g.log.ErrorContext(ctx, "the database is too new for this binary", "err", refusal)
	}
	return nil
}

// refusal returns the reason why the process does nothing, or nil.
func (g *schemaGuard) refusal() error {
	if err := g.newer.Load(); err != nil {
		return *err
	}
	return nil
}

// loop returns the loop that repeats the check. It is not guarded itself, because it must detect a reverted migration.
func (g *schemaGuard) loop() worker.Loop {
	return worker.Loop{Name: "schema", Run: g.check, Every: schemaInterval, Timeout: 4 * time.Second, MaxPause: schemaInterval}
}

// guarded wraps a loop so that it does nothing while the schema is too new.
func (g *schemaGuard) guarded(l worker.Loop) worker.Loop {
	return skipping(l, func() bool { return g.newer.Load() != nil })
}

// watch makes a server refuse requests while the schema is too new.
func (g *schemaGuard) watch(s *httpapi.Server) {
	s.RefuseWhen(g.refusal)
	s.Check("schema", true, func(context.Context) error { return g.refusal() })
}

// refuse starts only the HTTP server, which answers every request with the reason until the process is replaced. A
// process without a server fails.
func (p *process) refuse(
	ctx context.Context, c Config, o ServeOptions, build telemetry.Build, log *slog.Logger,
) (err error) {
	if !slices.Contains(o.Roles, API) {
		return p.schema.refusal()
	}
	if p.server, err = httpapi.New(c.http(build.Version), log, telemetry.NewRegistry(build)); err != nil {
		return err
	}
	p.schema.watch(p.server)
	p.group = worker.NewGroup(p.server)
	return p.group.Start(context.WithoutCancel(ctx))
}
