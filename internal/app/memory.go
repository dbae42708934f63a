package app

import (
	"context"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"comanda/internal/worker"
)

const (
	// gcPercent lets the heap grow to four times the live heap between collections. The live heap is some 15 MB when idle,
	// and fewer collections save a tenth of the processor time of an order.
	gcPercent = 300
	// A heap grows by maxGrowth bytes at most, or to twice the live heap if that is more. The rebuild of a million orders'
	// documents, which runs after Redis has lost them, has a live heap of 100 MB; on a small server Redis and PostgreSQL
	// need the rest.
	maxGrowth = 192 << 20
	limitStep = 16 << 20 // a limit is rounded up to it, so that it seldom changes
)

// memoryLimit returns a limit for the runtime that bounds the growth of a live heap. other is the memory that the runtime
// counts beside the heap, such as stacks.
func memoryLimit(live, other uint64) int64 {
	limit := live + max(live, maxGrowth) + other
	return int64((limit + limitStep - 1) / limitStep * limitStep) //nolint:gosec // far below the range of int64
}

const (
	// memoryInterval is how long a process whose live heap grows quickly collects more often than necessary.
	memoryInterval = time.Second
	// idleInterval is how long a process must have needed no garbage collection to count as idle. The loops of a process
	// without requests allocate 10 MB in a minute.
	idleInterval = 20 * time.Second
)

// memory bounds the heap of a growing process, and returns memory to the system while the process is idle. The runtime
// keeps what the heap may grow to before the next collection, and an idle process hardly ever gets there.
type memory struct {
	limited     bool  // the operator has set no limit
	limit       int64 // the one that the last round has set
	collections uint64
	idle        time.Duration // without a collection
}

// newMemory sets the growth of the heap and returns the policy for its limit, each unless the operator has set it (GOGC
// and GOMEMLIMIT).
func newMemory() *memory {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	return &memory{limited: os.Getenv("GOMEMLIMIT") == ""}
}

// round adjusts the limit to the live heap, and returns free memory if the process is idle. It reports whether it
// returned memory. A busy process is left alone: it would need the memory again at once. Unlike a lower growth, a limit
// also holds for a live heap that grows before the next round: 200 requests that hash a password take twice 19 MB at once.
func (m *memory) round() bool {
	var live, collections, mapped, objects, free, released uint64
	readMetrics(map[string]*uint64{
		"/gc/heap/live:bytes":                 &live,
		"/gc/cycles/automatic:gc-cycles":      &collections, // those of FreeOSMemory do not count
		"/memory/classes/total:bytes":         &mapped,
		"/memory/classes/heap/objects:bytes":  &objects,
		"/memory/classes/heap/free:bytes":     &free,
		"/memory/classes/heap/released:bytes": &released,
	})
	if limit := memoryLimit(live, mapped-objects-free-released); m.limited && m.limit != limit {
		m.limit = limit
		debug.SetMemoryLimit(limit)
	}
	if m.idle += memoryInterval; collections != m.collections {
		m.collections, m.idle = collections, 0
	}
	if m.idle < idleInterval {
		return false
	}
	m.idle = 0
	releaseMemory()
	return true
}

// readMetrics reads metrics of the runtime at one instant.
func readMetrics(into map[string]*uint64) {
	samples := make([]runtimemetrics.Sample, 0, len(into))
	for name := range into {
		samples = append(samples, runtimemetrics.Sample{Name: name})
	}
	runtimemetrics.Read(samples)
	for _, s := range samples {
		*into[s.Name] = s.Value.Uint64()
	}
}

// releaseMemory returns to the system the memory that the process can do without.
func releaseMemory() {
	debug.FreeOSMemory()
	releaseProgram()
}

func (m *memory) loop() worker.Loop {
	return worker.Loop{Name: "memory", Every: memoryInterval, Timeout: idleInterval, Run: func(context.Context) error {
		m.round()
		return nil
	}}
}
