package rabbit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func applied(t *testing.T, db *sqldb.DB, want int) {
	t.Helper()
	testenv.Eventually(t, brokerTimeout, func() bool { return count(t, db, daybookPaid) >= want })
	testenv.Equal(t, want, count(t, db, daybookPaid))
}

func letters(t *testing.T, db *sqldb.DB) []eventsql.DeadLetter {
	t.Helper()
	return testenv.Must(eventsql.DeadLetters(t.Context(), db, eventsql.Filter{Consumer: "daybook"}, "", 100))(t)
}

// I15: a poison event ends as a row in dead_event and a copy in the .dlq; other events are applied meanwhile, and a
// replay applies it once the consumer is fixed.
func consumersPoison(t *testing.T, r *brokerTest) {
	db := sqldbtest.SQLite(t)
	in := inbox.New(db, inbox.Options{Pause: time.Millisecond})
	events := paid(100)
	poison := events[40].ID
	var mended atomic.Bool
	consumer := daybook(func(batch []event.Event) error {
		for _, e := range batch {
			if e.ID == poison && !mended.Load() {
				return errors.New("cannot be applied")
			}
		}
		return nil
	})
	c := r.config(consumer)
	r.consume(t, c, in, nil)
	publish(t, r.publisher(t, c), events...)
	applied(t, db, 99)

	testenv.Equal(t, poison, r.take(t, "comanda.daybook.dlq", 1)[0].MessageId)
	if dead := letters(t, db); len(dead) != 1 || dead[0].ID != poison || dead[0].Reason != "cannot be applied" {
		t.Fatalf("dead letters %+v", dead)
	}
	mended.Store(true)
	sum, err := in.Replay(t.Context(), consumer, eventsql.Filter{})
	if sum != (inbox.ReplayResult{Applied: 1}) || err != nil {
		t.Errorf("Replay = %+v, %v", sum, err)
	}
	applied(t, db, 100)
	if n := r.ready(t, "comanda.daybook"); n != 0 {
		t.Errorf("%d messages are left in the queue", n)
	}
}

// A message that is not an event becomes a dead letter at once, whatever its bytes, and delays no other message.
func consumersMalformed(t *testing.T, r *brokerTest) {
	db := sqldbtest.Postgres(t)
	c := r.config(daybook(nil))
	p := r.publisher(t, c)
	if err := p.Ready(t.Context()); err != nil { // declares the queues
		t.Fatal(err)
	}
	notJSON := encode(placed("order1"))
	notJSON.Body = []byte("\xff\x00{")
	strange := encode(placed("order2"))
	strange.Headers[headerAggregateID] = "nul\x00"
	for _, m := range []amqp.Publishing{{Body: []byte("\xff\x00hello")}, notJSON, strange} {
		r.put(t, "comanda.daybook", m)
	}
	publish(t, p, placed("order3"))
	r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	applied(t, db, 1)
	r.take(t, "comanda.daybook.dlq", 3)
	if dead := letters(t, db); len(dead) != 3 {
		t.Errorf("%d dead letters, want 3: %+v", len(dead), dead)
	}
}

// A failure that is not caused by the events uses up none of their attempts. They stay unacknowledged and are tried
// again.
func consumersDatabaseOutOfReach(t *testing.T, r *brokerTest) {
	db := sqldbtest.SQLite(t)
	var calls atomic.Int64
	consumer := daybook(func([]event.Event) error {
		if calls.Add(1) <= 4 { // the first call and its three repetitions by sqldb
			return sqldb.ErrRetry
		}
		return nil
	})
	c := r.config(consumer)
	r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	publish(t, r.publisher(t, c), paid(3)...)
	applied(t, db, 3)
	testenv.Equal(t, 0, count(t, db, failureCount))
}

// On shutdown the current batch is finished and acknowledged, so that nothing is delivered twice needlessly.
func consumersStop(t *testing.T, r *brokerTest) {
	db := sqldbtest.SQLite(t)
	started, goOn := make(chan struct{}), make(chan struct{})
	consumer := daybook(func([]event.Event) error {
		close(started)
		<-goOn
		return nil
	})
	c := r.config(consumer)
	stop := r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	publish(t, r.publisher(t, c), placed("order1"))
	<-started
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	close(goOn)
	<-stopped
	applied(t, db, 1)
	if n := r.ready(t, "comanda.daybook"); n != 0 {
		t.Errorf("%d messages are back in the queue", n)
	}
}

// Expired timers trigger the sweeper, once per batch, and are acknowledged.
func consumersExpired(t *testing.T, r *brokerTest) {
	c := r.config(daybook(nil))
	c.PaymentWindow = 100 * time.Millisecond
	woken := make(chan struct{}, 1000)
	r.consume(t, c, inbox.New(sqldbtest.SQLite(t), inbox.Options{}), func() { woken <- struct{}{} })
	events := make([]event.Event, 200)
	for i := range events {
		events[i] = placed(fmt.Sprintf("order%d", i))
	}
	publish(t, r.publisher(t, c), events...)
	<-woken
	testenv.Eventually(t, brokerTimeout, func() bool {
		return r.ready(t, queueAwait) == 0 && r.ready(t, queueExpired) == 0
	})
	if n := len(woken); n >= len(events) {
		t.Errorf("the sweeper was triggered %d times for %d orders", n, len(events))
	}
}

