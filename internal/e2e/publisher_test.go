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

func (p *publisher) publish() {
	var conn *amqp.Connection
	var ch *amqp.Channel
	for l := range p.waiting {
		over := time.Now().Add(2 * patience)
		for {
			err := p.deliver(&conn, &ch, l)
			if err == nil {
				break
			}
			if time.Now().After(over) {
				p.s.t.Errorf("%v is not published: %v", l, err)
				break
			}
			<-time.After(50 * time.Millisecond) // like a real system
		}
	}
	if conn != nil {
		_ = conn.Close() // everything was confirmed
	}
}

var errUnconfirmed = errors.New("the broker has not confirmed the message")

// deliver connects if there is no connection, and returns nil once the broker has confirmed the message. Some messages
// have the id of an earlier one about the same order.
func (p *publisher) deliver(conn **amqp.Connection, ch **amqp.Channel, l message) (err error) {
	if *conn == nil || (*conn).IsClosed() {
		if *conn, err = amqp.Dial(p.address); err != nil {
			*conn = nil
			return err
		}
		if *ch, err = (*conn).Channel(); err != nil {
			return errors.Join(err, (*conn).Close())
		}
		if err = (*ch).Confirm(false); err != nil {
			return errors.Join(err, (*conn).Close())
		}
	}
	body, _ := json.Marshal(map[string]string{"orderId": l.order}) //nolint:errchkjson // strings always marshal
	c, err := (*ch).PublishWithDeferredConfirm(p.exchange, l.key, false, false, amqp.Publishing{
		MessageId: fmt.Sprintf("%s-%s-%d", l.key, l.order, rand.IntN(2)), ContentType: "application/json", Body: body,
		DeliveryMode: amqp.Persistent,
	})
	if err == nil && !c.Wait() {
		err = errUnconfirmed
	}
	return err
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
