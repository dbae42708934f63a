package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// keep forces its values onto the heap.
var keep []byte

func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct{ live, other, want uint64 }{ // MB
		{0, 0, 192}, {16, 16, 224}, {16, 17, 240}, {192, 0, 384}, {200, 0, 400}, {4096, 32, 8224},
	} {
		if got := memoryLimit(c.live<<20, c.other<<20); got != int64(c.want<<20) {
			t.Errorf("a heap of %d MB beside %d MB has a limit of %d MB, want %d", c.live, c.other, got>>20, c.want)
		}
	}
}

// The limit follows the live heap, and the operator's own values stay.
func TestMemory_limit(t *testing.T) {
	growth := func() int {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	m := newMemory()
	if got := growth(); got != gcPercent {
		t.Errorf("the heap grows by %d %%, want %d", got, gcPercent)
	}
	const room = 64 << 20 // stacks, fragments and whatever else this process holds
	for _, live := range []int64{0, 256 << 20, 0} {
		keep = make([]byte, live)
		runtime.GC()
		m.round()
		least := live + max(live, maxGrowth)
		if got := debug.SetMemoryLimit(-1); got < least || got > least+2*room {
			t.Errorf("with %d MB the limit is %d MB, want %d to %d", live>>20, got>>20, least>>20, (least+2*room)>>20)
		}
	}
	t.Setenv("GOGC", "50")
	t.Setenv("GOMEMLIMIT", "900MiB")
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(900 << 20)
	newMemory().round()
	if percent, limit := growth(), debug.SetMemoryLimit(-1); percent != 50 || limit != 900<<20 {
		t.Errorf("GOGC=50 and GOMEMLIMIT=900MiB became %d and %d MB", percent, limit>>20)
	}
}

// A process that needed a garbage collection lately keeps its memory; an idle one returns it.
func TestMemory_idle(t *testing.T) {
	t.Setenv("GOGC", "100") // neither is changed, which is tested above
	t.Setenv("GOMEMLIMIT", "off")
	stats := func() (collections uint32, held uint64) { // without those that were forced
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC - m.NumForcedGC, m.HeapSys - m.HeapReleased
	}
	m := newMemory()
	interval := func() (released bool) {
		for range int(idleInterval / memoryInterval) {
			released = m.round() || released
		}
		return released
	}
	m.round()
	before, _ := stats()
	for collections := before; collections == before; collections, _ = stats() {
		keep = make([]byte, 64<<20)
	}
	if interval() {
		t.Error("a busy process returned its memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no automatic collection
	m.round()                                        // one may have been running
	keep = make([]byte, 64<<20)
	keep = nil
	_, grown := stats()
	if !interval() {
		t.Error("an idle process kept its memory")
	}
	if _, held := stats(); held+32<<20 > grown {
		t.Errorf("the process holds %d MB after %d MB", held>>20, grown>>20)
	}
}
