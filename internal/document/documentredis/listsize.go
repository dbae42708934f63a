package documentredis

import (
	"sync"
	"time"

	"comanda/internal/clock"
	"comanda/internal/document"
)

// countShare limits the share of time, to 1 in countShare, in which list members are counted. A Redis server counts a
// list of any size at once. The embedded store sorts all members to count them, and executes nothing else meanwhile.
const countShare = 100

// listSizes caches the sizes of lists, so that not every batch has to query them. Between two queries it adds the
// changes of this process. If another process writes too, sizes may be too low for a while; that process raises the
// counters itself.
type listSizes struct {
	mu      sync.Mutex
	known   map[*document.Entity]*listSize
	running int // batches that are being written
	started int // batches so far
}

// listSize is the last known size of one list. It is queried again after pause.
type listSize struct {
	n     int64
	age   clock.Stopwatch
	pause time.Duration
}

// countRun is one batch. It uses the cached sizes only if no other batch is written at the same time. Otherwise the
// members that a size includes are unknown.
type countRun struct {
	sizes *listSizes
	alone bool
	nth   int
	since clock.Stopwatch
}

func (s *listSizes) begin() countRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	s.started++
	return countRun{s, s.running == 1, s.started, clock.Start()}
}

// due reports whether the batch must query the size of an entity's list.
func (c *countRun) due(e *document.Entity) bool {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	k := c.sizes.known[e]
	return !c.alone || k == nil || k.age.Elapsed() >= k.pause
}

// changed returns the size of a list after the batch has added and removed members, for a list that was not due. It
// returns 0, which raises no counter, if another batch has made the size unknown since.
func (c *countRun) changed(e *document.Entity, added, removed int64) int64 {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	k := c.sizes.known[e]
	if k == nil {
		return 0
	}
	k.n += added - removed
	return k.n
}

// counted caches the size of a list that the batch has queried.
func (c *countRun) counted(e *document.Entity, n int64) {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	c.sizes.known[e] = &listSize{n, clock.Start(), countShare * c.since.Elapsed()}
}

// end drops the cached sizes of the batch's entities if they may be wrong: after a failure, or if another batch was
// written at the same time.
func (c *countRun) end(entities []*document.Entity, err error) {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	c.sizes.running--
	if err == nil && c.alone && c.sizes.started == c.nth {
		return
	}
	for _, e := range entities {
		delete(c.sizes.known, e)
	}
}
