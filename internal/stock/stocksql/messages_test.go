package stocksql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/eventtest"
	"comanda/internal/event/inbox"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

var (
	messageStmts = sqldb.Load(fstest.MapFS{
		"answers.sql": {Data: []byte(`SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at
			FROM event_log WHERE event_type LIKE 'inventory.%' ORDER BY position`)},
		"settled.sql":  {Data: []byte(`SELECT (SELECT count(*) FROM consumer_dedupe) + (SELECT count(*) FROM dead_event)`)},
		"attempts.sql": {Data: []byte(`SELECT coalesce(sum(attempts), 0) FROM consumer_failure`)},
	})
	answersSQL = messageStmts.Must("answers")
)

// message is a message of another system.
type message struct{ id, typ, body string }

// consumerFixture consumes messages of other systems for branch 1.
type consumerFixture struct {
	db           *sqldb.DB
	reservations *stocksql.Reservations
	in           *inbox.Inbox
	cache        *recordingQueue
	now          time.Time

	figures    *prometheus.Registry
	deliveries int // number of handled deliveries
	messages   int // number of messages applied or dead
}

// recordingQueue is a cache queue that counts its operations.
type recordingQueue struct {
	mu  sync.Mutex
	ops int
}

func (h *recordingQueue) EnqueueCommitted(entries []stock.OutboxEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		h.ops += len(e.Ops)
	}
}

func (h *recordingQueue) DrainApplied() []string { return nil }

// takeCount returns the number of operations since the last call.
func (h *recordingQueue) takeCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.ops
	h.ops = 0
	return n
}

func listen(t testing.TB, db *sqldb.DB, units map[string]int64) *consumerFixture {
	t.Helper()
	orderingtest.Open(t, db, 1, 10)
	e := &consumerFixture{db: db, cache: &recordingQueue{}, now: now, figures: prometheus.NewRegistry()}
	e.in = inbox.New(db, inbox.Options{Metrics: inbox.NewMetrics(e.figures)})
	e.reservations = stocksql.NewReservations(db, e.cache, func() time.Time { return e.now })
	t.Cleanup(e.reservations.Stop)
	e.receive(t, units)
	return e
}

// receive adds units to stock items.
func (e *consumerFixture) receive(t testing.TB, units map[string]int64) {
	t.Helper()
	owner := authz.Actor{Kind: authz.Service, AllBranches: true}
	for sku, n := range units {
		testenv.Must(e.reservations.Adjust(t.Context(), owner,
			stock.Adjustment{Branch: 1, SKU: sku, Kind: stock.Received, Units: n, Create: true}))(t)
	}
	e.cache.takeCount()
}

func (m message) event() event.Event {
	return event.Event{ID: m.id, Type: m.typ, Aggregate: "reservation", At: now, Payload: json.RawMessage(m.body)}
}

// handle passes messages to all consumers, as one batch for each.
func (e *consumerFixture) handle(t testing.TB, batch ...message) []inbox.Outcome {
	t.Helper()
	events := make([]event.Event, len(batch))
	for i, m := range batch {
		events[i] = m.event()
	}
	all := make([]inbox.Outcome, len(batch))
	for _, c := range e.reservations.Consumers() {
		outcomes := testenv.Must(e.in.Handle(context.Background(), c, events))(t)
		for i, o := range outcomes {
			if o.State != inbox.Done {
				all[i] = o
			}
		}
	}
	return all
}

// answers returns the events of the outbox in order and validates each against its schema.
func (e *consumerFixture) answers(t testing.TB) []event.Event {
	t.Helper()
	scan := func(r sqldb.Rows) (event.Event, error) { return eventsql.Scan(r) }
	events := testenv.Must(sqldb.Collect(context.Background(), e.db, scan, answersSQL))(t)
	eventtest.Conform(t, events...)
	return events
}

func (e *consumerFixture) status(t testing.TB, id string) stock.Status {
	t.Helper()
	r := testenv.Must(e.reservations.Find(context.Background(), id))(t)
	return r.Status
}

// levels returns available, reserved and sold units of items.
func (e *consumerFixture) levels(t testing.TB, skus ...string) map[string][3]int64 {
	t.Helper()
	levels := testenv.Must(e.reservations.Levels(context.Background(), 1, skus))(t)
	all := map[string][3]int64{}
	for _, l := range levels {
		all[l.SKU] = [3]int64{l.Available, l.Reserved, l.Sold}
	}
	return all
}

