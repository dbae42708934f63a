package rabbit

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

// Duration of an outage, and the number of events in it: at about three or a hundred events per second.
const outage = 10 * time.Minute

var backlog = testenv.Size(2_000, 60_000)

// I7, I16: events of ten minutes without a broker use up no attempts, and are confirmed once the broker is back,
// exactly as committed. A single relay also keeps the order of commits, and so that of each aggregate.
func TestRabbit_outage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB, broker *broker) {
		r := newBrokerTest(t, broker.URL())
		p := r.publisher(t, r.directConfig())
		testenv.NoError(t, p.Ready(t.Context()))
		r.witness(t)
		broker.all(t, broker.Stop) // a kill may keep only the names of queues that were just declared
		committed := gather(t, db)
		rel := outbox.New(db, p, outbox.Options{})
		for range 10 {
			if err := rel.RunOnce(t.Context()); err == nil {
				t.Fatal("relayed without a broker")
			}
		}
		s, err := outbox.ReadStatus(t.Context(), db)
		if err != nil || s.Pending != int64(backlog) || len(s.Dead) != 0 || s.OldestAgeSeconds < outage.Seconds() {
			t.Fatalf("status %+v, %v", s, err)
		}
		broker.all(t, broker.Restart)
		drain(t, rel)
		r.nothingWrong(t, db)
		testenv.Equal(t, backlog, count(t, db, relayedCount))
		r.compare(t, committed)
	})
}

// directConfig returns a configuration that bypasses the proxy, which is slow.
func (r *brokerTest) directConfig() Config {
	c := r.config(daybook(nil))
	c.URL = telemetry.Secret(r.direct)
	return c
}

// gather commits the events of an outage with their own times: orders are placed and then paid or cancelled,
// reservations are made, sold and released, many concurrently.
func gather(t testing.TB, db *sqldb.DB) []event.Event {
	t.Helper()
	outageStart := db.Now().Add(-outage)
	all := make([]event.Event, 0, backlog)
	for i := range backlog {
		all = append(all, eventOf(outageStart.Add(time.Duration(i)*outage/time.Duration(backlog)), i))
	}
	for from := 0; from < len(all); from += 500 {
		commit(t, db, all[from:from+500])
	}
	return all
}

// eventOf returns the i-th event of fifty orders and fifty reservations: all first steps precede all second steps.
func eventOf(at time.Time, i int) event.Event {
	const lives = 50
	round, place := i/(5*lives), i%(5*lives)
	step, id := place/lives, fmt.Sprintf("life%d-%d", round, place%lives)
	items := []event.ItemQuantity{{ItemID: "rice", Quantity: int64(i)}}
	switch {
	case step == 0:
		return event.OrderPlaced.New(at, id, 1, 7, event.Placed{OrderID: id, BranchID: 7, TotalAmount: int64(i), PayBy: at})
	case step == 1:
		return event.InventoryReserved.New(at, id, 1, 7, event.Reserved{OrderID: id, BranchID: 7, Items: items, ExpiresAt: at})
	case step == 2 && i%2 == 0:
		return event.OrderPaid.New(at, id, 2, 7, event.Paid{OrderID: id, BranchID: 7, TotalAmount: int64(i)})
	case step == 2:
		return event.OrderCanceled.New(at, id, 2, 7, event.Canceled{OrderID: id, BranchID: 7, Reason: "EXPIRED"})
	case step == 3:
		return event.InventorySold.New(at, id, 2, 7, event.Sold{OrderID: id, BranchID: 7, Items: items})
	}
	return event.InventoryReturned.New(at, id, 3, 7, event.Released{OrderID: id, BranchID: 7, Items: items, Reason: "RETURNED"})
}

// drain relays until the outbox is empty and, like the relay's loop, continues after a failure.
func drain(t testing.TB, rel *outbox.Relay) {
	t.Helper()
	testenv.Eventually(t, brokerTimeout, func() bool { return rel.RunOnce(t.Context()) == nil })
}

// witness declares a queue of another system that receives all events.
func (r *brokerTest) witness(t testing.TB) {
	t.Helper()
	ch := r.channel(t)
	defer func() { _ = ch.Close() }()
	q, err := ch.QueueDeclare(r.prefix+"witness", true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum})
	for _, b := range []binding{
		{event.Exchange, "order.placed"}, {event.Exchange, "order.paid"}, {event.Exchange, "order.canceled"},
		{event.StockExchange, "inventory.#"},
	} {
		if err == nil {
			err = ch.QueueBind(q.Name, b.key, r.prefix+b.exchange, false, nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compare compares the events that the witness received with those committed. An event whose confirmation came too late
// is published again; only its first delivery counts for the order.
func (r *brokerTest) compare(t *testing.T, committed []event.Event) {
	t.Helper()
	ch := r.channel(t)
	messages := testenv.Must(ch.Consume(r.prefix+"witness", "", true, false, false, false, nil))(t)
	received := make(map[string]bool, len(committed))
	for len(received) < len(committed) {
		select {
		case d := <-messages:
			if received[d.MessageId] {
				continue
			}
			want := committed[len(received)]
			got, err := decode(d)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("message %d: %v\n%s", len(received), err, diff)
			}
			received[d.MessageId] = true
		case <-time.After(brokerTimeout):
			t.Fatalf("%d events of %d were received", len(received), len(committed))
		}
	}
}

// BenchmarkOutage measures how fast a backlog is confirmed by an otherwise idle broker.
func BenchmarkOutage(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			db, broker := open(b), testenv.RabbitServer(b)
			r := newBrokerTest(b, broker.URL())
			p := r.publisher(b, r.directConfig())
			testenv.NoError(b, p.Ready(b.Context()))
			r.witness(b)
			for b.Loop() {
				b.StopTimer()
				gather(b, db)
				b.StartTimer()
				drain(b, outbox.New(db, p, outbox.Options{}))
			}
			b.ReportMetric(float64(backlog*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
