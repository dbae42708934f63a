package system

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"comanda/internal/event/rabbit"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

// Finding is the result of one check.
type Finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Connections opens the services that a configuration names. Its fields are functions, so that an unavailable service
// is a finding and not an error of the command.
type Connections struct {
	Database func(ctx context.Context) (*sqldb.DB, error)
	Redis    func(ctx context.Context) (*redisdb.DB, error) // redisdb.ErrNotRunning if it is embedded in no running server
	Broker   *rabbit.Config                                 // nil: events stay in process
}

// maxClockOffset is the offset of the machine's clock from the deciding clock above which Diagnose reports it.
const maxClockOffset = 2 * time.Second

// Diagnose checks versions, connections and clocks. It changes nothing.
func Diagnose(ctx context.Context, c Connections) (findings []Finding) {
	// A server that does not respond must not keep the other findings from the operator.
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	add := func(what string, detail string, err error) {
		f := Finding{what, err == nil, detail}
		if err != nil {
			f.Detail = ErrorText(err)
		}
		findings = append(findings, f)
	}
	diagnoseDatabase(ctx, c, add)
	diagnoseRedis(ctx, c, add)
	diagnoseBroker(ctx, c, add)
	return findings
}

// diagnoseDatabase checks version, durability, schema and clock. Without a connection the first finding is the only
// one.
func diagnoseDatabase(ctx context.Context, c Connections, add func(string, string, error)) {
	db, err := c.Database(ctx)
	if err != nil {
		add("database", "", err)
		return
	}
	defer db.Close()
	version, err := db.Version(ctx)
	add("database", string(db.Engine())+" "+version, err)
	add("durability", "every commit is on disk before it is answered", db.Durable(ctx))
	migrations, err := db.Migrations(ctx)
	applied := 0
	for _, m := range migrations {
		if m.Applied {
			applied++
		}
	}
	if err == nil && applied < len(migrations) {
		err = fmt.Errorf("%d of %d migrations are applied; run comanda migrate up", applied, len(migrations))
	}
	add("schema", fmt.Sprintf("%d migrations are applied", applied), err)
	err = nil
	if off := db.Clock().State().Offset; off.Abs() > maxClockOffset {
		err = fmt.Errorf("the database's clock is %v away from this machine's", off)
	}
	add("clock", fmt.Sprintf("the deciding clock is %v ahead", db.Clock().State().Offset.Round(time.Millisecond)), err)
}

// diagnoseRedis checks the connection and the version. An embedded store of a server that does not run is not a fault.
func diagnoseRedis(ctx context.Context, c Connections, add func(string, string, error)) {
	redis, err := c.Redis(ctx)
	if errors.Is(err, redisdb.ErrNotRunning) {
		add("redis", "in the server's process, which is not running", nil)
		return
	}
	if err != nil {
		add("redis", "", err)
		return
	}
	defer redis.Close()
	s, err := redis.Server(ctx)
	add("redis", fmt.Sprintf("%s %s", s.Mode, s.Version), err)
	diagnoseMemory(ctx, redis, add)
}

// FullShare is the part of maxmemory from which Redis counts as full: writes are refused at 1.
const FullShare = 0.9

// diagnoseMemory checks whether Redis is nearly full, and whether it evicts keys then, which causes rebuilds and reads
// from SQL.
func diagnoseMemory(ctx context.Context, redis *redisdb.DB, add func(string, string, error)) {
	memory, err := redis.Memory(ctx)
	if evicting := memory.Evicting(); err == nil && len(evicting) > 0 {
		err = fmt.Errorf("maxmemory-policy must be noeviction (%s; %d keys were evicted)",
			strings.Join(evicting, ", "), memory.Evicted)
	}
	if full := memory.Fullest(); err == nil && full.Share() >= FullShare {
		err = fmt.Errorf("%s uses %.0f %% of its maxmemory of %d bytes; raise it", full.Addr, 100*full.Share(), full.Limit)
	}
	detail := "nothing is evicted"
	for _, s := range memory.Servers {
		switch {
		case s.Policy == "": // a server may report no policy, which is a hint and not a fault
			detail = s.Addr + " does not say what its maxmemory-policy is; it must be noeviction"
		case s.Limit > 0:
			detail += fmt.Sprintf("; %s uses %.0f %% of %d bytes", s.Addr, 100*s.Share(), s.Limit)
		default:
			detail += fmt.Sprintf("; %s uses %d bytes and has no limit", s.Addr, s.Used)
		}
	}
	add("redis memory", detail, err)
}

// diagnoseBroker connects as the relay does, which declares the queues.
func diagnoseBroker(ctx context.Context, c Connections, add func(string, string, error)) {
	if c.Broker == nil {
		add("rabbitmq", "not configured; events stay in process", nil)
		return
	}
	p, err := rabbit.NewPublisher(*c.Broker)
	if err == nil {
		defer p.Close()
		err = p.Ready(ctx)
	}
	add("rabbitmq", "reachable, and its queues are declared", err)
}
