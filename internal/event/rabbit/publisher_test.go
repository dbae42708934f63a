package rabbit

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/testenv"
)

func publisherWireForm(t *testing.T, r *brokerTest) {
	p := r.publisher(t, r.config(daybook(nil)))
	events := paid(2)
	for i, err := range publish(t, p, events...) {
		if err != nil {
			t.Errorf("event %d was refused: %v", i, err)
		}
	}
	r.take(t, "store.order.paid", 2)
	for i, d := range r.take(t, "comanda.daybook", 2) {
		if d.MessageId != events[i].ID || d.Type != "order.paid" || d.ContentType != "application/json" ||
			d.DeliveryMode != amqp.Persistent || d.RoutingKey != "order.paid" ||
			!d.Timestamp.Equal(noon.Truncate(time.Second)) ||
			d.Headers["aggregate_id"] != events[i].AggregateID || d.Headers["event_type"] != "order.paid" {
			t.Errorf("message %+v", d)
		}
		testenv.Equal(t, events[i], testenv.Must(decode(d))(t))
	}
}

// Stock events are published to the stock exchange in the form of the reference documents.
func publisherStockExchange(t *testing.T, r *brokerTest) {
	c := r.config(daybook(nil))
	c.StockExchange = "goods"
	p := r.publisher(t, c)
	testenv.NoError(t, p.Ready(t.Context()))
	r.otherSystemQueue(t, "goods")
	events := sold(2)
	for i, err := range publish(t, p, events[0], paid(1)[0], events[1]) {
		if err != nil {
			t.Errorf("event %d was refused: %v", i, err)
		}
	}
	for i, d := range r.take(t, "others", 2) {
		if d.MessageId != events[i].ID || d.RoutingKey != "inventory.sold" || d.Exchange != r.prefix+"goods" ||
			d.Headers["aggregate_id"] != events[i].AggregateID || d.Headers["event_type"] != "inventory.sold" ||
			string(d.Body) != string(events[i].Payload) {
			t.Errorf("message %+v", d)
		}
	}
	r.take(t, "comanda.daybook", 1)
}

// The payment timer of the reference documents: the order id waits for the payment window and returns as order.expired.
func publisherTimer(t *testing.T, r *brokerTest) {
	c := r.config(daybook(nil))
	c.PaymentWindow = 300 * time.Millisecond
	start := time.Now()
	publish(t, r.publisher(t, c), placed("order1"), placed("order2"))
	r.take(t, "comanda.daybook", 2)
	got := r.take(t, queueExpired, 2)
	if string(got[0].Body) != "order1" || string(got[1].Body) != "order2" || got[0].RoutingKey != "order.expired" {
		t.Errorf("timers came back as %+v", got)
	}
	if early := c.PaymentWindow - time.Since(start); early > 0 {
		t.Errorf("the timers came back %s early", early)
	}
}

func publisherUnknownType(t *testing.T, r *brokerTest) {
	events := paid(3)
	events[1].Type = "order.eaten"
	refused := publish(t, r.publisher(t, r.config()), events...)
	if refused[0] != nil || refused[1] == nil || refused[2] != nil {
		t.Errorf("refused %v, want only the second", refused)
	}
}

// An event type without a bound queue is published nevertheless. One whose queue is missing is refused, and the queue
// is declared again afterwards.
func publisherMissingQueue(t *testing.T, r *brokerTest) {
	p := r.publisher(t, r.config(daybook(nil)))
	nobody := event.OrderRefundDue.New(noon, "order1", 3, 7, event.RefundDue{})
	if refused := publish(t, p, nobody); refused[0] != nil {
		t.Fatalf("an event for which there is no queue was refused: %v", refused)
	}
	ch := r.channel(t)
	testenv.Must(ch.QueueDelete(r.prefix+"comanda.daybook", false, false, false))(t)
	refused := publish(t, p, paid(1)[0], placed("order1"))
	if refused[0] != nil || refused[1] == nil { // order.paid still has the queue of other systems
		t.Fatalf("refused %v, want only the event without a queue", refused)
	}
	if refused := publish(t, p, placed("order1")); refused[0] != nil {
		t.Errorf("refused after the repair: %v", refused)
	}
	r.take(t, "comanda.daybook", 1)
}

