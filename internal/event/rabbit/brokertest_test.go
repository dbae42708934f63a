package rabbit

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
	"comanda/internal/worker"
)

// brokerTimeout is far more than a healthy broker needs, because the broker and the machine are shared with other tests.
const brokerTimeout = 90 * time.Second

func TestMain(m *testing.M) {
	testenv.Parallel(8)
	goleak.VerifyTestMain(sharedMain{m})
}

// sharedMain stops shared servers after the last test.
type sharedMain struct{ *testing.M }

// Run runs the tests.
func (e sharedMain) Run() int {
	defer shared.Close()
	return e.M.Run()
}

var shared testenv.Shared

// node is the broker that tests stop, kill and wipe, one test at a time, because each start takes seconds.
var node struct {
	sync.Mutex

	broker *testenv.Broker
}

// ownBroker returns a running node for one test at a time.
func ownBroker(t testing.TB) *testenv.Broker {
	t.Helper()
	node.Lock()
	t.Cleanup(node.Unlock)
	if node.broker == nil {
		node.broker = testenv.RabbitServer(shared.For(t))
	}
	node.broker.HandTo(t)
	if !node.broker.Running() { // a test has failed halfway
		node.broker.Restart()
	}
	return node.broker
}

// onBoth runs a test on both engines concurrently with one shared node, or with -short on SQLite only.
func onBoth(t *testing.T, test func(t *testing.T, db *sqldb.DB, broker *broker)) {
	t.Helper()
	all := map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres}
	if testing.Short() {
		delete(all, "postgres")
	}
	b := &broker{Broker: ownBroker(t), users: len(all), done: make(chan struct{})}
	var engines sync.WaitGroup
	for name, open := range all {
		engines.Go(func() {
			defer b.leave() // at once where the command line selects the other engine alone
			t.Run(name, func(t *testing.T) { test(t, open(t), b) })
		})
	}
	engines.Wait()
}

// broker is a node that two tests use concurrently.
type broker struct {
	*testenv.Broker

	mu    sync.Mutex
	users int
	ready []func()      // functions of the users that wait in all; they are equal
	done  chan struct{} // closed when the function has run
}

// all runs act once every test that uses the node has called it.
func (b *broker) all(t testing.TB, act func()) {
	t.Helper()
	<-b.arrive(t, act)
}

func (b *broker) arrive(t testing.TB, act func()) (done <-chan struct{}) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = append(b.ready, act)
	done = b.done
	b.proceed(t)
	return done
}

func (b *broker) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users--
	b.proceed(nil)
}

// proceed runs the function once every user of the node has called all or left.
func (b *broker) proceed(t testing.TB) {
	if len(b.ready) == 0 || len(b.ready) < b.users {
		return
	}
	defer func() {
		close(b.done)
		b.ready, b.done = nil, make(chan struct{})
	}()
	if t != nil {
		b.HandTo(t)
	}
	b.ready[0]()
}

// TestRabbit runs all tests that need the broker. They share a virtual host, since creating one takes seconds; each has
// its own prefix.
func TestRabbit(t *testing.T) {
	t.Parallel()
	address := testenv.AMQP(t)
	for name, test := range map[string]func(*testing.T, *brokerTest){
		"publisher/wire form":                 publisherWireForm,
		"publisher/stock":                     publisherStockExchange,
		"publisher/timer":                     publisherTimer,
		"publisher/unknown type":              publisherUnknownType,
		"publisher/missing queue":             publisherMissingQueue,
		"publisher/full queue":                publisherFullQueue,
		"publisher/hanging broker":            publisherHangingBroker,
		"publisher/alarm":                     publisherAlarm,
		"publisher/closed":                    publisherClosed,
		"topology/other window":               topologyOtherWindow,
		"topology/other exchange":             topologyOtherExchange,
		"consumers/poison":                    consumersPoison,
		"consumers/malformed":                 consumersMalformed,
		"consumers/database out of reach":     consumersDatabaseOutOfReach,
		"consumers/stop finishes the batch":   consumersStop,
		"consumers/expired":                   consumersExpired,
		"consumers/fifty lost connections":    consumersFiftyLostConnections,
		"consumers/deleted queue":             consumersDeletedQueue,
		"consumers/catch up":                  consumersCatchUp,
		"together/sqlite":                     networkCutsSQLite,
		"together/postgres with three relays": networkCutsPostgres,
		"together/broker down for a while":    brokerDown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBrokerTest(t, address))
		})
	}
}

// brokerTest is one test's environment on the broker.
type brokerTest struct {
	prefix  string
	direct  string // bypasses the proxy
	address string // through the proxy
	proxy   *proxy
	admin   *amqp.Connection // bypasses the proxy
	log     *logged
}

func newBrokerTest(t testing.TB, address string) *brokerTest {
	t.Helper()
	r := &brokerTest{prefix: testenv.Name(t) + ".", direct: address, log: &logged{}}
	var names []string
	for _, q := range newTopology(r.config(daybook(nil))).queues {
		names = append(names, q.name)
	}
	testenv.DropQueues(t, address, names...)
	r.connect(t)
	r.proxy, r.address = newProxy(t, address)
	return r
}

func (r *brokerTest) config(consumers ...inbox.Consumer) Config {
	return Config{
		URL: telemetry.Secret(r.address), Prefix: r.prefix, PaymentWindow: time.Minute, Consumers: consumers,
		Log: slog.New(slog.NewTextHandler(r.log, nil)),
	}
}