// Events are still applied after any number of lost connections, and no goroutine leaks.
func consumersFiftyLostConnections(t *testing.T, r *brokerTest) {
	db := sqldbtest.SQLite(t)
	c := r.config(daybook(nil))
	p := r.publisher(t, c)
	publish(t, p, placed("first"))
	stop := r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	applied(t, db, 1)
	before := runtime.NumGoroutine()
	for range 50 {
		taken := r.proxy.Accepted()
		r.proxy.Cut()
		testenv.Eventually(t, brokerTimeout, func() bool {
			return p.Ready(t.Context()) == nil && r.proxy.Accepted() >= taken+2
		})
	}
	publish(t, p, placed("last"))
	applied(t, db, 2)
	// Other tests run at the same time, so this bound is loose; goleak checks the end of the package exactly.
	testenv.Eventually(t, brokerTimeout, func() bool { return runtime.NumGoroutine() < before+200 })
	stop()
}

// A queue that is deleted is declared again and consumed again.
func consumersDeletedQueue(t *testing.T, r *brokerTest) {
	db := sqldbtest.SQLite(t)
	c := r.config(daybook(nil))
	r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	p := r.publisher(t, c)
	publish(t, p, placed("order1"))
	applied(t, db, 1)
	testenv.Must(r.channel(t).QueueDelete(r.prefix+"comanda.daybook", false, false, false))(t)
	testenv.Eventually(t, brokerTimeout, func() bool {
		refused, err := p.Publish(context.WithoutCancel(t.Context()), []event.Event{placed("order2")})
		return err == nil && refused[0] == nil
	})
	testenv.Eventually(t, brokerTimeout, func() bool { return count(t, db, daybookPaid) >= 2 })
}

// A process has caught up when all messages queued at its first connection are handled. The test queues more than a
// thousand, so that some are on the broker and some prefetched.
func consumersCatchUp(t *testing.T, r *brokerTest) {
	const waiting = prefetch + 10
	batches, goOn := make(chan int, waiting), make(chan struct{})
	consumer := inbox.Consumer{
		Name: "inventory_order_confirmed", Types: []string{event.ExternalOrderConfirmed.Name}, Queue: "confirmed",
		Apply: func(_ context.Context, _ sqldb.Tx, events []event.Event) error {
			<-goOn
			batches <- len(events)
			return nil
		},
	}
	c := r.config(consumer)
	p := r.publisher(t, c)
	testenv.Eventually(t, brokerTimeout, func() bool { return p.Ready(t.Context()) == nil }) // the queue exists
	for i := range waiting {
		r.put(t, "confirmed", amqp.Publishing{
			MessageId: fmt.Sprint("m", i), Headers: amqp.Table{headerType: event.ExternalOrderConfirmed.Name}, Body: []byte(`{}`),
		})
	}
	testenv.Eventually(t, brokerTimeout, func() bool { return r.ready(t, "confirmed") == waiting })
	cs := r.consumers(t, c, inbox.New(sqldbtest.SQLite(t), inbox.Options{}), nil)
	testenv.Eventually(t, brokerTimeout, func() bool { return r.ready(t, "confirmed") < waiting })
	select {
	case <-cs.CaughtUp():
		t.Error("it has caught up before anything was worked on")
	case <-time.After(3 * pollInterval): // longer than two polls: it must not be closed yet
	}
	close(goOn)
	<-cs.CaughtUp()
	n := 0
	for len(batches) > 0 {
		n += <-batches
	}
	if n != waiting {
		t.Errorf("it has caught up after %d of %d messages", n, waiting)
	}
}

// eventLog records in order the subscription's actions and its messages to the broker.
type eventLog struct{ notes []string }

func (l *eventLog) note(format string, args ...any) error {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
	return nil
}

func (l *eventLog) Ack(tag uint64, multiple bool) error { return l.note("ack %d %t", tag, multiple) }

func (l *eventLog) Nack(tag uint64, multiple, _ bool) error {
	return l.note("nack %d %t", tag, multiple)
}

func (l *eventLog) Reject(tag uint64, _ bool) error { return l.note("reject %d", tag) }

// A message is acknowledged after it is handled, according to its outcome: if the process dies earlier, the broker
// still has it.
func TestSubscription_acknowledges_after_the_work(t *testing.T) {
	t.Parallel()
	done, again, dead := inbox.Outcome{}, inbox.Outcome{State: inbox.Retry, After: time.Hour}, inbox.Outcome{State: inbox.Dead}
	for _, c := range []struct {
		outcomes []inbox.Outcome
		want     []string
		held     int
	}{
		{[]inbox.Outcome{done, done, done}, []string{"work on 3", "ack 3 true"}, 0},
		{[]inbox.Outcome{done, again, done}, []string{"work on 3", "ack 1 false", "ack 3 false"}, 1},
		{[]inbox.Outcome{dead, done, again}, []string{"work on 3", "reject 1", "ack 2 false"}, 1},
		{[]inbox.Outcome{again}, []string{"work on 1"}, 1},
	} {
		l := &eventLog{}
		lane := &subscription{handle: func(_ context.Context, batch []amqp.Delivery) []inbox.Outcome {
			_ = l.note("work on %d", len(batch))
			return c.outcomes
		}}
		batch := make([]amqp.Delivery, len(c.outcomes))
		for i := range batch {
			batch[i] = amqp.Delivery{Acknowledger: l, DeliveryTag: uint64(i + 1)}
		}
		lane.open.Store(int64(len(batch)))
		testenv.NoError(t, lane.handleNew(t.Context(), batch))
		testenv.Equal(t, int64(c.held), lane.open.Load()) // a held message keeps the process from having caught up
		if !slices.Equal(l.notes, c.want) || len(lane.held) != c.held {
			t.Errorf("%v: %v, %d held; want %v and %d", c.outcomes, l.notes, len(lane.held), c.want, c.held)
		}
	}
}
