package app

import "testing"

// A process is busy after large commits, stays so between two commits, and is not busy half a second after the last one.
func TestBusyGroup(t *testing.T) {
	t.Parallel()
	var batches, commands int64
	busy := busyGroup(func() (int64, int64) { return batches, commands })
	commit := func(of ...int64) {
		for _, n := range of {
			batches, commands = batches+1, commands+n
		}
	}
	check := func(step string, want bool) {
		t.Helper()
		if got := busy(); got != want {
			t.Errorf("%s: busy = %v, want %v", step, got, want)
		}
	}
	check("no commit yet", false)
	commit(1, 2, 1)
	check("small commits", false)
	commit(busyBatch - 1)
	check("just below", false)
	commit(1, 2*busyBatch-1)
	check("large on average", true)
	for range busyChecks {
		check("a commit lasts", true)
	}
	check("no commit any more", false)
	commit(300)
	check("again", true)
	commit(3)
	check("small again", false)
}
