package redisdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/rueidis"

	"comanda/internal/clock"
	"comanda/internal/keyspace"
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
	memory   atomic.Pointer[Memory] // of the last heartbeat; nil before the first and for an embedded store
	stop     context.CancelFunc
	stopped  chan struct{}
}

// Open connects to the configured server, or starts the embedded store. An unreachable server is not an error: the DB
// starts down and comes up when the server does. An old version, an invalid configuration and a data directory that is
// in use are errors. The context applies to Open only.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db, _, err := open(ctx, cfg, (*DB).choose)
	return db, err
}

// Attach connects a command-line tool to the configured server, or to the embedded store of the process that uses the
// data directory. An unreachable server is an error, ErrNotRunning or ErrDown.
func Attach(ctx context.Context, cfg Config) (*DB, error) {
	db, why, err := open(ctx, cfg, (*DB).find)
	if err != nil {
		return nil, err
	}
	if !db.Up() {
		db.Close()
		return nil, fmt.Errorf("redisdb: attach: %w", ErrDown.Because(why))
	}
	return db, nil
}

// open connects to the server that prepare has set up. down is the reason why it is unreachable.
func open(ctx context.Context, cfg Config, prepare func(*DB) error) (db *DB, down, err error) {
	db = &DB{cfg: cfg.withDefaults()}
	db.UseSealKey(newSealKey())
	if err := cfg.Validate(); err != nil {
		return nil, nil, err
	}
	if err := prepare(db); err != nil {
		return nil, nil, err
	}
	if down, err = db.begin(ctx); err != nil {
		return nil, nil, err
	}
	return db, down, nil
}

// find prepares the client options for the embedded store of another process, or for the configured server.
func (db *DB) find() error {
	if !db.cfg.embedded() {
		return db.choose()
	}
	path, err := liveSocket(db.cfg.Dir)
	db.embedded = true
	db.option = db.cfg.embeddedOption(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	})
	return err
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
	watchCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	db.stop, db.stopped = cancel, make(chan struct{})
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
	go db.watch(watchCtx, nodes)
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

// Embedded reports whether the server is an embedded store, of this or another process.
func (db *DB) Embedded() bool { return db.embedded }

// InProcess reports whether the server is this process's own embedded store; false for a nil DB.
func (db *DB) InProcess() bool { return db != nil && db.store != nil }

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

// send performs one round trip with the server. It applies the time limit, the breaker and the metrics to every call. A
// call is not queued while the server is down: its caller can respond without Redis, and a queue would only delay it.
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

// Config describes the server and its time limits. The zero value is an embedded store without a socket.
type Config struct {
	URL       string             // redis:// or rediss://; several addresses with commas are a Cluster; empty: embedded
	Namespace keyspace.Namespace // prefix of every key
	Dir       string             // data directory, for the embedded store's socket; empty: no socket
	Listen    string             // loopback TCP address of the embedded store, for redis-cli; empty: none

	Timeout   time.Duration // limit of a call; default 200 ms, 1 s for the embedded store
	Pause     time.Duration // first pause between probes of a server that is down; default 500 ms, doubling
	MaxPause  time.Duration // longest pause between probes; default 5 s
	Heartbeat time.Duration // interval at which the identity of a healthy server is checked; default 1 s

	Log     *slog.Logger          // default: discard
	Metrics prometheus.Registerer // default: none
}

const (
	// Connecting takes several round trips, with TLS and authentication even more, so it may take longer than a call. Calls
	// that wait for it still end after Config.Timeout.
	dialTimeout = 500 * time.Millisecond

	// The client closes a connection whose round trip takes longer, with all calls on it. It must not do so before the
	// slowest call has reached its own limit, or one slow call would fail its neighbours.
	writeTimeout = time.Second

	// bufferSize is that of each connection's read and write buffer. The default of rueidis, 512 KiB, makes a connection
	// cost 1 MiB to allocate and clear, and every command-line tool and every inspection opens some.
	bufferSize = 64 << 10

	// No request waits for a probe, so it may take longer than a call.
	probeTimeout = 500 * time.Millisecond

	clientName = "comanda" // in CLIENT LIST
)

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	// Every caller has a way to answer without Redis, so a call that takes longer than this is worth less than that way.
	// The embedded store is never unreachable, only as busy as this process.
	if c.embedded() {
		set(&c.Timeout, time.Second)
	}
	set(&c.Timeout, 200*time.Millisecond)
	set(&c.Pause, 500*time.Millisecond)
	set(&c.MaxPause, 5*time.Second)
	set(&c.Heartbeat, time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// probe returns the time limit of a probe. It is at least that of a call: otherwise a server that serves all calls in
// time could count as down.
func (c Config) probe() time.Duration { return max(probeTimeout, c.Timeout) }

func (c Config) embedded() bool { return strings.TrimSpace(c.URL) == "" }

// Validate returns an error if Open could never succeed. It does not connect.
func (c Config) Validate() error {
	if c.embedded() {
		return c.validateListen()
	}
	_, err := c.remote()
	return err
}

// validateListen restricts the embedded store, which has no password, to loopback addresses.
func (c Config) validateListen() error {
	if c.Listen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("redisdb: listen address %q: %w", c.Listen, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("redisdb: listen address %q is not a loopback address; the embedded store has no password", c.Listen)
	}
	return nil
}

// remote returns the client options for an external server. User, password and TLS come from the first address.
func (c Config) remote() (rueidis.ClientOption, error) {
	addresses := strings.Split(c.URL, ",")
	scheme, _, ok := strings.Cut(addresses[0], "://")
	if !ok {
		return rueidis.ClientOption{}, errors.New("redisdb: the Redis URL must begin with redis:// or rediss://")
	}
	var all rueidis.ClientOption
	for i, a := range addresses {
		a = strings.TrimSpace(a)
		if !strings.Contains(a, "://") {
			a = scheme + "://" + a
		}
		one, err := rueidis.ParseURL(a)
		if err != nil { // not wrapped: the text of a URL error contains the password
			return rueidis.ClientOption{}, fmt.Errorf("redisdb: address %d of the Redis URL is malformed", i+1)
		}
		if i == 0 {
			all = one
			continue
		}
		all.InitAddress = append(all.InitAddress, one.InitAddress...)
	}
	all.ForceSingleClient = len(all.InitAddress) == 1
	if !all.ForceSingleClient {
		if all.SelectDB != 0 {
			return rueidis.ClientOption{}, errors.New("redisdb: a Cluster has no numbered databases")
		}
		if all.TLSConfig != nil {
			all.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // each node is verified by its own host name
		}
		// A failover is noticed by failing calls at once. This notices nodes that were added and slots that moved.
		all.ClusterOption.ShardsRefreshInterval = 5 * time.Second
	}
	all.ClientName = clientName
	return tuned(all, c.Timeout), nil
}

// tuned sets the options that all kinds of servers share. Retries are disabled (R2): rueidis would only retry reads,
// but a retried read takes twice the caller's time limit.
func tuned(o rueidis.ClientOption, timeout time.Duration) rueidis.ClientOption {
	o.DisableRetry = true
	o.DisableCache = true
	o.Dialer.Timeout = dialTimeout
	o.ConnWriteTimeout = max(writeTimeout, timeout)
	o.ReadBufferEachConn, o.WriteBufferEachConn = bufferSize, bufferSize
	return o
}
