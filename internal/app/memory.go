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
)

// heapGrowth returns the growth of a live heap until the next collection, in percent. It is rounded to 25, so that it
// seldom changes.
func heapGrowth(live uint64) int {
	percent := 100 * maxGrowth / max(live, 1)
	return int(min(max(percent/25*25, 100), gcPercent))
}

const (
	memoryInterval = time.Second // a growing heap is noticed before it has doubled
	// idleInterval is how long a process must have needed no garbage collection to count as idle. The loops of a process
	// without requests allocate 10 MB in a minute.
	idleInterval = 20 * time.Second
)

// memory bounds the heap of a growing process, and returns memory to the system while the process is idle. The runtime
// keeps what the heap may grow to before the next collection, and an idle process hardly ever gets there.
type memory struct {
	fixed       bool // the operator has set the growth
	percent     int  // the growth that the last round has set
	collections uint64
	idle        time.Duration // without a collection
}

// newMemory returns a policy whose first round sets the growth, unless the operator has set GOGC.
func newMemory() *memory { return &memory{fixed: os.Getenv("GOGC") != ""} }

// round adjusts the growth to the live heap, and returns free memory if the process is idle. It reports whether it
// returned memory. A busy process is left alone: it would need the memory again at once.
func (m *memory) round() bool {
	sample := []runtimemetrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/cycles/automatic:gc-cycles"}, // those of FreeOSMemory do not count
	}
	runtimemetrics.Read(sample)
	if percent := heapGrowth(sample[0].Value.Uint64()); !m.fixed && m.percent != percent {
		m.percent = percent
		debug.SetGCPercent(percent)
	}
	n := sample[1].Value.Uint64()
	if m.idle += memoryInterval; n != m.collections {
		m.collections, m.idle = n, 0
	}
	if m.idle < idleInterval {
		return false
	}
	m.idle = 0
	releaseMemory()
	return true
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