func created(id, order string, lines ...string) message {
	var items []string
	for _, l := range lines {
		sku, qty, _ := strings.Cut(l, "*")
		items = append(items, `{"itemId":"`+sku+`","quantity":`+qty+`}`)
	}
	return message{id, "order.created", `{"orderId":"` + order + `","branchId":"1","items":[` + strings.Join(items, ",") + `]}`}
}

func confirmed(id, order string) message {
	return message{id, "order.confirmed", `{"orderId":"` + order + `"}`}
}

func cancelRequested(id, order string) message {
	return message{id, "order.cancel.requested", `{"orderId":"` + order + `"}`}
}

// Every message is answered by one event; repetitions are not answered.
func TestConsumers_answers(t *testing.T) {
	t.Parallel()
	const rice = `"items":[{"itemId":"rice","quantity":4}]`
	reserved := `reserved/1 {"orderId":"a","branchId":"1",` + rice + `,"expiresAt":"2026-02-25T06:18:20Z"}`
	sold := `sold/2 {"orderId":"a","branchId":"1",` + rice + `}`
	released := `released/2 {"orderId":"a","branchId":"1",` + rice + `,"reason":"CANCELED"}`
	tombstone := `released/1 {"orderId":"a","branchId":"0","items":[],"reason":"CANCELED"}`
	refused := func(seq int, branch, command, items, reason string) string {
		return fmt.Sprintf(`refused/%d {"orderId":"a","branchId":"%s","demand":"%s","items":[%s],"reason":"%s"}`,
			seq, branch, command, items, reason)
	}
	short := refused(1, "1", "order.created", `{"itemId":"rice","requested":11,"available":10}`, "insufficient_stock")
	try := created("1", "a", "rice*4")
	for name, c := range map[string]struct {
		messages []message
		want     []string
		status   stock.Status
		rice     [3]int64
	}{
		"try":                              {[]message{try}, []string{reserved}, stock.StatusReserved, [3]int64{6, 4, 0}},
		"try, confirm":                     {[]message{try, confirmed("2", "a")}, []string{reserved, sold}, stock.StatusConfirmed, [3]int64{6, 0, 4}},
		"try, cancel":                      {[]message{try, cancelRequested("2", "a")}, []string{reserved, released}, stock.StatusCancelled, [3]int64{10, 0, 0}},
		"try again":                        {[]message{try, created("2", "a", "rice*4")}, []string{reserved}, stock.StatusReserved, [3]int64{6, 4, 0}},
		"summed up":                        {[]message{created("1", "a", "rice*1", "rice*3")}, []string{reserved}, stock.StatusReserved, [3]int64{6, 4, 0}},
		"one item, as in inventory-tcc.md": {[]message{{"1", "order.created", `{"orderId":"a","branchId":1,"itemId":"rice","quantity":4}`}}, []string{reserved}, stock.StatusReserved, [3]int64{6, 4, 0}},
		"confirm twice": {
			[]message{try, confirmed("2", "a"), confirmed("3", "a")},
			[]string{reserved, sold}, stock.StatusConfirmed, [3]int64{6, 0, 4},
		},
		"cancel twice": {
			[]message{try, cancelRequested("2", "a"), cancelRequested("3", "a")},
			[]string{reserved, released}, stock.StatusCancelled, [3]int64{10, 0, 0},
		},
		"confirm first": {[]message{confirmed("2", "a"), try}, []string{reserved, sold}, stock.StatusConfirmed, [3]int64{6, 0, 4}},
		"cancel first": {
			[]message{cancelRequested("2", "a"), try},
			[]string{tombstone, refused(0, "1", "order.created", "", "terminal")}, stock.StatusCancelled, [3]int64{10, 0, 0},
		},
		"cancel what is sold": {
			[]message{try, confirmed("2", "a"), cancelRequested("3", "a")},
			[]string{reserved, sold, refused(0, "1", "order.cancel.requested", "", "already_confirmed")}, stock.StatusConfirmed, [3]int64{6, 0, 4},
		},
		"confirm what is cancelled": {
			[]message{try, cancelRequested("2", "a"), confirmed("3", "a")},
			[]string{reserved, released, refused(0, "1", "order.confirmed", "", "terminal")}, stock.StatusCancelled, [3]int64{10, 0, 0},
		},
		"short": {
			[]message{created("1", "a", "rice*11")}, []string{short}, stock.StatusRefused, [3]int64{10, 0, 0},
		},
		"short, again and for less": {
			[]message{created("1", "a", "rice*11"), created("2", "a", "rice*11"), created("3", "a", "rice*1")},
			[]string{short}, stock.StatusRefused, [3]int64{10, 0, 0},
		},
		"another wish under the same id": {
			[]message{try, created("2", "a", "rice*5")},
			[]string{reserved, refused(0, "1", "order.created", "", "idempotency_mismatch")}, stock.StatusReserved, [3]int64{6, 4, 0},
		},
		"no such item": {
			[]message{created("1", "a", "rice*1", "gold*1")},
			[]string{refused(0, "1", "order.created", "", "item_not_found")}, "", [3]int64{10, 0, 0},
		},
		"fewer than none": {
			[]message{created("1", "a", "rice*-5")},
			[]string{refused(0, "1", "order.created", "", "invalid")}, "", [3]int64{10, 0, 0},
		},
		"no branch": {
			[]message{{"1", "order.created", `{"orderId":"a",` + rice + `}`}},
			[]string{reserved}, stock.StatusReserved, [3]int64{6, 4, 0},
		},
		"no branch, and no such item": {
			[]message{{"1", "order.created", `{"orderId":"a","itemId":"gold","quantity":1}`}},
			[]string{refused(0, "0", "order.created", "", "item_not_found")}, "", [3]int64{10, 0, 0},
		},
		"confirm alone": {[]message{confirmed("1", "a")}, nil, "", [3]int64{10, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				e := listen(t, db, map[string]int64{"rice": 10})
				for range 2 { // the second time every message is a repetition
					for _, m := range c.messages {
						if o := e.handle(t, m)[0]; o.State != inbox.Done {
							t.Fatalf("message %s: %+v", m.id, o)
						}
					}
				}
				var got []string
				for _, answer := range e.answers(t) {
					got = append(got, fmt.Sprintf("%s/%d %s", strings.TrimPrefix(answer.Type, "inventory."), answer.Seq, answer.Payload))
				}
				testenv.Equal(t, c.want, got)
				testenv.Equal(t, c.status, e.status(t, "a"))
				if got := e.levels(t, "rice")["rice"]; got != c.rice {
					t.Errorf("available, reserved, sold %v, want %v", got, c.rice)
				}
			})
		})
	}
}

