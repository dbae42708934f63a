package app

import (
	"context"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"comanda/internal/worker"
)

// idleInterval is how long a process must have needed no garbage collection to count as idle.
const idleInterval = time.Minute

// idleMemory returns memory to the system while the process is idle. The runtime keeps what the heap may grow to before the
// next collection, which gcPercent makes four times the live heap, and an idle process hardly ever gets there.
type idleMemory struct{ collections uint64 }

// release collects garbage and returns free memory, if the heap has not grown enough for a collection since the last call.
// It reports whether it did. A busy process is left alone: it would need the memory again at once.
func (m *idleMemory) release() bool {
	sample := []runtimemetrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}} // those of FreeOSMemory do not count
	runtimemetrics.Read(sample)
	n := sample[0].Value.Uint64()
	idle := n == m.collections
	if m.collections = n; idle {
		debug.FreeOSMemory()
	}
	return idle
}

func memoryLoop() worker.Loop {
	var m idleMemory
	return worker.Loop{Name: "memory", Every: idleInterval, Timeout: idleInterval, Run: func(context.Context) error {
		m.release()
		return nil
	}}
}
