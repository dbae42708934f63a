// Package live notifies live streams about changes: Topic those of this process, Hub those of other processes.
// Notifications carry no data: they only make streams reload earlier than their next poll.
//
// Rules kept here:
//
//	W1 notifying never blocks and never fails; a notification that cannot be sent is dropped
//	W2 notifications within a few milliseconds are sent as one message of bounded size
//	W3 after every (re)subscription all streams reload, because messages may have been missed
//	W4 a message names orders, branches, visits and readers by their ids only: no tokens, no amounts
//	W5 when a subscription is lost, all streams reload and return to short polling intervals at once
package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
	"comanda/internal/worker"
)

// batchInterval is the time during which changes are collected after a message before the next one is sent, so a
// process sends at most 200 messages per second. The first change after a pause is sent at once.
const batchInterval = 5 * time.Millisecond

// PubSub carries messages between processes; redisdb implements it. Both calls may fail at any time. The hub never
// repeats a message: after a loss, streams reload or poll.
type PubSub interface {
	Publish(ctx context.Context, c keyspace.Channel, message string) error
	// Subscribe passes messages to received until ctx ends or the connection breaks. It calls subscribed first, once the
	// subscription is active.
	Subscribe(ctx context.Context, c keyspace.Channel, subscribed func(), received func(message string)) error
}

// Handlers are called for changes of other processes. They must not block. The goroutine that reads the Redis
// connection calls them, one message at a time. While one runs no further message is read, and Redis closes connections
// that fall too far behind.
type Handlers struct {
	Changed func(Change)
	Missed  func() // messages may have been missed: all streams reload (W3)
	Lost    func() // a subscription has ended: all streams reload, and poll at short intervals until the next one (W5)
	// Noticed is called with readers whose notices have changed, see NotifyReaders, and NoticesMissed when such messages
	// may have been missed. They have a subscription of their own.
	Noticed       func(readers ...string)
	NoticesMissed func()
}

// Hub sends this process's changes to other processes and receives theirs. It is safe for concurrent use. self is
// random, so that it differs between all processes, even those on one machine.
type Hub struct {
	pubsub   PubSub
	handlers Handlers
	self     string
	m        metrics
	wake     chan struct{} // holds one value: the sender takes all waiting changes at once

	changes, notices atomic.Bool // whether the subscriptions are active

	mu      sync.Mutex
	waiting map[int64]*Change
	readers map[string]struct{}
}

// New returns a hub, which sends and receives while its loops run. The loops come from Loops. Without them changes are
// collected up to maxWaiting branches and never sent.
func New(pubsub PubSub, handlers Handlers, reg prometheus.Registerer) *Hub {
	return &Hub{
		pubsub: pubsub, handlers: handlers, self: rand.Text()[:12], m: newMetrics(reg), wake: make(chan struct{}, 1),
		waiting: map[int64]*Change{}, readers: map[string]struct{}{},
	}
}

// NotifyOrders reports changes of orders of a branch. Call it after the commit: a stream that reloads earlier would
// read the old state and not be notified again.
func (h *Hub) NotifyOrders(branch int64, orders []string) {
	h.notify(branch, func(c *Change) { c.add(orders) })
}

// NotifyAvailability reports a change of the quantities that a branch can still sell. Call it after the admission cache
// has the change, because streams read the quantities from there.
func (h *Hub) NotifyAvailability(branch int64) { h.notify(branch, func(c *Change) { c.Left = true }) }

// NotifyMenu reports a change of a branch's menu, its quotas, or the branch itself.
func (h *Hub) NotifyMenu(branch int64) { h.notify(branch, func(c *Change) { c.Menu = true }) }

// NotifyFloor reports a change of a branch's visits, tables or calls.
func (h *Hub) NotifyFloor(branch int64) { h.notify(branch, func(c *Change) { c.Floor = true }) }

// NotifyCart reports a change of the cart that the guests of a visit share.
func (h *Hub) NotifyCart(branch int64, visit string) {
	h.notify(branch, func(c *Change) { c.addCart(visit) })
}

// NotifyReaders reports that the notices of readers have changed: accounts, visits, guests or a branch's staff, by the
// names of keyspace.Notifications. Call it after the commit.
func (h *Hub) NotifyReaders(readers ...string) {
	h.mu.Lock()
	for _, r := range readers {
		if len(h.readers) < maxWaiting { // full while sending fails: drop it, bells poll anyway (W1)
			h.readers[r] = struct{}{}
		}
	}
	h.mu.Unlock()
	h.awake()
}

