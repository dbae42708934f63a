package redisdb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

// node is the identity of one server: the replication id changes with a promotion, the run id with a restart.
type node struct {
	Server
	replID string
}

// watch maintains the breaker. After a failure it probes with growing pauses, even when failures follow each other
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
			if since.Elapsed() < db.cfg.MaxPause { // the server answers probes but fails calls, like a Cluster that lacks a node
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

// probe queries every node and marks the server as up if one has responded.
func (db *DB) probe(ctx context.Context) (map[string]node, error) {
	nodes, err := db.nodes(ctx)
	if !errors.Is(err, context.Canceled) {
		db.health.set(err == nil)
	}
	return nodes, err
}

const (
	// A single timeout may be a pause of this process, so several in a row are required.
	timeoutsToTrip = 3

	// A timeout of a call with a shorter limit proves nothing about the server.
	fairTime = 20 * time.Millisecond
)

// health is the circuit breaker. While it is up, every call is sent. The first failure takes it down, and only the
// watcher's probe brings it up again, so no call is spent on probing.
type health struct {
	up       atomic.Bool
	timeouts atomic.Int32
	tripped  chan struct{} // wakes the watcher; one pending signal is enough
	gauge    prometheus.Gauge

	mu        sync.Mutex
	listeners []func(Change) // called without mu, so that they may call OnChange
}

func newHealth(gauge prometheus.Gauge) *health {
	gauge.Set(1)
	return &health{tripped: make(chan struct{}, 1), gauge: gauge}
}

// record updates the breaker with the outcome of a call. It runs after every call. The counter is read before it is
// written, so that cores do not contend for it while all is well.
func (h *health) record(k kind, took time.Duration) {
	switch k {
	case fine, reply:
		if h.timeouts.Load() != 0 {
			h.timeouts.Store(0)
		}
	case network, refusing:
		h.trip()
	case timeout:
		if took >= fairTime && h.timeouts.Add(1) >= timeoutsToTrip {
			h.trip()
		}
	case canceled, down:
	}
}

func (h *health) trip() {
	if !h.up.CompareAndSwap(true, false) {
		return
	}
	h.gauge.Set(1)
	select {
	case h.tripped <- struct{}{}:
	default:
	}
}

func (h *health) set(up bool) {
	h.timeouts.Store(0)
	h.up.Store(up)
	if up {
		h.gauge.Set(0)
	} else {
		h.gauge.Set(1)
	}
}

func (h *health) listen(fn func(Change)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = append(h.listeners, fn)
}

// notify calls the listeners, one after the other. The lock is released before the calls, so a listener may register
// another one.
func (h *health) notify(c Change) {
	h.mu.Lock()
	fns := h.listeners
	h.mu.Unlock()
	for _, fn := range fns {
		fn(c)
	}
}
