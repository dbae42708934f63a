package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/testenv"
)

// publishers is the number of connections; each waits for the broker's confirmation of one message.
const publishers = 8

// publisher publishes another system's messages, each repeatedly until the broker confirms it. Without a broker they
// wait. It also has its own queue for all events of the stock.
type publisher struct {
	s        *installation
	address  string
	exchange string
	queue    string
	waiting  chan message
	all      sync.WaitGroup
}

type message struct{ key, order string }

func newPublisher(s *installation, address string) *publisher {
	p := &publisher{
		s: s, address: address, exchange: s.env["AMQP_PREFIX"] + "lmall.events", queue: s.env["AMQP_PREFIX"] + "stock-client",
		waiting: make(chan message, 3*reservations),
	}
	ch := openQueues(s.t, address).ch
	_, err := ch.QueueDeclare(p.queue, true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum})
	if err == nil {
		err = ch.ExchangeDeclare(p.exchange, amqp.ExchangeTopic, true, false, false, false, nil)
	}
	if err == nil {
		err = ch.QueueBind(p.queue, "inventory.#", p.exchange, false, nil)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for range publishers {
		p.all.Go(p.publish)
	}
	s.t.Cleanup(p.close)
	return p
}

// send queues a message without waiting for the broker.
func (p *publisher) send(key, order string) { p.waiting <- message{key, order} }

// close delivers the queued messages. A second call does nothing.
func (p *publisher) close() {
	if p.waiting != nil {
		close(p.waiting)
		p.all.Wait()
		p.waiting = nil
	}
}

// link is a publishing connection; conn is nil before the first.
type link struct {
	conn     *amqp.Connection
	ch       *amqp.Channel
	returned chan amqp.Return // has the current message if no queue is bound to its key
}

func (p *publisher) publish() {
	var l link
	for m := range p.waiting {
		over := time.Now().Add(2 * patience)
		for {
			err := p.deliver(&l, m)
			if err == nil {
				break
			}
			if time.Now().After(over) {
				p.s.t.Errorf("%v is not published: %v", m, err)
				break
			}
			<-time.After(50 * time.Millisecond) // like a real system
		}
	}
	if l.conn != nil {
		_ = l.conn.Close() // everything was confirmed
	}
}

var (
	errUnconfirmed = errors.New("the broker has not confirmed the message")
	errUnrouted    = errors.New("no queue is bound to the message's key")
)

// deliver connects if there is no connection, and returns nil once the broker has confirmed the message. Some messages
// have the id of an earlier one about the same order. The broker also confirms a message that it drops because the
// server has not yet bound its queue; such a message is mandatory, so it is returned.
func (p *publisher) deliver(l *link, m message) (err error) {
	if l.conn == nil || l.conn.IsClosed() {
		if l.conn, err = amqp.Dial(p.address); err != nil {
			l.conn = nil
			return err
		}
		if l.ch, err = l.conn.Channel(); err != nil {
			return errors.Join(err, l.conn.Close())
		}
		if err = l.ch.Confirm(false); err != nil {
			return errors.Join(err, l.conn.Close())
		}
		l.returned = l.ch.NotifyReturn(make(chan amqp.Return, 1))
	}
	body, _ := json.Marshal(map[string]string{"orderId": m.order}) //nolint:errchkjson // strings always marshal
	c, err := l.ch.PublishWithDeferredConfirm(p.exchange, m.key, true, false, amqp.Publishing{
		MessageId: fmt.Sprintf("%s-%s-%d", m.key, m.order, rand.IntN(2)), ContentType: "application/json", Body: body,
		DeliveryMode: amqp.Persistent,
	})
	if err != nil {
		return err
	}
	if !c.Wait() {
		return errUnconfirmed
	}
	select { // a message is returned before it is confirmed
	case r, ok := <-l.returned:
		if ok {
			return fmt.Errorf("%w: %s", errUnrouted, r.ReplyText)
		}
		return errUnconfirmed // the channel has been closed
	default:
		return nil
	}
}

// receive consumes the queue until it has received want different messages, and those already on their way. It returns
// the number of messages by type, without duplicates.
func (p *publisher) receive(want int) map[string]int {
	t := p.s.t
	t.Helper()
	ch := openQueues(t, p.address).ch
	all := testenv.Must(ch.Consume(p.queue, "stock-client", true, false, false, false, nil))(t)
	texts, seen := map[string]int{}, map[string]bool{}
	note := func(m amqp.Delivery) {
		if !seen[m.MessageId] {
			texts[m.Type]++
		}
		seen[m.MessageId] = true
	}
	for len(seen) < want {
		select {
		case m := <-all:
			note(m)
		case <-time.After(patience):
			t.Fatalf("%d of %d messages came: %v", len(seen), want, texts)
		}
	}
	if err := ch.Cancel("stock-client", false); err != nil { // ends the loop over the deliveries
		t.Fatal(err)
	}
	for m := range all {
		note(m)
	}
	return texts
}
