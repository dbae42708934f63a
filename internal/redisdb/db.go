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

// DB is a connection to Redis. It is safe for concurrent use.
type DB struct {
	cfg     Config
	option  rueidis.ClientOption
	store   *store // the embedded one; nil for a server of its own
	bare    bool   // the server is miniredis, ours or another process's, which cannot read a script's first line
	client  atomic.Pointer[rueidis.Client]
	sealKey atomic.Pointer[[]byte]
	health  *health
	metrics metrics
	stop    context.CancelFunc
	stopped chan struct{}
}

// Open connects to the configured server, or starts the embedded store. A server that is out of reach is no error: the
// DB begins its life down and comes up when the server does. An old version, a bad configuration and a data directory
// that is in use are errors. The context bounds Open alone.
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

// Attach connects a command-line tool: to the configured server, or to the embedded store of the process that runs
// with the data directory. Here a server out of reach is an error, ErrNotRunning or ErrDown.
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
		db.bare = true
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

// choose prepares the client options and, when nothing else is configured, the embedded store.
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
	db.bare = true
	db.option = db.cfg.embeddedOption(db.store.dial)
	return nil
}

// begin probes once, so that a healthy server is up when Open returns, and starts the watcher. down tells why the server
// is out of reach.
func (db *DB) begin(ctx context.Context) (down, err error) {
	db.metrics = newMetrics(db.cfg.Metrics)
	db.health = newHealth(db.metrics.breaker)
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
		db.cfg.Log.WarnContext(ctx, "redis is out of reach; going on without it", "err", down)
	}
	go db.watch(watching, nodes)
	return down, nil
}

// Close ends the watcher, the connections and the embedded store. Calls after Close fail with ErrDown.
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

// Up tells whether calls are being sent. It is a hint: the next call may find out otherwise.
func (db *DB) Up() bool { return db.health.up.Load() }

// Embedded tells whether the server is the store inside a process.
func (db *DB) Embedded() bool { return db.bare }

// connect makes the client. A single server's client dials again by itself; a Cluster's is only made once one of its
// nodes has answered.
func (db *DB) connect() (rueidis.Client, error) {
	if c := db.client.Load(); c != nil {
		return *c, nil
	}
	c, err := rueidis.NewClient(db.option)
	if c == nil {
		return nil, err
	}
	db.client.Store(&c)
	return c, nil // a first dial that failed is found out by the first command
}

// send runs one exchange with the server: the deadline, the breaker and the metrics of every call are here.
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
	db.health.heard(k, took)
	return translate(name, k, err)
}
