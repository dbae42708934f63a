package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// keep forces its values onto the heap.
var keep []byte

// A process that needed a garbage collection since the last round keeps its memory; an idle one returns it.
func TestIdleMemory(t *testing.T) {
	stats := func() (collections uint32, held uint64) { // without those that were forced
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC - m.NumForcedGC, m.HeapSys - m.HeapReleased
	}
	var m idleMemory
	m.release()
	before, _ := stats()
	for collections := before; collections == before; collections, _ = stats() {
		keep = make([]byte, 64<<20)
	}
	if m.release() {
		t.Error("a busy process returned its memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no automatic collection
	m.release()                                      // one may have been running
	keep = make([]byte, 64<<20)
	keep = nil
	_, grown := stats()
	if !m.release() {
		t.Error("an idle process kept its memory")
	}
	if _, held := stats(); held+32<<20 > grown {
		t.Errorf("the process holds %d MB after %d MB", held>>20, grown>>20)
	}
}