// awake makes Send take what has been collected.
func (h *Hub) awake() {
	select {
	case h.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// notify records a change of a branch for the next message. Several changes of a branch before the next message become
// one Change. The lock is held for a map access only, never during a call of Redis, so a slow Redis does not delay
// requests (W1).
func (h *Hub) notify(branch int64, note func(*Change)) {
	h.mu.Lock()
	c := h.waiting[branch]
	if c == nil && len(h.waiting) < maxWaiting { // full while sending fails: drop it, streams poll anyway (W1)
		c = &Change{Branch: branch}
		h.waiting[branch] = c
	}
	if c != nil {
		note(c)
	}
	h.mu.Unlock()
	h.awake()
}

// Loops returns the loops to run in every process that changes data or serves streams. Both Run functions last until
// their context ends, Receive at most until the connection breaks. Every is then the pause before a restart.
func (h *Hub) Loops() []worker.Loop {
	return []worker.Loop{
		{Name: "live_tell", Run: h.Send, Every: batchInterval},
		{Name: "live_hear", Run: h.Receive, Every: resubscribePause},
		{Name: "notices_hear", Run: h.ReceiveNotices, Every: resubscribePause},
	}
}

// Send sends collected changes until ctx ends. The pause comes after a message and not before it: a single change is
// not delayed, and a storm is collected (W2).
func (h *Hub) Send(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.wake:
		}
		h.Flush(ctx)
		pause.Reset(batchInterval)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
	}
}

// Flush publishes all collected changes. Messages that fail are counted and dropped (W1). Send calls it; a command, which
// runs no loops, calls it at its end.
func (h *Hub) Flush(ctx context.Context) {
	h.mu.Lock()
	// The whole map is taken, so that notify can add changes to an empty one while the messages are being sent.
	waiting, readers := h.waiting, h.readers
	h.waiting, h.readers = map[int64]*Change{}, map[string]struct{}{}
	h.mu.Unlock()
	changes := seq.Map(slices.Collect(maps.Values(waiting)), func(c *Change) Change { return *c })
	for batch := range slices.Chunk(changes, branchesPerMessage) {
		h.publish(ctx, keyspace.LiveUpdates(), message{From: h.self, Changes: batch})
	}
	// Each reader has a channel, so that other programs can follow one person too.
	for r := range readers {
		h.publish(ctx, keyspace.Notifications(r), message{From: h.self, To: r})
	}
}

// publish sends a message and counts the result.
func (h *Hub) publish(ctx context.Context, c keyspace.Channel, m message) {
	text, err := json.Marshal(m)
	if err == nil {
		err = h.pubsub.Publish(ctx, c, string(text))
	}
	if err != nil {
		h.m.lost.Inc()
		return
	}
	h.m.out.Inc()
}

// branchesPerMessage keeps a message below maxMessage: a branch with 256 orders and 64 carts takes 9.4 KB.
const branchesPerMessage = 6

// resubscribePause is the pause before a process subscribes again after its connection was lost. While the Redis
// breaker is open an attempt costs only the check of the breaker.
const resubscribePause = 200 * time.Millisecond

// Receiving reports whether this process receives the notifications of other processes. It becomes false before Lost is
// called, so that streams which Lost has woken see it.
func (h *Hub) Receiving() bool { return h.changes.Load() && h.notices.Load() }

// Receive receives changes until ctx ends or the connection breaks. An unreachable Redis is not an error: streams
// continue to poll.
func (h *Hub) Receive(ctx context.Context) error {
	defer h.m.subscribed.Set(0)
	return h.receive(ctx, keyspace.LiveUpdates(), &h.changes, h.subscribed, h.received)
}

// ReceiveNotices is Receive for the readers of notices. Like all streams, bells reload after a new subscription.
func (h *Hub) ReceiveNotices(ctx context.Context) error {
	return h.receive(ctx, keyspace.AllNotifications(), &h.notices, h.handlers.NoticesMissed, h.noticed)
}

// receive runs one subscription. It sets active while the subscription lasts.
func (h *Hub) receive(
	ctx context.Context, c keyspace.Channel, active *atomic.Bool, subscribed func(), received func(string),
) error {
	defer func() {
		if active.Swap(false) && ctx.Err() == nil { // streams end with the process, so they need not poll then
			h.handlers.Lost()
		}
	}()
	err := h.pubsub.Subscribe(ctx, c, func() {
		active.Store(true)
		subscribed()
	}, received)
	if fault.KindOf(err) == fault.Unavailable {
		// The metric live_hearing shows the failure. An error would be logged at every attempt and would make the
		// pauses longer.
		return nil
	}
	return err
}