// The cache receives what was committed, and nothing from a command that was rolled back in the same batch.
func TestConsumers_update_the_cache(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := listen(t, db, map[string]int64{"rice": 10})
		poison := message{"3", "order.created", `{`}
		e.handle(t, created("1", "a", "rice*4"), created("2", "b", "rice*4"), poison, created("4", "c", "rice*4"))
		if n := e.cache.takeCount(); n != 3 { // two are held, one is refused
			t.Errorf("the cache received %d operations, want 3", n)
		}
		e.handle(t, created("1", "a", "rice*4"), confirmed("5", "a"), cancelRequested("6", "b"))
		testenv.Equal(t, 2, e.cache.takeCount())
	})
}

// I15: a message that cannot be answered is a dead letter at once, blocks no other, and can be replayed.
func TestConsumers_poison(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := listen(t, db, map[string]int64{"rice": 10})
		var batch []message
		for i := range 9 {
			batch = append(batch, created(fmt.Sprint("good", i), fmt.Sprint("o", i), "rice*1"))
		}
		batch[2], batch[7] = message{"bad1", "order.created", `{"orderId":`}, message{"bad2", "order.created", `{"orderId":"o 7"}`}
		outcomes := e.handle(t, batch...)
		for i, o := range outcomes {
			if want := strings.HasPrefix(batch[i].id, "bad"); (o.State == inbox.Dead) != want {
				t.Errorf("message %s: %+v", batch[i].id, o)
			}
		}
		consumer := e.reservations.Consumers()[0]
		letters, err := eventsql.DeadLetters(t.Context(), db, eventsql.Filter{Consumer: consumer.Name}, "", 10)
		if err != nil || len(letters) != 2 || letters[0].ID != "bad1" || letters[1].ID != "bad2" || letters[0].Type != "order.created" {
			t.Fatalf("dead letters %+v, %v", letters, err)
		}
		if got := e.levels(t, "rice")["rice"]; got != [3]int64{3, 7, 0} {
			t.Errorf("available, reserved, sold %v", got)
		}
		if n, err := sqldb.Scalar[int64](t.Context(), db, messageStmts.Must("attempts")); n != 2 || err != nil {
			t.Errorf("%d attempts for two events, %v", n, err)
		}

		// A dead letter whose cause was fixed is applied; one that still fails stays.
		late := created("late", "late", "rice*2").event()
		testenv.NoError(t, e.in.StoreDeadLetter(t.Context(), consumer.Name, late, errors.New("of yesterday")))
		sum, err := e.in.Replay(t.Context(), consumer, eventsql.Filter{})
		if sum != (inbox.ReplayResult{Applied: 1, Failed: 2}) || err != nil {
			t.Errorf("Replay = %+v, %v", sum, err)
		}
		testenv.Equal(t, stock.StatusReserved, e.status(t, "late"))
	})
}

