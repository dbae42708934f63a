package stocksql_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/event/bus"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/event/rabbit"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
	"comanda/internal/worker"
)

// transport delivers messages to the consumers of a fixture and waits until all are handled.
type transport func(t testing.TB, e *consumerFixture, messages []message)

// Messages have the same results over every transport. Each is delivered three times, in any order.
func TestTransports(t *testing.T) {
	t.Parallel()
	b := openBroker(t)
	for name, carry := range map[string]transport{"bus": overBus, "rabbit": b.carry} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { carryScenarios(t, db, carry) })
		})
	}
}

// carryScenarios delivers scenarios of ample and scarce stock over a transport, each message three times and shuffled.
func carryScenarios(t *testing.T, db *sqldb.DB, carry transport) {
	e := listen(t, db, nil)
	fixture := &stock.ReservationService{Store: e.reservations, Now: func() time.Time { return e.now }}
	for n := range 6 {
		plain := rapid.Custom(func(rt *rapid.T) scenario {
			return drawScenario(rt, fmt.Sprintf("p%d-", n), []int64{1000, 12}[n%2])
		}).Example(n)
		mixed := plain.again(fmt.Sprintf("m%d-", n))
		e.receive(t, plain.units)
		e.receive(t, mixed.units)
		for _, m := range plain.messages() {
			e.handle(t, m)
			e.deliveries, e.messages = e.deliveries+1, e.messages+1
		}
		want := e.outcome(t, plain)
		messages := repeatThreeTimes(mixed.messages())
		rnd := rand.New(rand.NewPCG(uint64(n), 1))
		rnd.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		carry(t, e, messages)
		if err := fixture.ExpireOverdue(t.Context()); err != nil { // a Confirm that was committed concurrently with its Try
			t.Fatal(err)
		}
		got := e.outcome(t, mixed)
		mixed.consistent(t, got)
		if diff := cmp.Diff(want, got); n%2 == 0 && diff != "" {
			t.Errorf("story %d (-in order +shuffled):\n%s", n, diff)
		}
	}
	e.answers(t)
}

// overBus delivers the messages through our own outbox, as other packages of this program might.
func overBus(t testing.TB, e *consumerFixture, messages []message) {
	t.Helper()
	local := testenv.Must(bus.New(e.in, e.reservations.Consumers()...))(t)
	relay := outbox.New(e.db, local, outbox.Options{})
	for len(messages) > 0 { // the outbox holds each id only once
		var round, rest []message
		for _, m := range messages {
			if slices.ContainsFunc(round, func(o message) bool { return o.id == m.id }) {
				rest = append(rest, m)
				continue
			}
			round = append(round, m)
		}
		messages = rest
		for chunk := range slices.Chunk(round, 5) {
			testenv.NoError(t, e.db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				events := make([]event.Event, len(chunk))
				for i, m := range chunk {
					events[i] = m.event()
				}
				outbox.Queue(tx, events)
				return nil
			}))
			testenv.NoError(t, relay.RunOnce(t.Context()))
		}
	}
}

// broker is a test's queues and connection on RabbitMQ.
type broker struct {
	address string
	prefix  string
	ch      *amqp.Channel
}

const longWait = 90 * time.Second // the broker and the machine are shared with other tests

// virtualHost is shared by all tests, each with its own names, because creating one takes seconds.
var virtualHost struct {
	testenv.Shared
	sync.Mutex

	url string
}

func brokerURL(t testing.TB) string {
	t.Helper()
	virtualHost.Lock()
	defer virtualHost.Unlock()
	if virtualHost.url == "" {
		virtualHost.url = testenv.AMQP(virtualHost.For(t))
	}
	return virtualHost.url
}

func openBroker(t testing.TB) *broker {
	t.Helper()
	b := &broker{address: brokerURL(t), prefix: testenv.Name(t) + "."}
	names := []string{"order.payment.await.q", "order.expired.q", "store.order.paid", "store.order.canceled"}
	for _, q := range inputs {
		names = append(names, q, q+".dlq")
	}
	for i, name := range names {
		names[i] = b.prefix + name
	}
	testenv.DropQueues(t, b.address, names...)
	conn := testenv.Must(amqp.Dial(b.address))(t)
	t.Cleanup(func() { _ = conn.Close() })
	b.ch = testenv.Must(conn.Channel())(t)
	return b
}

// inputs are the queues for requests of inventory-tcc.md.
var inputs = []string{"inventory.order.created", "inventory.order.confirmed", "inventory.order.cancel.requested"}

func (b *broker) config(e *consumerFixture) rabbit.Config {
	return rabbit.Config{
		URL: telemetry.Secret(b.address), Prefix: b.prefix, StockExchange: "goods", PaymentWindow: time.Minute,
		Consumers: e.reservations.Consumers(),
	}
}

// declare declares exchanges and queues.
func (b *broker) declare(t testing.TB, e *consumerFixture) {
	t.Helper()
	p := testenv.Must(rabbit.NewPublisher(b.config(e)))(t)
	defer p.Close()
	testenv.Eventually(t, longWait, func() bool { return p.Ready(t.Context()) == nil })
}

// send publishes as other systems do, without the headers of our own events.
func (b *broker) send(t testing.TB, key string, m amqp.Publishing) {
	t.Helper()
	m.DeliveryMode = amqp.Persistent
	testenv.NoError(t, b.ch.PublishWithContext(t.Context(), b.prefix+"goods", key, true, false, m))
}

