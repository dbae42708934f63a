package bus_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"comanda/internal/event"
	"comanda/internal/event/bus"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	testStmts = sqldb.Load(fstest.MapFS{
		"note_paid.sql": {Data: []byte(`INSERT INTO daybook (branch_id, biz_date, paid)
			SELECT r.branch_id, '2026-02-26', 1 FROM @rows($1: branch_id int) AS r WHERE true
			ON CONFLICT (branch_id, biz_date) DO UPDATE SET paid = daybook.paid + 1`)},
		"dedupe_count.sql": {Data: []byte(`SELECT count(*) FROM consumer_dedupe`)},
		"paid.sql":         {Data: []byte(`SELECT branch_id, paid FROM daybook ORDER BY branch_id`)},
	})
	notePaid    = testStmts.Must("note_paid")
	readPaid    = testStmts.Must("paid")
	countDedupe = testStmts.Must("dedupe_count")

	noon      = time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)
	errPoison = errors.New("this event cannot be applied")
)

// consumer returns a consumer that counts in the daybook under its own branch, so that consumers can be distinguished.
func consumer(name string, branch int64, fails func(event.Event) bool) inbox.Consumer {
	return inbox.Consumer{
		Name: name, Types: []string{"order.paid"},
		Apply: func(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
			for _, e := range events {
				row := sqldb.NewRowSet(1).Int("branch_id", func(int) int64 { return branch })
				if _, err := tx.Exec(ctx, notePaid, row); err != nil {
					return err
				}
				if fails != nil && fails(e) {
					return errPoison
				}
			}
			return nil
		},
	}
}

// paidBy returns the number of orders that each consumer has counted.
func paidBy(t testing.TB, db *sqldb.DB) map[int64]int64 {
	t.Helper()
	return testenv.Must(sqldb.Map[int64, int64](t.Context(), db, readPaid))(t)
}

func commit(t testing.TB, db *sqldb.DB, n int) []event.Event {
	t.Helper()
	events := make([]event.Event, n)
	for i := range events {
		events[i] = event.OrderPaid.New(noon, "order", 2, 7, event.Paid{})
	}
	testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		outbox.Queue(tx, events)
		return nil
	}))
	return events
}

type busTest struct {
	in    *inbox.Inbox
	relay *outbox.Relay
	now   time.Time
}

func newBusTest(t testing.TB, db *sqldb.DB, consumers ...inbox.Consumer) *busTest {
	t.Helper()
	r := &busTest{in: inbox.New(db, inbox.Options{}), now: noon}
	b := testenv.Must(bus.New(r.in, consumers...))(t)
	r.relay = outbox.New(db, b, outbox.Options{Now: func() time.Time { return r.now }})
	return r
}

func (r *busTest) run(t testing.TB) {
	t.Helper()
	testenv.NoError(t, r.relay.RunOnce(t.Context()))
}

func wantPaid(t testing.TB, db *sqldb.DB, want map[int64]int64) {
	t.Helper()
	if diff := cmp.Diff(want, paidBy(t, db)); diff != "" {
		t.Fatalf("orders counted by each consumer (-want +got):\n%s", diff)
	}
}

func status(t testing.TB, db *sqldb.DB) outbox.Status {
	t.Helper()
	return testenv.Must(outbox.ReadStatus(t.Context(), db))(t)
}

func TestBus_every_consumer_applies_every_event_once(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newBusTest(t, db, consumer("daybook", 1, nil), consumer("kitchen", 2, nil))
		events := commit(t, db, 10)
		r.run(t)
		r.run(t)
		wantPaid(t, db, map[int64]int64{1: 10, 2: 10})
		if n := testenv.Must(sqldb.Scalar[int64](t.Context(), db, countDedupe))(t); n != 0 {
			t.Errorf("consumer_dedupe has %d rows of %d events, want 0", n, len(events))
		}
	})
}

// crashingBroker delivers events to one consumer. The relay does not learn that, as after a crash behind the publication.
type crashingBroker struct {
	in *inbox.Inbox
	to inbox.Consumer
}