// Two processes that receive the same new id at the same time only delay each other: each message is applied, and none
// counts as failed.
func TestConsumers_concurrent_same_id(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const orders, sides = 60, 4
		e := listen(t, db, map[string]int64{"rice": 1000})
		var all sync.WaitGroup
		for side := range sides {
			all.Go(func() {
				in := inbox.New(db, inbox.Options{})
				for i := range orders {
					id, order := fmt.Sprint("m", side, "-", i), fmt.Sprint("o", i)
					consumer, m := e.reservations.Consumers()[0], created(id, order, "rice*1").event()
					if side > 0 {
						consumer, m = e.reservations.Consumers()[2], cancelRequested(id, order).event()
					}
					err := sqldb.ErrRetry
					for errors.Is(err, sqldb.ErrRetry) {
						_, err = in.Handle(context.Background(), consumer, []event.Event{m})
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		for i := range orders {
			if got := e.status(t, fmt.Sprint("o", i)); got != stock.StatusCancelled {
				t.Errorf("order %d is %s", i, got)
			}
		}
		if got := e.levels(t, "rice")["rice"]; got != [3]int64{1000, 0, 0} {
			t.Errorf("available, reserved, sold %v", got)
		}
		testenv.Equal(t, 0, testenv.Must(sqldb.Scalar[int64](t.Context(), db, messageStmts.Must("attempts")))(t))
	})
}

// scenario contains the commands of other systems and the stock that they compete for.
type scenario struct {
	prefix string
	units  map[string]int64
	orders []order
}

type order struct {
	id    string
	lines []string
	takes map[string]int64
	fate  string // type of the second message; "" for none
}

// drawScenario draws orders for three items with the given units each.
func drawScenario(t *rapid.T, prefix string, units int64) scenario {
	s := scenario{prefix: prefix, units: map[string]int64{}}
	var skus []string
	for i := range 3 {
		skus = append(skus, fmt.Sprintf("%sitem%d", prefix, i))
		s.units[skus[i]] = units
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "orders") {
		o := order{id: fmt.Sprintf("%sorder%d", prefix, i), takes: map[string]int64{}}
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			sku, qty := rapid.SampledFrom(skus).Draw(t, "sku"), rapid.Int64Range(1, 5).Draw(t, "quantity")
			o.lines = append(o.lines, fmt.Sprintf("%s*%d", sku, qty))
			o.takes[sku] += qty
		}
		o.fate = rapid.SampledFrom([]string{"", "order.confirmed", "order.cancel.requested"}).Draw(t, "fate")
		s.orders = append(s.orders, o)
	}
	return s
}

// messages returns the scenario's messages in an order in which they could have been sent.
func (s scenario) messages() []message {
	var all []message
	for _, o := range s.orders {
		all = append(all, created(o.id+"-1", o.id, o.lines...))
	}
	for _, o := range s.orders {
		if o.fate != "" {
			all = append(all, message{o.id + "-2", o.fate, `{"orderId":"` + o.id + `"}`})
		}
	}
	return all
}

// again returns the same scenario with other ids.
func (s scenario) again(prefix string) scenario {
	renamed := func(name string) string { return prefix + strings.TrimPrefix(name, s.prefix) }
	n := scenario{prefix: prefix, units: map[string]int64{}}
	for sku, units := range s.units {
		n.units[renamed(sku)] = units
	}
	for _, o := range s.orders {
		twin := order{id: renamed(o.id), takes: map[string]int64{}, fate: o.fate}
		for _, l := range o.lines {
			twin.lines = append(twin.lines, renamed(l))
		}
		for sku, qty := range o.takes {
			twin.takes[renamed(sku)] = qty
		}
		n.orders = append(n.orders, twin)
	}
	return n
}

// outcome is the final state of a scenario, independent of its ids.
type outcome struct {
	Statuses []stock.Status
	Shelf    map[string][3]int64
}

func (e *consumerFixture) outcome(t testing.TB, s scenario) outcome {
	t.Helper()
	o := outcome{Shelf: map[string][3]int64{}}
	for _, one := range s.orders {
		o.Statuses = append(o.Statuses, e.status(t, one.id))
	}
	var skus []string
	for sku := range s.units {
		skus = append(skus, sku)
	}
	for sku, level := range e.levels(t, skus...) {
		o.Shelf[strings.TrimPrefix(sku, s.prefix)] = level
	}
	return o
}

// consistent checks that the stock level matches the statuses of the reservations.
func (s scenario) consistent(t rapid.TB, o outcome) {
	t.Helper()
	for sku, units := range s.units {
		want := [3]int64{units, 0, 0}
		for i, one := range s.orders {
			switch o.Statuses[i] {
			case stock.StatusReserved:
				want[0], want[1] = want[0]-one.takes[sku], want[1]+one.takes[sku]
			case stock.StatusConfirmed:
				want[0], want[2] = want[0]-one.takes[sku], want[2]+one.takes[sku]
			}
		}
		if got := o.Shelf[strings.TrimPrefix(sku, s.prefix)]; got != want || want[0] < 0 {
			t.Fatalf("%s: available, reserved, sold %v, want %v", sku, got, want)
		}
	}
}

// inBatches passes messages on in batches of random sizes. No batch has messages of two types, so their order is
// preserved.
func (e *consumerFixture) inBatches(t testing.TB, rt *rapid.T, messages []message) {
	t.Helper()
	for len(messages) > 0 {
		n := rapid.IntRange(1, len(messages)).Draw(rt, "batch")
		if i := slices.IndexFunc(messages[:n], func(m message) bool { return m.typ != messages[0].typ }); i >= 0 {
			n = i
		}
		e.handle(t, messages[:n]...)
		messages = messages[n:]
	}
}

func repeatThreeTimes(messages []message) []message {
	return slices.Concat(messages, messages, messages)
}

// Every message arrives three times, shuffled. If there is enough stock, the result equals that of single, ordered
// delivery. Otherwise the winners depend on the order of arrival: the result is the same if repetitions follow their
// originals, and consistent in any case.
func TestConsumers_thrice_and_shuffled(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := listen(t, db, nil)
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			units := rapid.SampledFrom([]int64{1000, 12}).Draw(rt, "units")
			ample := units == 1000
			plain := drawScenario(rt, fmt.Sprintf("p%d-", n), units)
			again := plain.again(fmt.Sprintf("a%d-", n))
			mixed := plain.again(fmt.Sprintf("m%d-", n))
			for _, s := range []scenario{plain, again, mixed} {
				e.receive(t, s.units)
			}
			e.inBatches(t, rt, plain.messages())
			want := e.outcome(t, plain)
			plain.consistent(rt, want)

			// First deliveries in order; each repetition somewhere after its original.
			repeated := again.messages()
			for _, m := range slices.Concat(repeated, repeated) {
				from := slices.Index(repeated, m) + 1
				repeated = slices.Insert(repeated, rapid.IntRange(from, len(repeated)).Draw(rt, "place"), m)
			}
			e.inBatches(t, rt, repeated)
			if diff := cmp.Diff(want, e.outcome(t, again)); diff != "" {
				rt.Fatalf("repetitions change the end (-once +thrice):\n%s", diff)
			}

			e.inBatches(t, rt, rapid.Permutation(repeatThreeTimes(mixed.messages())).Draw(rt, "shuffled"))
			got := e.outcome(t, mixed)
			mixed.consistent(rt, got)
			if diff := cmp.Diff(want, got); ample && diff != "" {
				rt.Fatalf("the order changes the end (-in order +shuffled):\n%s", diff)
			}
		})
		e.answers(t)
	})
}
