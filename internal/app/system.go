package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"comanda/internal/account"
	"comanda/internal/analytics"
	"comanda/internal/document"
	"comanda/internal/event/rabbit"
	"comanda/internal/keyspace"
	"comanda/internal/notice/noticesql"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordermail/ordermailsql"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/system"
	"comanda/internal/telemetry"
	"comanda/internal/visit"
)

// OpenSystem returns the operators' functions for a command beside running servers, and a function that ends them.
// redis is nil for commands that do not use it, and if it is embedded in a server that does not run. stop commits
// queued work; call it before the database is closed.
func OpenSystem(c Config, db *sqldb.DB, redis *redisdb.DB) (s *system.Service, stop func()) {
	tuneMemory()
	reservations := stocksql.NewReservations(db, noCache{}, db.Now)
	emails := ordermailsql.Queue{Now: db.Now, Sends: func(ctx context.Context) (bool, error) {
		stored, err := c.WithStored(ctx, db)
		return stored.SMTPURL != "", err
	}}
	flags := expiryFlags(db, func(ctx context.Context) (account.TrustRules, error) {
		stored, err := c.WithStored(ctx, db)
		return stored.trust(), err
	})
	// Bells of the running servers find the notices at their next poll.
	notices := noticesql.Consumer{Now: db.Now, Changed: func(...string) {}}
	consumers := Consumers(reservations, emails, flags, notices)
	return system.NewService(system.Config{DB: db, Redis: redis, Consumers: consumers}), reservations.Stop
}

// noCache is the admission cache of a command beside running servers: it does nothing, because the servers apply the
// changes that the command leaves in redis_outbox.
type noCache struct{}

func (noCache) EnqueueCommitted([]stock.OutboxEntry) {}

func (noCache) DrainApplied() []string { return nil }

// systemService returns the operators' functions of this process.
func (k *Core) systemService() *system.Service {
	c := system.Config{
		DB: k.DB, Redis: k.Redis, Consumers: k.consumers(), Process: k.process, Epoch: k.Generation.Epoch,
		NoDocuments: !k.keepsDocuments(),
	}
	if k.memory != nil {
		c.Cache = k.memory
	}
	return system.NewService(c)
}

// aboutProcess returns a process's information about itself.
func (c Config) aboutProcess(build telemetry.Build, roles []ProcessRole, startedAt time.Time) system.About {
	a := system.About{
		Version: build.Version, Revision: build.Revision, GoVersion: build.GoVersion, StartedAt: startedAt,
		Roles: seq.Map(roles, func(r ProcessRole) string { return string(r) }), Engines: system.Engines{Broker: "in process"},
	}
	if c.AMQPURL != "" {
		a.Engines.Broker = "rabbitmq"
	}
	return a
}

// Diagnosis is the results of all checks.
type Diagnosis struct {
	Build    telemetry.Build  `json:"build"`
	Settings []Shown          `json:"settings"`
	Findings []system.Finding `json:"findings"`
}

// Healthy reports whether every check passed.
func (d Diagnosis) Healthy() bool {
	return !slices.ContainsFunc(d.Findings, func(f system.Finding) bool { return !f.OK })
}

// Diagnose checks configuration, versions, connections and clocks. It changes nothing. It does not need a running
// server; an embedded Redis is then not checked.
func Diagnose(ctx context.Context, c Config) Diagnosis {
	connections := system.Connections{
		Database: func(ctx context.Context) (*sqldb.DB, error) { return OpenDatabase(ctx, c) },
		Redis:    func(ctx context.Context) (*redisdb.DB, error) { return AttachRedis(ctx, c) },
	}
	if c.AMQPURL != "" {
		consumers := Consumers(nil, ordermailsql.Queue{}, orderingsql.ExpiryFlags{}, noticesql.Consumer{})
		connections.Broker = new(c.rabbit(consumers, slog.New(slog.DiscardHandler), rabbit.NewMetrics(nil)))
	}
	return Diagnosis{
		Build: telemetry.ReadBuild(), Settings: c.Redacted(), Findings: system.Diagnose(ctx, connections),
	}
}

// rebuilders maps the names in declarations of keys to the functions that restore those keys: loops that search for
// missing keys, and readers that load a missing key from SQL and cache it. A test compares the two, so a declaration
// cannot name a function that does not exist.
var rebuilders = map[string]any{
	"stock.rebuild":           (*stock.Syncer).Reconcile,
	"visit.resolve":           (*visit.Guests).Resolve,
	"document.rebuild":        (*document.Sampler).RunOnce, // and document.Generation.Reconcile, if all are gone
	"account.authenticate":    (*account.Authenticator).Authenticate,
	"account.syncRevocations": (*account.Authenticator).SyncRevocations,
	"account.requestCode":     (*account.Service).RequestCode,
	"analytics.history":       (*analytics.Service).HistoryOf,
	"analytics.restoreDay":    (*analytics.Activity).Restore, // and the reader Members
	"analytics.rank":          (*analytics.Service).RankDays, // and RankWeeks, and the reader Top
}

// LintKeys lists the errors in the declarations of keys and channels.
func LintKeys() []string {
	ds := keyspace.Declarations()
	return append(lintKeys(ds), keyspace.LintChannels(keyspace.Channels(), ds)...)
}

// lintKeys also checks that every declared rebuilder exists in rebuilders.
func lintKeys(ds []keyspace.Decl) []string {
	found := append([]string{}, keyspace.Lint(ds)...)
	for _, d := range ds {
		if _, ok := rebuilders[d.Rebuild]; d.Rebuild != "" && !ok {
			found = append(found, d.Pattern+": nothing is called "+d.Rebuild)
		}
	}
	return found
}