func (crashingBroker) Ready(context.Context) error { return nil }

func (b crashingBroker) Publish(ctx context.Context, events []event.Event) ([]error, error) {
	if _, err := b.in.Handle(ctx, b.to, events); err != nil {
		return nil, err
	}
	return nil, errors.New("the process is killed")
}

// I8: events that a broker delivered before its relay crashed are applied once, if the process continues without a broker.
func TestBus_after_a_broker(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		daybook := consumer("daybook", 1, nil)
		r := newBusTest(t, db, daybook, consumer("kitchen", 2, nil))
		commit(t, db, 10)
		if err := outbox.New(db, crashingBroker{r.in, daybook}, outbox.Options{}).RunOnce(t.Context()); err == nil {
			t.Error("RunOnce succeeded, want the error of Publish")
		}
		wantPaid(t, db, map[int64]int64{1: 10})
		commit(t, db, 5)
		r.run(t)
		r.run(t)
		wantPaid(t, db, map[int64]int64{1: 15, 2: 15})
	})
}

// I8, I15: if one consumer cannot apply an event, no other consumer is affected and no other event is delayed. The
// event becomes a dead letter of that consumer, and a replay delivers it to that consumer only.
func TestBus_poison_is_one_consumers_own(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var poison string
		broken := true
		daybook := consumer("daybook", 1, func(e event.Event) bool { return broken && e.ID == poison })
		r := newBusTest(t, db, daybook, consumer("kitchen", 2, nil))
		events := commit(t, db, 9)
		poison = events[4].ID

		r.run(t)
		wantPaid(t, db, map[int64]int64{1: 8, 2: 9})
		testenv.Equal(t, 1, status(t, db).Pending)
		for range 10 {
			commit(t, db, 1)
			r.now = r.now.Add(time.Hour)
			r.run(t)
		}
		wantPaid(t, db, map[int64]int64{1: 18, 2: 19})
		s := status(t, db)
		if s.Pending != 0 || !slices.Equal(s.Dead, []queue.DeadLetterCount{{Consumer: "daybook", Letters: 1}}) {
			t.Fatalf("status %+v", s)
		}

		broken = false
		sum, err := r.in.Replay(t.Context(), daybook, eventsql.Filter{ID: poison})
		if sum != (inbox.ReplayResult{Applied: 1}) || err != nil {
			t.Fatalf("Replay = %+v, %v", sum, err)
		}
		wantPaid(t, db, map[int64]int64{1: 19, 2: 19})
	})
}

// A consumer that fails for a while misses no event.
func TestBus_transient_failure(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		failing := true
		r := newBusTest(t, db, consumer("daybook", 1, func(event.Event) bool { return failing }))
		commit(t, db, 5)
		r.run(t)
		wantPaid(t, db, map[int64]int64{})
		failing = false
		r.run(t) // the pause has not ended
		wantPaid(t, db, map[int64]int64{})
		r.now = r.now.Add(time.Minute)
		r.run(t)
		wantPaid(t, db, map[int64]int64{1: 5})
	})
}

func TestNew_refuses_an_incomplete_consumer(t *testing.T) {
	t.Parallel()
	if _, err := bus.New(nil, inbox.Consumer{Name: "daybook"}); err == nil {
		t.Error("a consumer without types was accepted")
	}
}

func BenchmarkBus(b *testing.B) {
	engines := map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres}
	for name, open := range engines {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			set := consumer("daybook", 1, nil)
			set.Apply = func(ctx context.Context, tx sqldb.Tx, _ []event.Event) error {
				_, err := tx.Exec(ctx, notePaid, sqldb.NewRowSet(1).Int("branch_id", func(int) int64 { return 1 }))
				return err
			}
			r := newBusTest(b, db, set)
			for left := b.N; left > 0; left -= 1000 {
				commit(b, db, min(left, 1000))
			}
			b.ResetTimer()
			r.run(b)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
