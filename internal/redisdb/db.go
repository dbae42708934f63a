package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/redis/rueidis"

	"comanda/internal/clock"
)

// DB is a connection to Redis. It is safe for concurrent use. The client is nil until it could be created, and after
// Close.
type DB struct {
	cfg      Config
	option   rueidis.ClientOption
	store    *store // embedded store; nil for an external server
	embedded bool   // the server is miniredis, of this or another process, which rejects a script's #!lua line
	client   atomic.Pointer[rueidis.Client]
	sealKey  atomic.Pointer[[]byte]
	health   *health
	metrics  metrics
	stop     context.CancelFunc
	stopped  chan struct{}
}

// Open connects to the configured server, or starts the embedded store. An unreachable server is not an error: the DB
// starts down and comes up when the server does. An old version, an invalid configuration and a data directory that is
// in use are errors. The context applies to Open only.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db := &DB{cfg: cfg.withDefaults()}
	db.UseSealKey(newSealKey())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := db.choose(); err != nil {
		return nil, err
	}
	if _, err := db.begin(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Attach connects a command-line tool to the configured server, or to the embedded store of the process that uses the
// data directory. An unreachable server is an error, ErrNotRunning or ErrDown.
func Attach(ctx context.Context, cfg Config) (*DB, error) {
	db := &DB{cfg: cfg.withDefaults()}
	db.UseSealKey(newSealKey())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.embedded() {
		path, err := liveSocket(cfg.Dir)
		if err != nil {
			return nil, err
		}
		db.embedded = true
		db.option = db.cfg.embeddedOption(func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		})
	} else if err := db.choose(); err != nil {
		return nil, err
	}
	why, err := db.begin(ctx)
	if err != nil {
		return nil, err
	}
	if !db.Up() {
		db.Close()
		return nil, fmt.Errorf("redisdb: attach: %w", ErrDown.Because(why))
	}
	return db, nil
}

// choose prepares the client options and, if no server is configured, starts the embedded store.
func (db *DB) choose() error {
	var err error
	if !db.cfg.embedded() {
		db.option, err = db.cfg.remote()
		return err
	}
	db.store, err = openStore(db.cfg.Dir, db.cfg.Listen)
	if err != nil {
		return err
	}
	db.embedded = true
	db.option = db.cfg.embeddedOption(db.store.dial)
	return nil
}

// begin probes once, so that a healthy server is up when Open returns, and starts the watcher. down is the reason why
// the server is unreachable.
func (db *DB) begin(ctx context.Context) (down, err error) {
	db.metrics = newMetrics(db.cfg.Metrics)
	db.health = newHealth(db.metrics.breaker)
	// The watcher outlives the context of Open and ends with Close.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	db.stop, db.stopped = stop, make(chan struct{})
	nodes, down := db.probe(ctx)
	if nodes == nil {
		nodes = map[string]node{}
	}
	if errors.Is(down, ErrVersion) {
		close(db.stopped)
		db.Close()
		return nil, down
	}
	if down != nil {
		db.cfg.Log.WarnContext(ctx, "redis is unreachable; continuing without it", "err", down)
	}
	go db.watch(watching, nodes)
	return down, nil
}

// Close stops the watcher, the connections and the embedded store. Calls after Close fail with ErrDown. The watcher
// stops first, because its next probe would mark the server as up again.
func (db *DB) Close() {
	db.stop()
	<-db.stopped
	db.health.set(false)
	if c := db.client.Swap(nil); c != nil {
		(*c).Close()
	}
	if db.store != nil {
		db.store.close()
	}
}

// Up reports whether calls are sent. It is only a hint: the next call may fail.
func (db *DB) Up() bool { return db.health.up.Load() }

// Embedded reports whether the server is an embedded store.
func (db *DB) Embedded() bool { return db.embedded }

// connect returns the client and creates it if necessary. A single server's client reconnects by itself. A Cluster's
// client can be created only once one of its nodes responds.
func (db *DB) connect() (rueidis.Client, error) {
	if c := db.client.Load(); c != nil {
		return *c, nil
	}
	c, err := rueidis.NewClient(db.option)
	if c == nil {
		return nil, err
	}
	db.client.Store(&c)
	return c, nil // the first command reports a failed first dial
}

// send performs one exchange with the server. All calls get their time limit, breaker and metrics here. A call is not
// queued while the server is down: its caller has another way to answer, and a queue would only delay it.
func (db *DB) send(ctx context.Context, name string, call func(context.Context, rueidis.Client) error) error {
	c := db.client.Load()
	if c == nil || !db.health.up.Load() {
		db.metrics.errors.WithLabelValues(string(down)).Inc()
		return fmt.Errorf("redisdb: %s: %w", name, ErrDown)
	}
	bounded, cancel := context.WithTimeout(ctx, db.cfg.Timeout)
	defer cancel()
	start := clock.Start()
	err := call(bounded, *c)
	took := start.Elapsed()
	k := classify(err)
	db.metrics.call(name, took, k)
	db.health.record(k, took)
	return translate(name, k, err)
}