func (r *brokerTest) publisher(t testing.TB, c Config) *Publisher {
	t.Helper()
	p := testenv.Must(NewPublisher(c))(t)
	p.missingPause = 300 * time.Millisecond
	t.Cleanup(p.Close)
	return p
}

// consumers starts consumers that end with the test.
func (r *brokerTest) consumers(t testing.TB, c Config, in *inbox.Inbox, expired func()) *Consumers {
	t.Helper()
	cs := testenv.Must(NewConsumers(c, in, expired))(t)
	run(t, c, cs)
	return cs
}

// consume starts consumers and returns the function that stops them.
func (r *brokerTest) consume(t testing.TB, c Config, in *inbox.Inbox, expired func()) (stop func()) {
	t.Helper()
	cs := testenv.Must(NewConsumers(c, in, expired))(t)
	return run(t, c, cs)
}

func run(t testing.TB, c Config, cs *Consumers) (stop func()) {
	t.Helper()
	loop := cs.Loop()
	loop.Every, loop.MinPause, loop.MaxPause = 20*time.Millisecond, 20*time.Millisecond, 200*time.Millisecond
	w := worker.New(loop, c.Log, worker.NewMetrics(nil))
	testenv.NoError(t, w.Start(context.Background()))
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// connect opens the test's own connection.
func (r *brokerTest) connect(t testing.TB) {
	t.Helper()
	admin := testenv.Must(amqp.Dial(r.direct))(t)
	t.Cleanup(func() { _ = admin.Close() })
	r.admin = admin
}

// channel opens a channel that bypasses the proxy, on a new connection if the broker has closed the last one.
func (r *brokerTest) channel(t testing.TB) *amqp.Channel {
	t.Helper()
	if r.admin.IsClosed() {
		r.connect(t)
	}
	return testenv.Must(r.admin.Channel())(t)
}

// take waits for n messages of a queue and returns them in order.
func (r *brokerTest) take(t testing.TB, queue string, n int) []amqp.Delivery {
	t.Helper()
	ch := r.channel(t)
	defer func() { _ = ch.Close() }()
	var got []amqp.Delivery
	testenv.Eventually(t, brokerTimeout, func() bool {
		for {
			d, ok := testenv.Must2(ch.Get(r.prefix+queue, true))(t)
			if !ok {
				return len(got) >= n
			}
			got = append(got, d)
		}
	})
	if len(got) != n {
		t.Fatalf("queue %s had %d messages, want %d", queue, len(got), n)
	}
	return got
}

// ready returns the number of ready messages of a queue.
func (r *brokerTest) ready(t testing.TB, queue string) int {
	t.Helper()
	ch := r.channel(t)
	defer func() { _ = ch.Close() }()
	q := testenv.Must(ch.QueueDeclarePassive(r.prefix+queue, true, false, false, false, nil))(t)
	return q.Messages
}

// put publishes any message directly to a queue.
func (r *brokerTest) put(t testing.TB, queue string, m amqp.Publishing) {
	t.Helper()
	ch := r.channel(t)
	defer func() { _ = ch.Close() }()
	testenv.NoError(t, ch.Publish("", r.prefix+queue, false, false, m))
}

// logged is a log that tests can read.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.buf.Bytes(), []byte(text))
}

var noon = time.Date(2026, 2, 26, 12, 0, 0, 123e6, time.UTC)

func placed(order string) event.Event {
	return event.OrderPlaced.New(noon, order, 1, 7, event.Placed{OrderID: order, BranchID: 7})
}

func paid(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		order := fmt.Sprintf("order%d", i)
		events[i] = event.OrderPaid.New(noon, order, 2, 7, event.Paid{OrderID: order, BranchID: 7})
	}
	return events
}

func publish(t testing.TB, p *Publisher, events ...event.Event) []error {
	t.Helper()
	testenv.Eventually(t, brokerTimeout, func() bool { return p.Ready(t.Context()) == nil })
	return testenv.Must(p.Publish(t.Context(), events))(t)
}

func commit(t testing.TB, db *sqldb.DB, events []event.Event) {
	t.Helper()
	testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		outbox.Queue(tx, events)
		return nil
	}))
}

// The consumer of these tests counts in the daybook how often it has applied an event.
var (
	testStmts = sqldb.Load(fstest.MapFS{
		"daybook_add.sql": {Data: []byte(`INSERT INTO daybook (branch_id, biz_date, paid) VALUES (1, '2026-02-26', $1)
			ON CONFLICT (branch_id, biz_date) DO UPDATE SET paid = daybook.paid + excluded.paid`)},
		"daybook_paid.sql": {Data: []byte(`SELECT coalesce(sum(paid), 0) FROM daybook`)},
		"relayed_count.sql": {Data: []byte(`
			SELECT count(*) FROM event_log
			WHERE position <= (SELECT position FROM event_cursor) AND id NOT IN (SELECT id FROM event_retry)`)},
		"failure_count.sql": {Data: []byte(`SELECT count(*) FROM consumer_failure`)},
	})
	daybookAdd   = testStmts.Must("daybook_add")
	daybookPaid  = testStmts.Must("daybook_paid")
	relayedCount = testStmts.Must("relayed_count")
	failureCount = testStmts.Must("failure_count")
)

func daybook(before func(events []event.Event) error) inbox.Consumer {
	return inbox.Consumer{
		Name: "daybook", Types: []string{"order.placed", "order.paid", "order.canceled"},
		Apply: func(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
			if before != nil {
				if err := before(events); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, daybookAdd, len(events))
			return err
		},
	}
}

func count(t testing.TB, db *sqldb.DB, q *sqldb.Stmt) int {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int](t.Context(), db, q))(t)
}
