package rabbit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

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

// link is the part that Publisher and Consumers share: a validated configuration and the way to connect.
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

// newLink validates everything that can be validated without a broker, so that a mistake in the configuration fails the
// start.
func newLink(c Config, role string) (*link, error) {
	// The parser's error would contain the address with its password.
	if _, err := amqp.ParseURI(string(c.URL)); err != nil {
		return nil, errors.New("rabbit: the address is not amqp:// or amqps://user:password@host:port/vhost")
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
	timers  bool     // the await queue has the declared arguments; otherwise timers would pile up or never expire
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
