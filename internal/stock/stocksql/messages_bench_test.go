package stocksql_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event/outbox"
	"comanda/internal/event/rabbit"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/worker"
)

// BenchmarkMessages consumes reservation requests that wait in RabbitMQ, each for a unit of one of 100 items, until all
// are applied and their answers are in the outbox. The variant published also runs the relay, and ends when all answers
// are published.
func BenchmarkMessages(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		b.Run(name+"/answered", func(b *testing.B) { benchmarkMessages(b, open(b), false) })
		b.Run(name+"/published", func(b *testing.B) { benchmarkMessages(b, open(b), true) })
	}
}

func benchmarkMessages(b *testing.B, db *sqldb.DB, tell bool) {
	mq := openBroker(b)
	units := map[string]int64{}
	for i := range benchItems {
		units[fmt.Sprintf("item-%d", i)] = stock.MaxAvailable
	}
	e := listen(b, db, units)
	mq.declare(b, e)
	mq.backlog(b, b.N)
	if tell {
		mq.relay(b, e)
	}
	b.ResetTimer()
	mq.drain(b, e, b.N, b.N)
	if tell {
		testenv.Eventually(b, longWait, func() bool {
			s, err := outbox.ReadStatus(b.Context(), db)
			return err == nil && s.Pending == 0
		})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// backlog publishes n reservation requests to the queue.
func (q *broker) backlog(b *testing.B, n int) {
	b.Helper()
	testenv.NoError(b, q.ch.Confirm(false))
	var last []*amqp.DeferredConfirmation
	for i := range n {
		m := created("", fmt.Sprintf("order-%d", i), fmt.Sprintf("item-%d*1", i%benchItems))
		c, err := q.ch.PublishWithDeferredConfirmWithContext(b.Context(), q.prefix+"goods", m.typ, true, false, amqp.Publishing{
			MessageId: fmt.Sprintf("m-%d", i), DeliveryMode: amqp.Persistent, Body: []byte(m.body),
		})
		if err != nil {
			b.Fatal(err)
		}
		if last = append(last, c); len(last) == 1000 || i == n-1 {
			for _, c := range last {
				c.Wait()
			}
			last = last[:0]
		}
	}
}

// relay publishes answers until the end of the benchmark.
func (q *broker) relay(b *testing.B, e *consumerFixture) {
	b.Helper()
	p := testenv.Must(rabbit.NewPublisher(q.config(e)))(b)
	b.Cleanup(p.Close)
	r := outbox.New(e.db, p, outbox.Options{})
	w := worker.New(worker.Loop{Name: "relay", Run: r.RunOnce, Every: 20 * time.Millisecond}, slog.New(slog.DiscardHandler),
		worker.NewMetrics(nil))
	testenv.NoError(b, w.Start(b.Context()))
	b.Cleanup(func() { _ = w.Stop(context.Background()) })
}
