package rabbit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/clock"
	"comanda/internal/event/inbox"
	"comanda/internal/telemetry"
)

const (
	dialTimeout    = 5 * time.Second  // for connecting and the AMQP handshake
	declareTimeout = 30 * time.Second // for the topology; a cluster elects a leader per queue
	closeTimeout   = time.Second      // for a clean close
	heartbeat      = 10 * time.Second // the library drops a peer that is silent for three intervals
)

// Config describes the broker and this installation's topology on it.
type Config struct {
	URL           telemetry.Secret // amqp:// or amqps://user:password@host:port/vhost
	Prefix        string           // prepended to every exchange and queue name; normally empty
	StockExchange string           // name of the stock exchange; default event.StockExchange
	PaymentWindow time.Duration    // TTL of order.payment.await.q
	Consumers     []inbox.Consumer // all of this installation, whether or not this process runs them
	Log           *slog.Logger
	Metrics       *Metrics
}

// link is shared by Publisher and Consumers: a validated configuration, and the method that connects.
type link struct {
	role     string
	url      string
	topology topology
	log      *slog.Logger
	metrics  *Metrics
	up       atomic.Bool
}

// setUp records whether the connection is up, for readiness and metrics.
func (l *link) setUp(up bool) {
	l.up.Store(up)
	l.metrics.connected.WithLabelValues(l.role).Set(telemetry.Truth(up))
}

// CheckURL returns an error for an address to which no connection is possible. It does not connect.
func CheckURL(address telemetry.Secret) error {
	// The parser's error would contain the address with its password.
	if _, err := amqp.ParseURI(string(address)); err != nil {
		return errors.New("rabbit: the RabbitMQ address is not amqp:// or amqps://user:password@host:port/vhost")
	}
	return nil
}

// newLink validates everything that can be validated without a broker, so that a mistake in the configuration fails the
// start.
func newLink(c Config, role string) (*link, error) {
	if err := CheckURL(c.URL); err != nil {
		return nil, err
	}
	if c.PaymentWindow <= 0 {
		return nil, errors.New("rabbit: the payment window must be positive")
	}
	l := &link{
		role: role, url: string(c.URL), log: c.Log, metrics: c.Metrics,
		topology: newTopology(c),
	}
	if err := l.topology.check(c.Consumers); err != nil {
		return nil, err
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.metrics == nil {
		l.metrics = NewMetrics(nil)
	}
	l.log = l.log.With("role", role)
	return l, nil
}

// session is one connection. It is never repaired, only replaced.
type session struct {
	*link
	conn    *amqp.Connection
	raw     net.Conn // the socket of conn; closing it unblocks pending reads and writes
	timers  bool     // the await queue has the declared arguments; otherwise no timers are sent
	blocked atomic.Bool
	onBlock atomic.Pointer[context.CancelCauseFunc] // cancels the publisher's wait when the broker blocks
	helpers sync.WaitGroup
}

var errBlocked = errors.New("rabbit: the broker blocks publishers, because it is low on memory or disk")

// open connects, declares the topology and returns the session.
func (l *link) open(ctx context.Context) (*session, error) {
	s := &session{link: l}
	dial := func(network, addr string) (net.Conn, error) {
		raw, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		s.raw = raw
		return raw, raw.SetDeadline(clock.In(dialTimeout)) // until the handshake is over
	}
	conn, err := amqp.DialConfig(l.url, amqp.Config{
		Dial: dial, Heartbeat: heartbeat, Locale: "en_US",
		Properties: amqp.Table{"product": "comanda", "connection_name": "comanda " + l.role},
	})
	if err != nil {
		return nil, fmt.Errorf("rabbit: connect: %w", err)
	}
	s.conn = conn
	l.setUp(true)
	// Before the declarations, because the broker may report an alarm at once.
	s.watch()
	defer s.limit(ctx, declareTimeout)()
	differing, err := l.topology.declare(conn)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("rabbit: declare: %w", err)
	}
	s.accept(ctx, differing)
	l.log.InfoContext(ctx, "connected to the broker")
	return s, nil
}

