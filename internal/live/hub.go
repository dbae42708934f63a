package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/worker"
)

// gather is how long changes are collected after a message before the next one is sent: a process sends at most 200 in a
// second, whatever it commits. The first change after a pause is told at once.
const gather = 5 * time.Millisecond

// Wire carries messages between processes, normally redisdb.
type Wire interface {
	Publish(ctx context.Context, c keyspace.Channel, message string) error
	// Listen hands over what is published until ctx ends or the wire breaks; begun is called when it listens.
	Listen(ctx context.Context, c keyspace.Channel, begun func(), heard func(message string)) error
}

// Ears hear what other processes have changed. Their functions must not block.
type Ears struct {
	Changed func(Change)
	Missed  func() // anything may have changed: everybody is to look (W3)
}

// Hub tells other processes what this one has changed, and hears what they have. It is safe for concurrent use.
type Hub struct {
	wire Wire
	ears Ears
	self string
	m    metrics
	wake chan struct{}

	mu      sync.Mutex
	waiting map[int64]*Change
}

// New makes a hub; it tells and hears while its loops run.
func New(wire Wire, ears Ears, reg prometheus.Registerer) *Hub {
	return &Hub{
		wire: wire, ears: ears, self: rand.Text()[:12], m: newMetrics(reg), wake: make(chan struct{}, 1),
		waiting: map[int64]*Change{},
	}
}

// Orders tells of orders of a branch.
func (h *Hub) Orders(branch int64, orders []string) {
	h.tell(branch, func(c *Change) { c.add(orders) })
}

// Left tells that something else is left of what a branch sells.
func (h *Hub) Left(branch int64) { h.tell(branch, func(c *Change) { c.Left = true }) }

// Menu tells of a branch's menu, its quotas, or the branch itself.
func (h *Hub) Menu(branch int64) { h.tell(branch, func(c *Change) { c.Menu = true }) }

// Floor tells of a branch's visits, tables and calls.
func (h *Hub) Floor(branch int64) { h.tell(branch, func(c *Change) { c.Floor = true }) }

func (h *Hub) tell(branch int64, note func(*Change)) {
	h.mu.Lock()
	c := h.waiting[branch]
	if c == nil && len(h.waiting) < maxWaiting { // nobody sends; those who do not hear of it look (W1)
		c = &Change{Branch: branch}
		h.waiting[branch] = c
	}
	if c != nil {
		note(c)
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Loops are what runs in every process that may change something or serve streams.
func (h *Hub) Loops() []worker.Loop {
	return []worker.Loop{
		{Name: "live_tell", Run: h.Tell, Every: gather},
		{Name: "live_hear", Run: h.Hear, Every: listenAgain},
	}
}

// Tell sends what is told until ctx ends.
func (h *Hub) Tell(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.wake:
		}
		h.send(ctx)
		pause.Reset(gather)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
	}
}

// send publishes what waits, in as many messages as it takes. What fails is counted and forgotten (W1).
func (h *Hub) send(ctx context.Context) {
	h.mu.Lock()
	waiting := h.waiting
	h.waiting = map[int64]*Change{}
	h.mu.Unlock()
	changes := make([]Change, 0, len(waiting))
	for _, c := range waiting {
		changes = append(changes, *c)
	}
	for some := range slices.Chunk(changes, branchesEach) {
		text, err := json.Marshal(message{h.self, some})
		if err == nil {
			err = h.wire.Publish(ctx, keyspace.Wakes(), string(text))
		}
		if err != nil {
			h.m.lost.Inc()
			continue
		}
		h.m.out.Inc()
	}
}

// branchesEach keeps a message within maxMessage: a branch with 256 orders takes 7.5 KB.
const branchesEach = 8

// listenAgain is the pause before a process listens again after its connection was lost; while Redis counts as down this
// only asks whether it still does.
const listenAgain = 200 * time.Millisecond

// Hear listens until ctx ends or the wire breaks. That Redis is out of reach is no failure: streams go on looking.
func (h *Hub) Hear(ctx context.Context) error {
	defer h.m.hearing.Set(0)
	err := h.wire.Listen(ctx, keyspace.Wakes(), h.begun, h.heard)
	if fault.KindOf(err) == fault.Unavailable {
		return nil
	}
	return err
}

func (h *Hub) begun() {
	h.m.begun.Inc()
	h.m.hearing.Set(1)
	h.ears.Missed()
}

func (h *Hub) heard(text string) {
	m, ok := read(text, h.self)
	if !ok {
		return
	}
	h.m.in.Inc()
	for _, c := range m.Changes {
		h.ears.Changed(c)
	}
}