// noticed passes the reader of a message to the handler. A message that cannot be read is dropped, because bells poll
// anyway.
func (h *Hub) noticed(text string) {
	m, ok := read(text, h.self)
	if !ok || m.To == "" {
		return
	}
	h.m.in.Inc()
	h.handlers.Noticed(m.To)
}

// subscribed makes all streams of this process reload. It is called when the server has confirmed the subscription:
// earlier messages are lost, so streams may have missed changes (W3).
func (h *Hub) subscribed() {
	h.m.subscriptions.Inc()
	h.m.subscribed.Set(1)
	h.handlers.Missed()
}

// received passes the changes of one message to the handlers. A message that cannot be read is dropped, because
// streams poll anyway.
func (h *Hub) received(text string) {
	m, ok := read(text, h.self)
	if !ok {
		return
	}
	h.m.in.Inc()
	for _, c := range m.Changes {
		h.handlers.Changed(c)
	}
}

// metrics counts messages and subscriptions. The series are looked up once, because every message counts here.
type metrics struct {
	in, out, lost, subscriptions prometheus.Counter
	subscribed                   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	f := telemetry.Metrics(reg)
	messages := f.Counters("live_messages_total",
		"Notifications between processes: received (in), sent (out), or not sent (lost).", "way")
	return metrics{
		in: messages.WithLabelValues("in"), out: messages.WithLabelValues("out"), lost: messages.WithLabelValues("lost"),
		subscriptions: f.Counter("live_subscriptions_total",
			"Subscriptions of this process to notifications; more than one means that it reconnected."),
		subscribed: f.Gauge("live_hearing",
			"1 while this process receives notifications of others; otherwise its streams only poll."),
	}
}

// Change describes what has changed in a branch. It is also the wire format between processes, which may be of two
// versions during an upgrade: fields are added, never renamed, and an unknown field is ignored. The short names keep
// messages small.
type Change struct {
	Branch int64    `json:"b"`
	Orders []string `json:"o,omitempty"`     // ids of changed orders
	Many   bool     `json:"many,omitempty"`  // any order may have changed: there were more than maxOrders
	Left   bool     `json:"left,omitempty"`  // available quantities
	Menu   bool     `json:"menu,omitempty"`  // the menu, its quotas, or the branch itself
	Floor  bool     `json:"floor,omitempty"` // visits, tables or calls
	Carts  []string `json:"c,omitempty"`     // ids of visits whose shared cart changed
	Cart   bool     `json:"cart,omitempty"`  // any shared cart may have changed: there were more than maxCarts
}

// message is the JSON document sent through a channel.
type message struct {
	From    string   `json:"from"` // sending process, which ignores its own messages
	Changes []Change `json:"changes,omitempty"`
	To      string   `json:"to,omitempty"` // reader whose notices have changed
}

// Limits. Changes beyond them are not collected; longer messages are ignored.
const (
	maxOrders  = 256      // ids per branch; with more, reloading all streams costs less than selecting some
	maxCarts   = 64       // ids of visits per branch, for the same reason
	maxMessage = 64 << 10 // bytes; Redis drops a subscriber that is too far behind, so messages stay small
	maxWaiting = 1024     // branches with collected changes; bounds the memory while Redis is unreachable
)

// read decodes a message; ok is false for invalid messages and for this process's own.
func read(text, self string) (m message, ok bool) {
	if len(text) > maxMessage || json.Unmarshal([]byte(text), &m) != nil {
		return message{}, false
	}
	return m, m.From != self
}

// add appends ids, or sets Many if there would be too many. Once Many is set it stays set until the change is sent: the
// ids that were dropped are no longer known.
func (c *Change) add(orders []string) {
	if c.Many = c.Many || len(c.Orders)+len(orders) > maxOrders; c.Many {
		c.Orders = nil
		return
	}
	c.Orders = append(c.Orders, orders...)
}

// addCart appends a visit, or sets Cart if there would be too many. A visit is listed once, because the phones of a
// table change their cart many times between two messages.
func (c *Change) addCart(visit string) {
	if c.Cart || slices.Contains(c.Carts, visit) {
		return
	}
	if len(c.Carts) == maxCarts {
		c.Cart, c.Carts = true, nil
		return
	}
	c.Carts = append(c.Carts, visit)
}
