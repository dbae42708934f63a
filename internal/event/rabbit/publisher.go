package rabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/clock"
	"comanda/internal/event"
)

// redeclareAfter is how long a queue that was found missing stays so. Its consumers learn of the deletion meanwhile;
// where it is declared anew at once RabbitMQ 3.10 does not tell them, and what it delivers then never arrives.
const redeclareAfter = 2 * time.Second

// confirmTimeout bounds how long a batch may wait for the broker. The relay holds row locks meanwhile, so it must stay
// below the time for which its transaction may be idle, see sqldb.DB.WriteWaiting.
const confirmTimeout = 5 * time.Second

var (
	errLost    = errors.New("rabbit: the connection was lost before the broker had confirmed everything")
	errSlow    = errors.New("rabbit: the broker did not confirm in time")
	errNacked  = errors.New("rabbit: the broker refused the message")
	errClosed  = errors.New("rabbit: the publisher is closed")
	errNoQueue = errors.New("rabbit: a queue is missing and will be declared in a moment")
)

// Publisher is an outbox.Publisher. It connects when it is first needed; its caller paces the attempts.
type Publisher struct {
	link    *link
	timeout time.Duration // for confirmations
	respite time.Duration // of missing queues

	mu         sync.Mutex
	s          *outgoing       // nil without a connection
	returnedAt clock.Stopwatch // since messages reached no queue; respite later a connection is made again
	closed     bool
}

// outgoing is a session with a confirming channel.
type outgoing struct {
	*session
	ch      *amqp.Channel
	returns chan amqp.Return
	probe   *amqp.DeferredConfirmation // of the session's first message, which says nothing to anybody
}

// NewPublisher checks the configuration; it does not connect.
func NewPublisher(c Config) (*Publisher, error) {
	l, err := newLink(c, "publisher")
	if err != nil {
		return nil, err
	}
	return &Publisher{link: l, timeout: confirmTimeout, respite: redeclareAfter}, nil
}

// Ready connects where there is no connection, and fails unless the broker takes messages on it: it has confirmed a
// first one and does not block.
func (p *Publisher) Ready(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.connect(ctx); err != nil {
		return err
	}
	if p.s.blocked.Load() {
		return errBlocked
	}
	return p.wait(ctx, []*amqp.DeferredConfirmation{p.s.probe})
}

// Connected tells whether there is a connection.
func (p *Publisher) Connected() bool { return p.link.up.Load() }

// Close ends the connection for good.
func (p *Publisher) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.s != nil {
		p.s.close()
		p.s = nil
	}
}

func (p *Publisher) connect(ctx context.Context) error {
	if p.closed {
		return errClosed
	}
	if p.s != nil && p.s.ch.IsClosed() {
		p.drop(ctx, errLost)
	}
	if p.s != nil {
		return nil
	}
	if p.returnedAt.Elapsed() < p.respite {
		return errNoQueue
	}
	s, err := p.link.open(ctx)
	if err != nil {
		return err
	}
	out, err := newOutgoing(ctx, s)
	if err != nil {
		s.abandon()
		return fmt.Errorf("rabbit: open a confirming channel: %w", err)
	}
	p.s = out
	return nil
}

// newOutgoing opens the confirming channel and sends the probe: a broker in alarm takes connections and declarations
// like a healthy one and tells only publishers. The probe goes to a queue that does not exist and is dropped.
func newOutgoing(ctx context.Context, s *session) (*outgoing, error) {
	o := &outgoing{session: s}
	defer s.limit(ctx, dialTimeout)()
	var err error
	if o.ch, err = s.conn.Channel(); err != nil {
		return nil, err
	}
	if err = o.ch.Confirm(false); err != nil {
		return nil, err
	}
	// Returns are read only between batches. The buffer has room for all of the largest batch, because the library waits
	// for whoever does not read.
	o.returns = o.ch.NotifyReturn(make(chan amqp.Return, maxReturns))
	o.probe, err = o.ch.PublishWithDeferredConfirm("", s.topology.prefix+"comanda.probe", false, false, amqp.Publishing{})
	return o, err
}

// maxReturns is the largest batch of one wave; longer ones are published in several.
const maxReturns = 2048

