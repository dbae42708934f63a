package redisdb

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

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

	// The client closes a connection whose exchange takes longer, with all calls on it. It must not do so before the
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
		return rueidis.ClientOption{}, errors.New("redisdb: the URL must begin with redis:// or rediss://")
	}
	var all rueidis.ClientOption
	for i, a := range addresses {
		a = strings.TrimSpace(a)
		if !strings.Contains(a, "://") {
			a = scheme + "://" + a
		}
		one, err := rueidis.ParseURL(a)
		if err != nil { // not wrapped: the text of a URL error contains the password
			return rueidis.ClientOption{}, fmt.Errorf("redisdb: address %d of the URL is malformed", i+1)
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
