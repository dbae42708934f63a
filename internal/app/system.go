package app

import (
	"time"

	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/system"
	"comanda/internal/telemetry"
)

// OpenSystem returns the operators' functions for a command beside running servers, and a function that ends them.
// redis is nil for commands that do not use it, and where it is embedded in a server that does not run. stop commits
// what is queued; call it before the database is closed.
func OpenSystem(db *sqldb.DB, redis *redisdb.DB) (s *system.Service, stop func()) {
	tuneMemory()
	reservations := stocksql.NewReservations(db, noCache{}, db.Now)
	return system.NewService(system.Config{DB: db, Redis: redis, Consumers: Consumers(reservations)}), reservations.Stop
}

// noCache is the admission cache of a command beside running servers: it does nothing, because the servers apply the
// changes that the command leaves in redis_outbox.
type noCache struct{}

func (noCache) EnqueueCommitted([]stock.OutboxEntry) {}

func (noCache) DrainApplied() []string { return nil }

// systemService returns the operators' functions of this process.
func (k *Core) systemService() *system.Service {
	return system.NewService(system.Config{
		DB: k.DB, Redis: k.Redis, Consumers: Consumers(k.Reservations), Process: k.process, Epoch: k.Generation.Epoch,
	})
}

// aboutProcess returns a process's information about itself.
func (c Config) aboutProcess(build telemetry.Build, roles []ProcessRole, startedAt time.Time) system.About {
	a := system.About{
		Version: build.Version, Revision: build.Revision, GoVersion: build.GoVersion, StartedAt: startedAt,
		Roles: make([]string, len(roles)), Engines: system.Engines{Broker: "in process"},
	}
	for i, r := range roles {
		a.Roles[i] = string(r)
	}
	if c.AMQPURL != "" {
		a.Engines.Broker = "rabbitmq"
	}
	return a
}
