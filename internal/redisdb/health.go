package redisdb

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// A single timeout may be a pause of this process, so several in a row are required.
	timeoutsToTrip = 3

	// A timeout of a call with a shorter limit than this says nothing about the server.
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