// accept logs queues that exist with other arguments, and uses them as they are.
func (s *session) accept(ctx context.Context, differing map[string]string) {
	for _, q := range s.topology.queues {
		reason, differs := differing[q.name]
		s.metrics.differing.WithLabelValues(q.name).Set(telemetry.Truth(differs))
		if differs {
			s.log.ErrorContext(ctx, "a queue exists with other arguments and is used as it is; delete it when it is "+
				"empty so that it is declared again", "queue", q.name, "delete", "rabbitmqctl delete_queue "+q.name,
				"wanted", fmt.Sprint(q.args), "broker", reason)
		}
	}
	_, differs := differing[s.topology.prefix+queueAwait]
	s.timers = !differs
}

// watch tracks the broker's memory and disk alarms until the connection ends.
func (s *session) watch() {
	// The library's reader blocks on a full channel, so the goroutine below only stores and logs. The library closes the
	// channel with the connection.
	alarms := s.conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	gauge := s.metrics.blocked.WithLabelValues(s.role)
	s.helpers.Go(func() {
		defer s.setUp(false)
		defer gauge.Set(0)
		for a := range alarms {
			s.blocked.Store(a.Active)
			gauge.Set(telemetry.Truth(a.Active))
			if !a.Active {
				s.log.Info("the broker accepts messages again")
				continue
			}
			s.log.Error("the broker blocks publishers", "reason", a.Reason)
			if cancel := s.onBlock.Load(); cancel != nil {
				(*cancel)(errBlocked)
			}
		}
	})
}

// unblocked returns a context that is cancelled with errBlocked when the broker blocks publishers.
func (s *session) unblocked(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.onBlock.Store(&cancel)
	if s.blocked.Load() { // the alarm may have been raised before onBlock was set
		cancel(errBlocked)
	}
	return ctx, func() { cancel(nil) }
}

// close closes the connection within closeTimeout and waits until all goroutines of the session have ended.
func (s *session) close() {
	release := s.limit(context.Background(), closeTimeout)
	_ = s.conn.Close()
	release()
	_ = s.raw.Close()
	s.helpers.Wait()
}

// limit closes the socket unless the returned function is called within d. The library has no time-outs of its own for
// the broker's replies and for writes. The end of ctx closes the socket too. Every later call on the connection then
// fails, and the session is replaced.
func (s *session) limit(ctx context.Context, d time.Duration) (release func()) {
	ctx, cancel := context.WithTimeout(ctx, d)
	stop := context.AfterFunc(ctx, func() { _ = s.raw.Close() })
	return func() {
		stop()
		cancel()
	}
}

// abandon closes without a clean close, for a peer that may not reply.
func (s *session) abandon() {
	_ = s.raw.Close()
	s.close()
}

// maxBatch is the number of messages that share a commit. prefetch is the number of unacknowledged messages per queue:
// a second batch accumulates while the first is being handled.
const (
	maxBatch = 512
	prefetch = 2 * maxBatch
)

var errEnded = errors.New("rabbit: the broker cancelled the subscription")

// handler handles a batch and returns one outcome per message.
type handler func(ctx context.Context, batch []amqp.Delivery) []inbox.Outcome

// subscription consumes one queue on its own channel, batch by batch.
type subscription struct {
	queue  string
	ch     *amqp.Channel
	in     chan amqp.Delivery
	handle handler
	open   atomic.Int64 // messages received and neither acknowledged nor rejected yet, held ones too
	held   []held       // failed, unacknowledged, waiting for their next attempt
}

// held is a failed message that is kept instead of being requeued. The broker would redeliver a requeued message at
// once, and five attempts would be used up within milliseconds. A held message keeps its prefetch slot, so a consumer
// that fails on everything slows down to the pace of its pauses.
type held struct {
	amqp.Delivery
	due time.Time
}

