package redisdb

import (
	"context"
	"errors"
	"time"

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
	nodes, err := db.nodes(ctx)
	if !errors.Is(err, context.Canceled) {
		db.health.set(err == nil)
	}
	return nodes, err
}
