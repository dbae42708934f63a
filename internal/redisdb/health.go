package redisdb

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// A single late answer may be a pause of our own, so that many in a row must come.
	timeoutsToTrip = 3

	// A call that its caller gave less time than this says nothing about the server when it runs out.
	fairTime = 20 * time.Millisecond
)

// health is the breaker. While it is up every call is sent; the first sign of trouble takes it down, and only the
// watcher's probe brings it up again, so no caller ever pays for finding out.
type health struct {
	up       atomic.Bool
	timeouts atomic.Int32
	tripped  chan struct{} // wakes the watcher; one signal is enough
	gauge    prometheus.Gauge

	mu        sync.Mutex
	listeners []func(Change)
}

func newHealth(gauge prometheus.Gauge) *health {
	gauge.Set(1)
	return &health{tripped: make(chan struct{}, 1), gauge: gauge}
}

// heard takes the outcome of a call.
func (h *health) heard(k kind, took time.Duration) {
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

func (h *health) tell(c Change) {
	h.mu.Lock()
	fns := h.listeners
	h.mu.Unlock()
	for _, fn := range fns {
		fn(c)
	}
}
