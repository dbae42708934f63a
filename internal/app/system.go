package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account"
	"comanda/internal/analytics"
	"comanda/internal/catalog"
	"comanda/internal/demo"
	"comanda/internal/document"
	"comanda/internal/event"
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

// Diagnosis contains the results of all checks.
type Diagnosis struct {
	Build    telemetry.Build  `json:"build"`
	Settings []Shown          `json:"settings"`
	Findings []system.Finding `json:"findings"`
}

// Healthy reports whether every check passed.
func (d Diagnosis) Healthy() bool {
	return !slices.ContainsFunc(d.Findings, func(f system.Finding) bool { return !f.OK })
}

// Diagnose checks configuration, versions, connections and clocks, and returns the settings in force, with those that the
// restaurant has stored. It changes nothing. It does not need a running server; an embedded Redis is then not checked.
func Diagnose(ctx context.Context, c Config) Diagnosis {
	connections := system.Connections{
		Database: func(ctx context.Context) (*sqldb.DB, error) { return OpenExisting(ctx, c) },
		Redis:    func(ctx context.Context) (*redisdb.DB, error) { return AttachRedis(ctx, c) },
	}
	if c.AMQPURL != "" {
		consumers := Consumers(nil, ordermailsql.Queue{}, orderingsql.ExpiryFlags{}, noticesql.Consumer{})
		connections.Broker = new(c.rabbit(consumers, slog.New(slog.DiscardHandler), rabbit.NewMetrics(nil)))
	}
	inForce, findings := c.diagnoseSettings(ctx)
	return Diagnosis{
		Build: telemetry.ReadBuild(), Settings: inForce.Redacted(),
		Findings: append(system.Diagnose(ctx, connections), findings...),
	}
}

// diagnoseSettings returns the configuration with the stored settings, and whether a server can use all of them. There is
// no finding about settings that cannot be read, because the findings about the database state the reason.
func (c Config) diagnoseSettings(ctx context.Context) (Config, []system.Finding) {
	db, err := OpenExisting(ctx, c)
	if err != nil {
		return c, nil
	}
	defer db.Close()
	v, err := c.settingsService(db, nil, nil).Load(ctx)
	if err != nil {
		return c, nil
	}
	inForce, err := c.withStored(v)
	if err != nil {
		inForce = c
	}
	if err = cmp.Or(err, unreadable(v.Unreadable)); err != nil {
		return inForce, []system.Finding{{What: "settings", Detail: err.Error()}}
	}
	return inForce, []system.Finding{{What: "settings", OK: true, Detail: fmt.Sprintf("%d are stored", len(v.ByName))}}
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

// MenuTemplates returns the names of all menu templates.
func MenuTemplates() []string {
	return seq.Map(menuTemplates(), func(t catalog.MenuTemplate) string { return t.Name })
}

func menuTemplates() []catalog.MenuTemplate {
	return slices.Concat(catalog.MenuTemplates(), demo.MenuTemplates())
}

// WithCore calls run with the services of a server and returns its result, for commands that run beside servers.
// Redis notifies the servers of changes at once; without Redis they read the changes from SQL within seconds.
func WithCore[T any](ctx context.Context, c Config, run func(*Core) (T, error)) (none T, err error) {
	db, err := OpenExisting(ctx, c)
	if err != nil {
		return none, err
	}
	defer db.Close()
	redis, err := AttachRedis(ctx, c)
	apart := err != nil
	// Without Redis an empty embedded store is used, so that the services need no special case.
	if err != nil { // SQL decides; servers update Redis from it later
		redis, err = redisdb.Open(ctx, redisdb.Config{})
		if err != nil {
			return none, err
		}
	}
	defer redis.Close()
	k, err := NewCore(ctx, Deps{
		Config: c, DB: db, Redis: redis, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		NoCache: apart,
	})
	if err != nil {
		return none, err
	}
	defer k.Close()
	// No loop sends notifications here. Without Redis they are lost, and streams poll.
	defer k.Live.Flush(ctx)
	return run(k)
}

// Document returns one of the documents that are generated from the code. The Makefile compares the files in docs with
// it.
func Document(name string) (string, error) {
	switch name {
	case "events":
		c, err := LoadConfig(nil, nil, "", nil)
		consumers := Consumers(nil, ordermailsql.Queue{}, orderingsql.ExpiryFlags{}, noticesql.Consumer{})
		return event.Markdown() + "\n" + rabbit.Markdown(c.PaymentWindow, consumers), err
	case "keys":
		return keyspace.Markdown(), nil
	case "configuration":
		return configurationHead + SettingsMarkdown(), nil
	case "openapi":
		return openAPI()
	}
	return "", fmt.Errorf("%q is not a generated document", name)
}

const configurationHead = "# Configuration\n\n" +
	"A flag takes precedence over the environment, and the environment over the file of `--config` (lines of\n" +
	"NAME=value; the last line of a name counts). Unknown names are refused. `comanda doctor` shows the settings in\n" +
	"force, without secrets.\n\n" +
	"The settings marked *console* can also be changed in the console or with `PATCH /api/settings`. They are stored in\n" +
	"SQL and take effect in every process within 5 seconds. A flag, the environment and the file take precedence over\n" +
	"them. Secrets are stored encrypted with COMANDA_SETTINGS_KEY; without that key, what needs them is off and /readyz\n" +
	"reports `settings` as degraded.\n\n" +
	"Two passwords are read from the environment only: `COMANDA_DEMO_PASSWORD`, that of the demo's accounts, which is\n" +
	"generated otherwise, and `COMANDA_PASSWORD`, that of the account that `user create` or `setup` creates.\n\n"

// openAPI renders the contract of all routes, the sandbox's included, without opening a store.
func openAPI() (string, error) {
	c, err := LoadConfig(map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on"}, nil, "", nil)
	if err != nil {
		return "", err
	}
	api, err := routeTable(c)
	if err != nil {
		return "", err
	}
	yaml, err := api.YAML()
	return string(yaml), err
}