// newSubscription starts the consumption of a queue with manual acknowledgements. Each subscription has its own
// channel, because delivery tags and the prefetch limit belong to a channel.
func newSubscription(s *session, queue string, h handler) (*subscription, error) {
	ch, err := s.conn.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return nil, err
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	l := &subscription{queue: queue, ch: ch, in: make(chan amqp.Delivery, prefetch), handle: h}
	// The library delivers messages one by one; they accumulate here while a batch is being handled. The broker never
	// sends more than prefetch, so this goroutine does not block. It ends with the connection.
	s.helpers.Go(func() {
		defer close(l.in)
		for d := range deliveries {
			l.open.Add(1)
			l.in <- d
		}
	})
	return l, nil
}

// run handles messages until the context ends. It returns an error when the channel fails. Messages that are not
// acknowledged by then return to the queue with the end of the connection.
func (l *subscription) run(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		select {
		case <-ctx.Done():
		case d, open := <-l.in:
			if !open {
				return errEnded
			}
			err = l.handleNew(ctx, l.gather(d))
		case <-l.nextDue():
			batch := l.takeDue(clock.In(0))
			err = l.settle(batch, l.handle(ctx, batch))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handleNew handles new messages. If all succeeded and no older message is held, a single multiple-acknowledgement
// covers the batch.
func (l *subscription) handleNew(ctx context.Context, batch []amqp.Delivery) error {
	outcomes := l.handle(ctx, batch)
	failed := func(o inbox.Outcome) bool { return o.State != inbox.Done }
	if len(l.held) == 0 && !slices.ContainsFunc(outcomes, failed) {
		l.open.Add(int64(-len(batch)))
		return batch[len(batch)-1].Ack(true)
	}
	return l.settle(batch, outcomes)
}

// gather returns the messages that have already arrived, up to maxBatch, without waiting for more.
func (l *subscription) gather(first amqp.Delivery) []amqp.Delivery {
	batch := append(make([]amqp.Delivery, 0, maxBatch), first)
	for len(batch) < maxBatch {
		select {
		case d, open := <-l.in:
			if !open {
				return batch
			}
			batch = append(batch, d)
		default:
			return batch
		}
	}
	return batch
}

// settle acknowledges, rejects or holds each message separately, since messages with smaller delivery tags may be held.
func (l *subscription) settle(batch []amqp.Delivery, outcomes []inbox.Outcome) error {
	for i, d := range batch {
		var err error
		switch outcomes[i].State {
		case inbox.Done:
			l.open.Add(-1)
			err = d.Ack(false)
		case inbox.Dead:
			l.open.Add(-1)
			err = d.Reject(false)
		case inbox.Retry:
			l.held = append(l.held, held{d, clock.In(outcomes[i].After)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextDue returns a channel that fires when the first held message is due; it is nil if none is held. A nil channel
// blocks forever, so select then waits for new messages only.
func (l *subscription) nextDue() <-chan time.Time {
	if len(l.held) == 0 {
		return nil
	}
	first := slices.MinFunc(l.held, func(a, b held) int { return a.due.Compare(b.due) })
	return time.After(first.due.Sub(clock.In(0)))
}

// takeDue removes and returns the held messages that are due.
func (l *subscription) takeDue(now time.Time) []amqp.Delivery {
	var due []amqp.Delivery
	l.held = slices.DeleteFunc(l.held, func(h held) bool {
		if h.due.After(now) {
			return false
		}
		due = append(due, h.Delivery)
		return true
	})
	return due
}

// Metrics are the metrics of the broker connections. The role is publisher or consumer. The gauges reflect the latest
// connection of the process.
type Metrics struct {
	connected *prometheus.GaugeVec
	blocked   *prometheus.GaugeVec
	lost      *prometheus.CounterVec
	differing *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg; if reg is nil they are not exported.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	return &Metrics{
		connected: f.Gauges("rabbit_connected", "1 while the connection to the broker is up, by role.", "role"),
		blocked:   f.Gauges("rabbit_blocked", "1 while the broker blocks publishers.", "role"),
		lost:      f.Counters("rabbit_connection_lost_total", "Lost connections to the broker.", "role"),
		differing: f.Gauges("rabbit_queue_differs", "1 if the queue exists with other arguments than Comanda declares.", "queue"),
	}
}
