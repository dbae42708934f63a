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

// Config says which server to use and how patient to be. The zero value is an embedded store without a socket.
type Config struct {
	URL       string             // redis:// or rediss://; more addresses after commas make a Cluster; empty: embedded
	Namespace keyspace.Namespace // in front of every key
	Dir       string             // data directory, where the embedded store's socket lives; empty: no socket
	Listen    string             // loopback TCP address on which the embedded store answers redis-cli; empty: none

	Timeout   time.Duration // the longest a call may take; default 200 ms, 1 s for the embedded store
	Pause     time.Duration // how long the server counts as down after a failure; default 500 ms, doubling
	MaxPause  time.Duration // where the doubling ends; default 5 s
	Heartbeat time.Duration // how often a healthy server is asked whether it still is the same; default 1 s

	Log     *slog.Logger          // default: discard
	Metrics prometheus.Registerer // default: none
}

const (
	dialTimeout  = 500 * time.Millisecond
	writeTimeout = time.Second // on a connection, or Config.Timeout where that is longer
	probeTimeout = 500 * time.Millisecond
	clientName   = "comanda"
)

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	if c.embedded() { // it cannot be out of reach, only as busy as we are ourselves
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

// probe is how long a server may take to say that it is there: no shorter than a call, or one that serves all of them in
// time would count as down.
func (c Config) probe() time.Duration { return max(probeTimeout, c.Timeout) }

func (c Config) embedded() bool { return strings.TrimSpace(c.URL) == "" }

// Validate tells whether Open could ever succeed; it dials nothing.
func (c Config) Validate() error {
	if c.embedded() {
		return c.validateListen()
	}
	_, err := c.remote()
	return err
}

// validateListen keeps the embedded store, which knows no password, on this machine.
func (c Config) validateListen() error {
	if c.Listen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("redisdb: listen address %q: %w", c.Listen, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("redisdb: listen address %q is not of this machine; the embedded store has no password", c.Listen)
	}
	return nil
}

// remote makes the client options for a server of its own. User, password and TLS are taken from the first address.
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
		if err != nil { // not wrapped: the text of a URL's error contains its password
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
			all.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // each node is verified by its own name
		}
		all.ClusterOption.ShardsRefreshInterval = 5 * time.Second
	}
	all.ClientName = clientName
	return tuned(all, c.Timeout), nil
}

// tuned sets what every kind of server shares. Nothing is retried (R2): rueidis would repeat reads only, but a repeated
// read takes twice the time that its caller has.
func tuned(o rueidis.ClientOption, timeout time.Duration) rueidis.ClientOption {
	o.DisableRetry = true
	o.DisableCache = true
	o.Dialer.Timeout = dialTimeout
	o.ConnWriteTimeout = max(writeTimeout, timeout)
	return o
}
