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

// Change says that what Redis holds can no longer be relied on without a look.
type Change struct {
	// Restarted: a server answers that is not the one written to before, because it was restarted, replaced or promoted.
	// What it holds may be gone or old. Otherwise the same server has come back after an outage.
	Restarted bool
}

// OnChange registers a function for R5. It is called by the watcher and must return quickly; waking a worker is right.
func (db *DB) OnChange(fn func(Change)) { db.health.listen(fn) }

// Server describes the server for a human.
type Server struct {
	Version  string
	RunID    string
	Mode     string // standalone, cluster, or embedded
	Embedded bool
}

// Server asks the server, or one node of a Cluster, who it is. It asks even while the server counts as down.
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

// node is what one server says of itself. The replication id changes on a promotion, the run id on a restart.
type node struct {
	Server
	replID string
}

// watch keeps the breaker: it waits out a failure with growing pauses, also one that soon follows another, and asks a
// healthy server now and then whether it still is the same one. It begins with the nodes that Open has seen; none means
// down.
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
			db.cfg.Log.WarnContext(ctx, "a call took redis down")
			if since.Elapsed() < db.cfg.MaxPause { // it answers us and serves nobody, as a Cluster without a node does
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
				db.health.tell(Change{Restarted: restarted})
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

// changed compares and remembers. Nodes that did not answer this time are kept as they were.
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

// probe asks every node who it is and sets the breaker by whether one answered.
func (db *DB) probe(ctx context.Context) (map[string]node, error) {
	nodes, err := db.ask(ctx)
	if !errors.Is(err, context.Canceled) {
		db.health.set(err == nil)
	}
	return nodes, err
}

// ask asks every node at the same time: one that hangs must not use up the time of the others. Their time begins when
// the client is there, which takes up to a second where one of a Cluster's addresses is dead.
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
			n, err := inquire(ctx, one)
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

func inquire(ctx context.Context, one rueidis.Client) (node, error) {
	text, err := one.Do(ctx, one.B().Arbitrary("INFO").Build()).ToString()
	if err != nil {
		return node{}, err
	}
	return parseInfo(text)
}

// parseInfo reads the answer to INFO, https://redis.io/docs/latest/commands/info/.
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
