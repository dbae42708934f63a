package app

import (
	"context"
	"errors"
	"time"

	"comanda/internal/event/eventsql"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/keyspace/audit"
	"comanda/internal/queue"
	"comanda/internal/system"
	"comanda/internal/telemetry"
)

// processInfo is a process's information about itself.
type processInfo struct {
	build     telemetry.Build
	roles     []Role
	startedAt time.Time
}

// operations implements the operators' view of the running installation. Commands use the same functions.
type operations struct{ *Core }

func (w operations) Outbox(ctx context.Context) (system.Outbox, error) { return ReadOutbox(ctx, w.DB) }

func (w operations) DeadLetters(ctx context.Context, f system.DeadLetterFilter) ([]queue.DeadLetter, int64, error) {
	of := eventsql.Filter{Consumer: f.Consumer, Type: f.Type, ID: f.ID}
	switch f.Consumer {
	case queue.RedisConsumer:
		if f.Type != "" { // those rows are not events
			return nil, 0, nil
		}
		return w.Stock.DeadLetters(ctx, f.ID, f.Limit, f.Offset)
	case queue.RelayConsumer:
		of.Consumer = ""
	}
	return eventsql.DeadLetterPage(ctx, w.DB, of, f.Consumer == "", f.Limit, f.Offset)
}

func (w operations) Replay(ctx context.Context, f system.ReplayFilter) (system.Replayed, error) {
	return replay(ctx, w.DB, w.Reservations, f)
}

func (w operations) Record(ctx context.Context, e identity.AuditEntry) error {
	return identitysql.RecordAuditAlone(ctx, w.DB, e)
}

func (w operations) AuditKeys(ctx context.Context, most int64) (audit.Report, error) {
	r, err := audit.Run(ctx, w.Redis, audit.Options{MaxKeys: most, Rate: int(most)})
	if errors.Is(err, audit.ErrTooMany) {
		err = system.ErrTooManyKeys
	}
	return r, err
}

func (w operations) Reconcile(ctx context.Context, branch int64) (system.Reconciliation, error) {
	if w.Redis.Up() {
		return Reconcile(ctx, w.DB, w.Redis, branch)
	}
	r, err := Reconcile(ctx, w.DB, nil, branch)
	r.Note = "Redis is out of reach; only SQL was compared."
	return r, err
}

func (w operations) Index(ctx context.Context, most int) (system.Index, error) {
	x := system.Index{Whole: w.Generation.Epoch() != ""}
	var err error
	if x.Documents, err = CountDocuments(ctx, w.DB); err != nil {
		return x, err
	}
	switch {
	case !w.Redis.Up():
		x.Note = "Redis is out of reach; SQL is asked meanwhile."
	case x.Documents > most:
		x.Note = "There are too many documents to compare within a request. Use the command comanda index verify."
	default:
		v, err := VerifyDocuments(ctx, w.DB, w.Redis, nil)
		x.Verification = &v
		return x, err
	}
	return x, nil
}

func (w operations) About(ctx context.Context) (system.About, error) {
	a := system.About{
		Version: w.process.build.Version, Revision: w.process.build.Revision, GoVersion: w.process.build.GoVersion,
		StartedAt: w.process.startedAt, UptimeSeconds: w.DB.Now().Sub(w.process.startedAt).Seconds(), Roles: []string{},
		Engines: system.Engines{Broker: "in process"},
	}
	for _, r := range w.process.roles {
		a.Roles = append(a.Roles, string(r))
	}
	version, err := w.DB.Version(ctx)
	if err != nil {
		return a, err
	}
	a.Engines.SQL = string(w.DB.Engine()) + " " + version
	if s, err := w.Redis.Server(ctx); err == nil {
		a.Engines.Redis = s.Mode + " " + s.Version
	}
	if w.Config.AMQPURL != "" {
		a.Engines.Broker = "rabbitmq"
	}
	return a, nil
}

// now returns the time of the deciding clock.
func (k *Core) now() time.Time { return k.DB.Now() }
