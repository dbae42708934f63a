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

// redeclareAfter is the pause before a missing queue is declared again. Its consumers are notified of the deletion
// meanwhile. If the queue reappears at once, RabbitMQ 3.10 does not notify them, and messages are delivered to nowhere.
const redeclareAfter = 2 * time.Second

// confirmTimeout is the maximum time to wait for the broker to confirm a batch. The relay holds row locks during that
// time, so it must stay below the idle limit of the relay's transaction, see sqldb.DB.WriteWaiting.
const confirmTimeout = 5 * time.Second

// After errLost and errSlow the outcome of all events is unknown. errNacked concerns one event and costs it an attempt.
var (
	errLost    = errors.New("rabbit: the connection was lost before the broker had confirmed everything")
	errSlow    = errors.New("rabbit: the broker did not confirm in time")
	errNacked  = errors.New("rabbit: the broker refused the message")
	errClosed  = errors.New("rabbit: the publisher is closed")
	errNoQueue = errors.New("rabbit: a queue is missing and will be declared in a moment")
)

// Publisher is an outbox.Publisher. It connects on first use; its caller paces the attempts.
type Publisher struct {
	link         *link
	timeout      time.Duration // limit for confirmations
	missingPause time.Duration // redeclareAfter, shorter in tests

	mu         sync.Mutex
	s          *outgoing       // nil without a connection
	returnedAt clock.Stopwatch // since messages were returned; no reconnect before missingPause
	closed     bool
}

// outgoing is a session with a channel in confirm mode.
type outgoing struct {
	*session
	ch      *amqp.Channel
	returns chan amqp.Return
	probe   *amqp.DeferredConfirmation // confirmation of the session's probe message
}

// NewPublisher validates the configuration; it does not connect.
func NewPublisher(c Config) (*Publisher, error) {
	l, err := newLink(c, "publisher")
	if err != nil {
		return nil, err
	}
	return &Publisher{link: l, timeout: confirmTimeout, missingPause: redeclareAfter}, nil
}

// Ready connects if necessary. It returns an error unless the broker accepts messages: it has confirmed the probe and
// does not block publishers.
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

// Close closes the connection permanently.
func (p *Publisher) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.s != nil {
		p.s.close()
		p.s = nil
	}
}

// connect replaces a lost connection. The caller holds mu.
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
	if p.returnedAt.Elapsed() < p.missingPause {
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

// newOutgoing opens the channel and sends a probe. A broker in alarm accepts connections and declarations like a
// healthy one and blocks only publishers. The probe goes to a queue that does not exist and is dropped.
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
	// Returns are read only between batches. The buffer holds all of the largest batch, because the library blocks on a
	// full channel.
	o.returns = o.ch.NotifyReturn(make(chan amqp.Return, maxReturns))
	o.probe, err = o.ch.PublishWithDeferredConfirm("", s.topology.prefix+"comanda.probe", false, false, amqp.Publishing{})
	return o, err
}

// maxReturns is the maximum number of messages per wave; larger batches are published in several waves.
const maxReturns = 2048

// Publish sends events and waits until the broker has confirmed or refused each. See outbox.Publisher. If a later wave
// fails, the earlier ones are published again too; consumers deduplicate them.
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

// wave publishes up to maxReturns events and fills in refused. An error means that the outcome of all of them is
// unknown. The caller holds mu.
func (p *Publisher) wave(ctx context.Context, events []event.Event, refused []error) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	p.returned() // discard returns of an earlier batch that was interrupted
	confirms, err := p.send(ctx, events, refused)
	if err != nil {
		return err
	}
	if err := p.wait(ctx, confirms); err != nil {
		return err
	}
	// The connection is still open, so a nack is the broker's decision, for example because a queue is full.
	for i, c := range confirms {
		if c != nil && !c.Acked() {
			refused[i] = errNacked
		}
	}
	p.refuseReturned(ctx, events, refused)
	return nil
}

// send publishes all events and, if timers are on, a payment-timer message for each placed order. An event of an
// unregistered type gets an error in refused and a nil confirmation. If a publication fails, send drops the connection
// and returns errLost.
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
			// The timer's confirmation is not awaited (rule 6).
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

// publish sends one message without waiting. The broker returns a mandatory message that reaches no queue.
func (p *Publisher) publish(to binding, mandatory bool, m amqp.Publishing) (*amqp.DeferredConfirmation, error) {
	return p.s.ch.PublishWithDeferredConfirm(to.exchange, to.key, mandatory, false, m)
}

// wait returns when all confirmations have arrived. If the broker blocks publishers meanwhile, the connection is kept,
// so that messages in flight arrive once and not again on every new connection. Any other failure drops it.
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
	// The library nacks all open confirmations when the connection ends; the broker did not refuse them.
	if p.s.ch.IsClosed() {
		p.drop(ctx, errLost)
		return errLost
	}
	return nil
}

// refuseReturned marks returned messages as refused. The broker sends a return before the confirmation of the same
// message, so all returns have arrived by now. A queue is missing then, so the connection is closed, and the next one
// declares the topology again.
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
	p.link.log.ErrorContext(ctx, "messages reached no queue; the topology will be declared again", "messages", len(reasons))
	p.s.close()
	p.s, p.returnedAt = nil, clock.Start()
}

// returned returns the reasons of the returns received so far, by message id.
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

// drop closes a connection that failed.
func (p *Publisher) drop(ctx context.Context, cause error) {
	p.link.metrics.lost.WithLabelValues(p.link.role).Inc()
	p.link.log.WarnContext(ctx, "the connection to the broker is dropped", "err", cause)
	p.s.abandon()
	p.s = nil
}
