package redisdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/clock"
)

// Change reports that the data in Redis may no longer be complete or current.
type Change struct {
	// Restarted is true if the responding server is not the one written to before, because it was restarted, replaced
	// or promoted. Its data may be lost or old. Otherwise the same server has recovered from an outage.
	Restarted bool
}

// OnChange registers a function for R5. The watcher calls it synchronously, so it must return quickly, for example by
// waking a worker.
func (db *DB) OnChange(fn func(Change)) { db.health.listen(fn) }

// Server describes the server for operators.
type Server struct {
	Version  string
	RunID    string
	Mode     string // standalone, cluster, or embedded
	Embedded bool
}

// Server queries the server, or one node of a Cluster. It does so even while the server counts as down.
func (db *DB) Server(ctx context.Context) (Server, error) {
	nodes, err := db.ask(ctx)
	for _, n := range nodes {
		return n.Server, nil
	}
	if errors.Is(err, ErrVersion) {
		return Server{}, err
	}
	return Server{}, translate("INFO", classify(err), err)
}

// node is the identity of one server. The replication id changes on a promotion, the run id on a restart.
type node struct {
	Server
	replID string
}

// watch maintains the breaker. After a failure it probes with growing pauses, also when failures follow each other
// soon. While the server is up it checks its identity every Heartbeat. known are the nodes that Open has probed; none
// means down.
func (db *DB) watch(ctx context.Context, known map[string]node) {
	defer close(db.stopped)
	up, pause, since := len(known) > 0, db.cfg.Pause, clock.Stopwatch{}
	for {
		wait := pause
		if up {
			wait = db.cfg.Heartbeat
		}
		select {
		case <-ctx.Done():
			return
		case <-db.health.tripped:
			db.cfg.Log.WarnContext(ctx, "redis is down after a failed call")
			if since.Elapsed() < db.cfg.MaxPause { // it answers probes but fails calls, like a Cluster without one of its nodes
				pause = min(2*pause, db.cfg.MaxPause)
			} else {
				pause = db.cfg.Pause
			}
			up = false
			continue
		case <-time.After(wait):
		}
		nodes, err := db.probe(ctx)
		switch {
		case err == nil:
			restarted := changed(known, nodes)
			if !up || restarted {
				db.cfg.Log.InfoContext(ctx, "redis is up", "restarted", restarted)
				db.health.notify(Change{Restarted: restarted})
			}
			if !up {
				up, since = true, clock.Start()
			}
		case up:
			db.cfg.Log.WarnContext(ctx, "redis is down", "err", err)
			up, pause = false, db.cfg.Pause
		default:
			pause = min(2*pause, db.cfg.MaxPause)
		}
	}
}

// changed reports whether a node differs from its known state, and updates known. Nodes that did not respond keep their
// known state.
func changed(known, now map[string]node) bool {
	differs := false
	for addr, n := range now {
		if k, ok := known[addr]; !ok || k.RunID != n.RunID || k.replID != n.replID {
			differs = true
		}
		known[addr] = n
	}
	return differs
}

// probe queries every node and sets the breaker by whether one responded.
func (db *DB) probe(ctx context.Context) (map[string]node, error) {
	nodes, err := db.ask(ctx)
	if !errors.Is(err, context.Canceled) {
		db.health.set(err == nil)
	}
	return nodes, err
}

// ask queries all nodes concurrently, so that one that hangs does not use up the time of the others. The time limit
// starts after connect, which takes up to a second if one of a Cluster's addresses is unreachable.
func (db *DB) ask(ctx context.Context) (map[string]node, error) {
	c, err := db.connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, db.cfg.probe())
	defer cancel()
	type said struct {
		addr string
		node
		err error
	}
	all := c.Nodes()
	answers := make(chan said, len(all))
	for addr, one := range all {
		go func() {
			n, err := queryNode(ctx, one)
			answers <- said{addr, n, err}
		}()
	}
	nodes := map[string]node{}
	for range all {
		switch a := <-answers; {
		case a.err == nil:
			nodes[a.addr] = a.node
		case errors.Is(a.err, ErrVersion):
			return nil, a.err
		default:
			err = a.err
		}
	}
	if len(nodes) == 0 {
		return nil, err
	}
	return nodes, nil
}

func queryNode(ctx context.Context, one rueidis.Client) (node, error) {
	text, err := one.Do(ctx, one.B().Arbitrary("INFO").Build()).ToString()
	if err != nil {
		return node{}, err
	}
	return parseInfo(text)
}

// parseInfo parses the INFO reply, https://redis.io/docs/latest/commands/info/.
func parseInfo(text string) (node, error) {
	var n node
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "redis_version":
			n.Version = value
		case "run_id":
			n.RunID = value
		case "redis_mode":
			n.Mode = value
		case "master_replid":
			n.replID = value
		}
	}
	n.Embedded = n.Mode == embeddedMode
	major, _, _ := strings.Cut(n.Version, ".")
	if m, err := strconv.Atoi(major); err == nil && m < 7 && !n.Embedded {
		return n, fmt.Errorf("%w; this is %s", ErrVersion, n.Version)
	}
	return n, nil
}
