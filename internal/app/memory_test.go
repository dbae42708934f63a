package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// keep forces its values onto the heap.
var keep []byte

func TestHeapGrowth(t *testing.T) {
	for _, c := range []struct {
		live uint64 // MB
		want int
	}{{0, 300}, {15, 300}, {64, 300}, {65, 275}, {96, 200}, {160, 100}, {192, 100}, {4096, 100}} {
		if got := heapGrowth(c.live << 20); got != c.want {
			t.Errorf("a heap of %d MB grows by %d %%, want %d", c.live, got, c.want)
		}
	}
}

// A large heap grows by less until the next collection, and by as much as before once it is small again. The operator's
// own value stays.
func TestMemory_growth(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	current := func() int {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent
	}
	m := newMemory()
	for _, c := range []struct{ size, want int }{{0, 300}, {256 << 20, 100}, {0, 300}} {
		keep = make([]byte, c.size)
		runtime.GC()
		m.round()
		if got := current(); got != c.want {
			t.Errorf("with %d MB the heap grows by %d %%, want %d", c.size>>20, got, c.want)
		}
	}
	t.Setenv("GOGC", "50")
	debug.SetGCPercent(50)
	m = newMemory()
	m.round()
	if got := current(); got != 50 {
		t.Errorf("GOGC=50 became %d", got)
	}
}

// A process that needed a garbage collection lately keeps its memory; an idle one returns it.
func TestMemory_idle(t *testing.T) {
	t.Setenv("GOGC", "100")                             // no growth, which is tested above
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
