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
	dialTimeout    = 5 * time.Second  // to connect and shake hands
	declareTimeout = 30 * time.Second // for the topology; a cluster elects a leader for each queue
	closeTimeout   = time.Second      // to say goodbye
	heartbeat      = 10 * time.Second // a peer that is silent for three of them is gone
)

// Config says which broker to use and what belongs to us on it.
type Config struct {
	URL           telemetry.Secret // amqp:// or amqps://user:password@host:port/vhost
	Prefix        string           // before every exchange and queue; normally empty
	StockExchange string           // what this broker calls event.StockExchange; empty is the same name
	PaymentWindow time.Duration    // how long order.payment.await.q holds an order
	Consumers     []inbox.Consumer // of this installation, whether or not this process runs them
	Log           *slog.Logger
	Metrics       *Metrics
}

// link is what a Publisher and Consumers have in common: a checked configuration and how to connect with it.
type link struct {
	role     string
	url      string
	topology topology
	log      *slog.Logger
	metrics  *Metrics
	up       atomic.Bool
}

func (l *link) setUp(up bool) {
	l.up.Store(up)
	l.metrics.connected.WithLabelValues(l.role).Set(number(up))
}

func newLink(c Config, role string) (*link, error) {
	// The parser's own error would quote the address with its password.
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

// session is one connection, from its handshake to its end. It is never repaired, only replaced.
type session struct {
	*link
	conn    *amqp.Connection
	raw     net.Conn // what lies under conn: closing it frees whoever is stuck in a read or write
	timers  bool     // the await queue is as it should be; without it timers would pile up or never come back
	blocked atomic.Bool
	onBlock atomic.Pointer[context.CancelCauseFunc] // of who must not wait while the broker blocks
	helpers sync.WaitGroup
}

var errBlocked = errors.New("rabbit: the broker blocks publishers, because its memory or disk is short")

// open connects and declares the topology.
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

// accept lives with queues that exist with other arguments, and tells the operator.
func (s *session) accept(ctx context.Context, differing map[string]string) {
	for _, q := range s.topology.queues {
		reason, differs := differing[q.name]
		s.metrics.differing.WithLabelValues(q.name).Set(number(differs))
		if differs {
			s.log.ErrorContext(ctx, "a queue exists with other arguments and is used as it is; delete it when it is "+
				"empty to have it declared anew", "queue", q.name, "delete", "rabbitmqctl delete_queue "+q.name,
				"wanted", fmt.Sprint(q.args), "broker", reason)
		}
	}
	_, differs := differing[s.topology.prefix+queueAwait]
	s.timers = !differs
}

// watch follows the broker's alarms until the connection ends.
func (s *session) watch() {
	alarms := s.conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	gauge := s.metrics.blocked.WithLabelValues(s.role)
	s.helpers.Go(func() {
		defer s.setUp(false)
		defer gauge.Set(0)
		for a := range alarms {
			s.blocked.Store(a.Active)
			gauge.Set(number(a.Active))
			if !a.Active {
				s.log.Info("the broker takes messages again")
				continue
			}
			s.log.Error("the broker blocks publishers", "reason", a.Reason)
			if cancel := s.onBlock.Load(); cancel != nil {
				(*cancel)(errBlocked)
			}
		}
	})
}

// unblocked gives a context that ends, with errBlocked as its cause, as soon as the broker blocks publishers.
func (s *session) unblocked(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.onBlock.Store(&cancel)
	if s.blocked.Load() { // it may have been told before we listened
		cancel(errBlocked)
	}
	return ctx, func() { cancel(nil) }
}

// close says goodbye, for a short time, and waits until nothing of the session runs any more.
func (s *session) close() {
	release := s.limit(context.Background(), closeTimeout)
	_ = s.conn.Close()
	release()
	_ = s.raw.Close()
	s.helpers.Wait()
}

// limit cuts the connection off unless the returned function is called in time: the library waits for the broker's
// answers without end, and for room to write.
func (s *session) limit(ctx context.Context, d time.Duration) (release func()) {
	ctx, cancel := context.WithTimeout(ctx, d)
	stop := context.AfterFunc(ctx, func() { _ = s.raw.Close() })
	return func() {
		stop()
		cancel()
	}
}

// abandon closes without a goodbye, for a connection whose peer cannot be trusted to answer.
func (s *session) abandon() {
	_ = s.raw.Close()
	s.close()
}