// Publish sends events and waits until the broker has confirmed or refused each.
func (p *Publisher) Publish(ctx context.Context, events []event.Event) ([]error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	refused := make([]error, len(events))
	for from := 0; from < len(events); from += maxReturns {
		to := min(from+maxReturns, len(events))
		if err := p.wave(ctx, events[from:to], refused[from:to]); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

func (p *Publisher) wave(ctx context.Context, events []event.Event, refused []error) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	p.returned() // of a batch that was not waited for, if any
	confirms, err := p.send(ctx, events, refused)
	if err != nil {
		return err
	}
	if err := p.wait(ctx, confirms); err != nil {
		return err
	}
	// A nack is the broker's own word, such as that of a full queue, since the connection is still there.
	for i, c := range confirms {
		if c != nil && !c.Acked() {
			refused[i] = errNacked
		}
	}
	p.refuseReturned(ctx, events, refused)
	return nil
}

// send writes all events, and the timers of placed orders. A refusal that is known already is written into refused, and
// leaves a nil confirmation.
func (p *Publisher) send(
	ctx context.Context, events []event.Event, refused []error,
) ([]*amqp.DeferredConfirmation, error) {
	release := p.s.limit(ctx, p.timeout)
	defer release()
	confirms := make([]*amqp.DeferredConfirmation, len(events))
	var broken error
	for i, e := range events {
		typ, known := event.Lookup(e.Type)
		if !known {
			refused[i] = fmt.Errorf("rabbit: %s is not a registered type", e.Type)
			continue
		}
		to := binding{p.link.topology.exchange(typ), typ.RoutingKey}
		confirms[i], broken = p.publish(to, p.link.topology.wanted(to), encode(e))
		if broken == nil && p.s.timers && e.Type == event.OrderPlaced.Name {
			// No fact: nobody waits for its confirmation.
			_, broken = p.publish(binding{p.link.topology.orders, keyAwait}, false, timer(e))
		}
		if broken != nil {
			break
		}
	}
	if broken != nil {
		p.drop(ctx, broken)
		return nil, fmt.Errorf("%w: %w", errLost, broken)
	}
	return confirms, nil
}

func (p *Publisher) publish(to binding, mandatory bool, m amqp.Publishing) (*amqp.DeferredConfirmation, error) {
	return p.s.ch.PublishWithDeferredConfirm(to.exchange, to.key, mandatory, false, m)
}

// wait returns when every confirmation is in. When the broker blocks meanwhile, the connection is kept, so that what is
// under way arrives once and not again on each new connection; any other trouble drops it.
func (p *Publisher) wait(ctx context.Context, confirms []*amqp.DeferredConfirmation) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, errSlow)
	defer cancel()
	ctx, done := p.s.unblocked(ctx)
	defer done()
	for _, c := range confirms {
		if c == nil {
			continue
		}
		select {
		case <-c.Done():
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if !errors.Is(cause, errBlocked) {
				p.drop(ctx, cause)
			}
			return cause
		}
	}
	// A connection that ends settles all that is open as refused; that is no judgement of the broker.
	if p.s.ch.IsClosed() {
		p.drop(ctx, errLost)
		return errLost
	}
	return nil
}

// refuseReturned refuses what reached no queue. The broker sends a return before the confirmation of the same message,
// so all are here by now. Since a queue of ours is missing, the connection is given up and the topology declared
// anew by the next.
func (p *Publisher) refuseReturned(ctx context.Context, events []event.Event, refused []error) {
	reasons := p.returned()
	if len(reasons) == 0 {
		return
	}
	for i, e := range events {
		if reason, ok := reasons[e.ID]; ok && refused[i] == nil {
			refused[i] = fmt.Errorf("rabbit: the message reached no queue: %s", reason)
		}
	}
	p.link.log.ErrorContext(ctx, "messages reached no queue; the topology is declared anew", "messages", len(reasons))
	p.s.close()
	p.s, p.returnedAt = nil, clock.Start()
}

// returned takes the returns that have arrived, by message id.
func (p *Publisher) returned() map[string]string {
	reasons := map[string]string{}
	for {
		select {
		case r := <-p.s.returns:
			reasons[r.MessageId] = r.ReplyText
		default:
			return reasons
		}
	}
}

// drop gives up a connection that failed.
func (p *Publisher) drop(ctx context.Context, cause error) {
	p.link.metrics.lost.WithLabelValues(p.link.role).Inc()
	p.link.log.WarnContext(ctx, "the connection to the broker is given up", "err", cause)
	p.s.abandon()
	p.s = nil
}
