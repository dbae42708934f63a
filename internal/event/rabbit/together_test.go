package rabbit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/worker"
)

func networkCutsSQLite(t *testing.T, r *brokerTest)   { networkCuts(t, r, sqldbtest.SQLite(t), 1) }
func networkCutsPostgres(t *testing.T, r *brokerTest) { networkCuts(t, r, sqldbtest.Postgres(t), 3) }

// networkCuts relays and consumes while the network is cut again and again, first between a batch and its confirms. I7,
// I8: every committed event is published, and applied exactly once.
func networkCuts(t *testing.T, r *brokerTest, db *sqldb.DB, relays int) {
	events := testenv.Size(3000, 6000)
	c := r.config(daybook(nil))
	r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	for range relays {
		relay(t, r, c, db)
	}

	r.proxy.cutConfirm() // at least one confirm is lost; the other cuts are at random points
	var writer sync.WaitGroup
	writer.Go(func() {
		for range events / 100 {
			commit(t, db, paid(100))
		}
	})
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		relayed := count(t, db, relayedCount)
		r.proxy.cutAfter(rnd.IntN(6000))
		testenv.Eventually(t, brokerTimeout, func() bool {
			n := count(t, db, relayedCount)
			return n >= events || n >= relayed+events/20
		})
	}
	writer.Wait()
	r.proxy.cutAfter(-1)
	testenv.Eventually(t, brokerTimeout, func() bool { return count(t, db, relayedCount) == events })
	applied(t, db, events)

	s, err := outbox.ReadStatus(t.Context(), db)
	if err != nil || s.Pending != 0 || len(s.Dead) != 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	if n := count(t, db, failureCount); n != 0 {
		t.Errorf("%d events failed at the consumer", n)
	}
	if !r.log.has(errLost.Error()) {
		t.Error("no batch was cut off before its confirms, so nothing was shown")
	}
}

// relay runs a relay until the end of the test.
func relay(t testing.TB, r *brokerTest, c Config, db *sqldb.DB) {
	t.Helper()
	rel := outbox.New(db, r.publisher(t, c), outbox.Options{Log: c.Log})
	w := worker.New(worker.Loop{
		Name: "relay", Run: rel.RunOnce, Every: 5 * time.Millisecond, MaxPause: 200 * time.Millisecond,
	}, c.Log, worker.NewMetrics(nil))
	testenv.NoError(t, w.Start(context.Background()))
	t.Cleanup(func() {
		if err := w.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// I16: while the broker is down events accumulate without using attempts; afterwards the backlog is published.
func brokerDown(t *testing.T, r *brokerTest) {
	db := sqldbtest.SQLite(t)
	r.proxy.Down(true)
	c := r.config(daybook(nil))
	p := r.publisher(t, c)
	rel := outbox.New(db, p, outbox.Options{})
	commit(t, db, paid(1500))
	for range 20 {
		if err := rel.RunOnce(t.Context()); err == nil {
			t.Fatal("relayed without a broker")
		}
	}
	s, err := outbox.ReadStatus(t.Context(), db)
	if err != nil || s.Pending != 1500 || len(s.Dead) != 0 {
		t.Fatalf("status %+v, %v", s, err)
	}
	r.proxy.Down(false)
	r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	testenv.NoError(t, rel.RunOnce(t.Context()))
	applied(t, db, 1500)
	testenv.Equal(t, 1500, count(t, db, relayedCount))
}

func BenchmarkRelay(b *testing.B) {
	address := testenv.AMQP(b)
	engines := map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres}
	for name, open := range engines {
		for kind, eventsOf := range map[string]func(int) []event.Event{"paid": paid, "placed": placedMany, "sold": sold} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				db, r := open(b), newBrokerTest(b, address)
				p := r.publisher(b, Config{
					URL: r.config().URL, Prefix: r.prefix, PaymentWindow: time.Minute, Consumers: []inbox.Consumer{daybook(nil)},
				})
				testenv.NoError(b, p.Ready(b.Context()))
				r.otherSystemQueue(b, event.StockExchange)
				for left := b.N; left > 0; left -= 1000 {
					commit(b, db, eventsOf(min(left, 1000)))
				}
				b.ResetTimer()
				testenv.NoError(b, outbox.New(db, p, outbox.Options{}).RunOnce(b.Context()))
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// otherSystemQueue declares a queue for all stock events.
func (r *brokerTest) otherSystemQueue(t testing.TB, exchange string) {
	t.Helper()
	name := r.prefix + "others"
	testenv.DropQueues(t, r.address, name)
	ch := r.channel(t)
	testenv.Must(ch.QueueDeclare(name, true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum}))(t)
	testenv.NoError(t, ch.QueueBind(name, "inventory.#", r.prefix+exchange, false, nil))
}

func sold(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		id := fmt.Sprintf("reservation%d", i)
		events[i] = event.InventorySold.New(noon, id, 2, 7, event.Sold{
			OrderID: id, BranchID: 7, Items: []event.ItemQuantity{{ItemID: "rice", Quantity: 1}},
		})
	}
	return events
}

func placedMany(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		events[i] = placed("order")
	}
	return events
}