// consume runs consumers until the returned function is called.
func (b *broker) consume(t testing.TB, e *consumerFixture) (stop func()) {
	t.Helper()
	cs := testenv.Must(rabbit.NewConsumers(b.config(e), e.in, nil))(t)
	w := worker.New(cs.Loop(), slog.New(slog.DiscardHandler), worker.NewMetrics(nil))
	testenv.NoError(t, w.Start(context.Background()))
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
}

// waiting counts the messages in queues that no consumer has received.
func (b *broker) waiting(t testing.TB, queues ...string) int {
	t.Helper()
	n := 0
	for _, name := range queues {
		q := testenv.Must(b.ch.QueueDeclarePassive(b.prefix+name, true, false, false, false, nil))(t)
		n += q.Messages
	}
	return n
}

// drain consumes until the given number of further deliveries was handled and the given number of messages was applied
// or became dead letters. Deliveries are counted before the commit, and once more after a rollback; messages are
// counted by what is committed.
func (b *broker) drain(t testing.TB, e *consumerFixture, deliveries, messages int) {
	t.Helper()
	stop := b.consume(t, e)
	defer stop()
	e.deliveries += deliveries
	e.messages += messages
	testenv.Eventually(t, longWait, func() bool {
		n, err := sqldb.Scalar[int](t.Context(), e.db, messageStmts.Must("settled"))
		return err == nil && n == e.messages && e.handled(t) >= e.deliveries
	})
}

// handled returns the number of deliveries that the inbox has handled.
func (e *consumerFixture) handled(t testing.TB) int {
	t.Helper()
	families := testenv.Must(e.figures.Gather())(t)
	n := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "consumer_message_total" && m.GetLabel()[1].GetValue() != "retry" {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return int(n)
}

func (b *broker) carry(t testing.TB, e *consumerFixture, messages []message) {
	t.Helper()
	b.declare(t, e)
	ids := map[string]bool{}
	for _, m := range messages {
		ids[m.id] = true
		b.send(t, m.typ, amqp.Publishing{MessageId: m.id, Body: []byte(m.body)})
	}
	b.drain(t, e, len(messages), len(ids))
}

// A publisher needs only what inventory-tcc.md sends: a routing key or a header, and a body.
func TestRabbit_external_messages(t *testing.T) {
	t.Parallel()
	b := openBroker(t)
	e := listen(t, sqldbtest.SQLite(t), map[string]int64{"rice": 100})
	b.declare(t, e)
	body := []byte(`{"orderId":"nameless","branchId":1,"itemId":"rice","quantity":2,"customer":{"name":"Bình"}}`)
	for range 3 { // without a message id, repetitions are recognized by their body
		b.send(t, "order.created", amqp.Publishing{Body: body})
	}
	b.send(t, "order.created", amqp.Publishing{MessageId: "7", Body: []byte(created("", "seven", "rice*3").body)})
	b.send(t, "order.confirmed", amqp.Publishing{MessageId: "7", Body: []byte(confirmed("", "seven").body)}) // each queue has its own ids
	// Moved by hand into its queue, it has the queue's name as its routing key.
	testenv.NoError(t, b.ch.PublishWithContext(t.Context(), "", b.prefix+inputs[2], true, false, amqp.Publishing{
		Headers: amqp.Table{"event_type": "order.cancel.requested"}, Body: []byte(cancelRequested("", "nameless").body),
	}))
	b.drain(t, e, 6, 4)
	if got := e.levels(t, "rice")["rice"]; got != [3]int64{97, 0, 3} {
		t.Errorf("available, reserved, sold %v", got)
	}
	if s, n := e.status(t, "seven"), e.status(t, "nameless"); s != stock.StatusConfirmed || n != stock.StatusCancelled {
		t.Errorf("seven is %s, nameless is %s", s, n)
	}
	if n := len(e.answers(t)); n < 4 || n > 5 { // if the cancellation was first, the Try is refused
		t.Errorf("%d answers", n)
	}
}

// I15: a message that can never be applied ends once in its queue's .dlq and in dead_event, without delay to its
// neighbours.
func TestRabbit_poison(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := openBroker(t)
		e := listen(t, db, map[string]int64{"rice": 100})
		b.declare(t, e)
		for i, body := range []string{`{"orderId"`, "\xff\x00", `{"orderId":"no such name"}`, `[]`} {
			b.send(t, "order.confirmed", amqp.Publishing{Body: []byte(body)})
			b.send(t, "order.created", amqp.Publishing{Body: []byte(created("", fmt.Sprintf("o%d", i), "rice*1").body)})
		}
		b.drain(t, e, 8, 8)
		testenv.Eventually(t, longWait, func() bool { return b.waiting(t, inputs[1]+".dlq") == 4 })
		if n := b.waiting(t, inputs[0]+".dlq", inputs[2]+".dlq"); n != 0 {
			t.Errorf("%d good messages are dead letters", n)
		}
		letters, err := eventsql.DeadLetters(t.Context(), db, eventsql.Filter{Consumer: "inventory_order_confirmed"}, "", 10)
		if err != nil || len(letters) != 4 {
			t.Fatalf("dead letters %+v, %v", letters, err)
		}
		for _, l := range letters {
			if l.Type != "order.confirmed" || l.Reason == "" {
				t.Errorf("dead letter %+v", l)
			}
		}
		testenv.Equal(t, 4, e.levels(t, "rice")["rice"][1])
		sum, err := e.in.Replay(t.Context(), e.reservations.Consumers()[1], eventsql.Filter{})
		if sum != (inbox.ReplayResult{Failed: 4}) || err != nil {
			t.Errorf("Replay = %+v, %v", sum, err)
		}
	})
}