// A queue that refuses messages, for example because of a length limit set by policy, nacks.
func publisherFullQueue(t *testing.T, r *brokerTest) {
	ch := r.channel(t)
	full := amqp.Table{"x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "reject-publish"}
	testenv.Must(ch.QueueDeclare(r.prefix+"comanda.daybook", true, false, false, false, full))(t)
	p := r.publisher(t, r.config(daybook(nil)))
	// A quorum queue notices its length with a delay.
	testenv.Eventually(t, brokerTimeout, func() bool { return errors.Is(publish(t, p, placed("order"))[0], errNacked) })
	if !r.log.has("exists with other arguments") {
		t.Error("the log does not name the queue that differs")
	}
}

// A broker that accepts everything and never replies costs one confirm time-out, and no event.
func publisherHangingBroker(t *testing.T, r *brokerTest) {
	p := r.publisher(t, r.config(daybook(nil)))
	publish(t, p, placed("order1"))
	p.timeout = 200 * time.Millisecond
	r.proxy.stall()
	refused, err := p.Publish(t.Context(), []event.Event{placed("order2")})
	if !errors.Is(err, errSlow) || refused != nil {
		t.Fatalf("Publish = %v, %v; want %v", refused, err, errSlow)
	}
	if p.link.up.Load() {
		t.Error("the hanging connection was kept")
	}
	r.proxy.resume()
	p.timeout = confirmTimeout
	publish(t, p, placed("order3"))
}

// connection.blocked and connection.unblocked as the broker writes them: class 10, methods 60 and 61.
func blockedFrame(reason string) []byte {
	return methodFrame(append([]byte{0, 10, 0, 60, byte(len(reason))}, reason...))
}

func unblockedFrame() []byte { return methodFrame([]byte{0, 10, 0, 61}) }

func methodFrame(payload []byte) []byte {
	frame := binary.BigEndian.AppendUint32([]byte{1, 0, 0}, uint32(len(payload)))
	return append(append(frame, payload...), 0xce)
}

// During an alarm nothing is published, and the connection is kept. Messages in flight are not repeated before the
// alarm has ended.
func publisherAlarm(t *testing.T, r *brokerTest) {
	p := r.publisher(t, r.config(daybook(nil)))
	publish(t, p, placed("order1"))
	connections := r.proxy.Accepted()

	r.proxy.stall()
	failed := make(chan error)
	go func() {
		_, err := p.Publish(t.Context(), []event.Event{placed("order2")})
		failed <- err
	}()
	testenv.Eventually(t, brokerTimeout, func() bool { return r.ready(t, "comanda.daybook") == 2 })
	r.proxy.Inject(blockedFrame("low on memory"))
	testenv.ErrorIs(t, errBlocked, <-failed, "Publish")
	testenv.ErrorIs(t, errBlocked, p.Ready(t.Context()))
	r.proxy.Inject(unblockedFrame())
	r.proxy.resume()
	testenv.Eventually(t, brokerTimeout, func() bool { return p.Ready(t.Context()) == nil })
	publish(t, p, placed("order3"))
	if n := r.proxy.Accepted(); n != connections {
		t.Errorf("%d connections were made during the alarm", n-connections)
	}
	r.take(t, "comanda.daybook", 3)
}

func publisherClosed(t *testing.T, r *brokerTest) {
	p := r.publisher(t, r.config())
	publish(t, p, placed("order1"))
	p.Close()
	p.Close()
	testenv.ErrorIs(t, errClosed, p.Ready(t.Context()))
}

// On a broker with the queue of another payment window, the queue is kept, events continue, timers stop, and the log
// contains the remedy.
func topologyOtherWindow(t *testing.T, r *brokerTest) {
	c := r.config(daybook(nil))
	publish(t, r.publisher(t, c), placed("order1"))
	r.take(t, queueAwait, 1)
	c.PaymentWindow *= 2
	p := r.publisher(t, c)
	publish(t, p, placed("order2"))
	r.take(t, "comanda.daybook", 2)
	if n := r.ready(t, queueAwait); n != 0 {
		t.Errorf("%d timers were published to a queue that differs", n)
	}
	if !r.log.has("rabbitmqctl delete_queue " + r.prefix + queueAwait) {
		t.Error("the log does not contain the remedy")
	}

	ch := r.channel(t)
	testenv.Must(ch.QueueDelete(r.prefix+queueAwait, false, false, false))(t)
	r.proxy.Cut()
	testenv.Eventually(t, brokerTimeout, func() bool { return p.Ready(t.Context()) == nil && p.s.timers })
	publish(t, p, placed("order3"))
	r.take(t, queueAwait, 1)
}

// If the exchange cannot be declared nothing can be published, and the error contains the broker's reply.
func topologyOtherExchange(t *testing.T, r *brokerTest) {
	ch := r.channel(t)
	testenv.NoError(t, ch.ExchangeDeclare(r.prefix+event.Exchange, "fanout", true, false, false, false, nil))
	p := r.publisher(t, r.config())
	var refused *amqp.Error
	if err := p.Ready(t.Context()); !errors.As(err, &refused) || refused.Code != amqp.PreconditionFailed {
		t.Errorf("Ready = %v", err)
	}
	if p.link.up.Load() {
		t.Error("the useless connection was kept")
	}
}
