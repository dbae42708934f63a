package inbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStatements(t *testing.T) {
	t.Parallel()
	sqldbtest.PrepareAll(t, stmts)
}

// The consumer of these tests counts paid orders in the daybook; a negative branch makes it fail in different ways.
var (
	testStmts = sqldb.Load(fstest.MapFS{
		"daybook_add.sql": {Data: []byte(`INSERT INTO daybook (branch_id, biz_date, paid) VALUES ($1, '2026-02-26', 1)
			ON CONFLICT (branch_id, biz_date) DO UPDATE SET paid = daybook.paid + 1`)},
		"daybook_paid.sql":  {Data: []byte(`SELECT coalesce(sum(paid), 0) FROM daybook`)},
		"dedupe_count.sql":  {Data: []byte(`SELECT count(*) FROM consumer_dedupe`)},
		"failure_count.sql": {Data: []byte(`SELECT count(*) FROM consumer_failure`)},
		"break.sql":         {Data: []byte(`INSERT INTO daybook (branch_id) VALUES (NULL)`)},
	})
	daybookAdd  = testStmts.Must("daybook_add")
	daybookPaid = testStmts.Must("daybook_paid")
	breakSQL    = testStmts.Must("break")
)

const (
	fails   = -1 // returns an error
	panics  = -2
	violate = -3 // makes the database refuse a statement
)

var (
	noon      = time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)
	errPoison = errors.New("this event cannot be applied")
	daybook   = Consumer{Name: "daybook", Types: []string{"order.paid"}, Apply: countPaid}
)

func countPaid(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
	for _, e := range events {
		switch e.BranchID {
		case fails:
			return errPoison
		case panics:
			panic("cannot be applied")
		case violate:
			tx.Queue(breakSQL)
		default:
			if _, err := tx.Exec(ctx, daybookAdd, e.BranchID); err != nil {
				return err
			}
		}
	}
	return nil
}

func paid(branch int64) event.Event {
	return event.OrderPaid.New(noon, "order", 2, branch, event.Paid{BranchID: branch})
}

func number(t testing.TB, db *sqldb.DB, q *sqldb.Stmt) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](t.Context(), db, q))(t)
}

func handle(t testing.TB, b *Inbox, c Consumer, events ...event.Event) []Outcome {
	t.Helper()
	return testenv.Must(b.Handle(t.Context(), c, events))(t)
}

func letters(t testing.TB, db *sqldb.DB) []eventsql.DeadLetter {
	t.Helper()
	return testenv.Must(eventsql.DeadLetters(t.Context(), db, eventsql.Filter{Consumer: "daybook"}, "", 100))(t)
}

// I8: an event that is delivered again, in the same batch or another, is applied once.
func TestHandle_applies_each_event_once(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := New(db, Options{})
		rapid.Check(t, func(rt *rapid.T) {
			before := number(t, db, daybookPaid)
			events := []event.Event{paid(1), paid(1), paid(2), paid(3)}
			seen := map[string]bool{}
			for _, batch := range rapid.SliceOfN(rapid.SliceOf(rapid.SampledFrom(events)), 1, 6).Draw(rt, "batches") {
				for _, e := range batch {
					seen[e.ID] = true
				}
				for _, o := range handle(t, b, daybook, batch...) {
					if o != (Outcome{}) {
						rt.Fatalf("outcome %+v", o)
					}
				}
			}
			if got := number(t, db, daybookPaid) - before; got != int64(len(seen)) {
				rt.Fatalf("counted %d orders of %d", got, len(seen))
			}
		})
	})
}

func TestHandle_the_same_events_from_many_sides(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := make([]event.Event, 40)
		for i := range events {
			events[i] = paid(int64(i%3 + 1))
		}
		var sides sync.WaitGroup
		for side := range 4 {
			sides.Go(func() {
				batch := slices.Clone(events)
				if side%2 == 1 {
					slices.Reverse(batch)
				}
				for chunk := range slices.Chunk(batch, 7+side) {
					handle(t, New(db, Options{}), daybook, chunk...)
				}
			})
		}
		sides.Wait()
		if got := number(t, db, daybookPaid); got != int64(len(events)) {
			t.Errorf("counted %d orders of %d", got, len(events))
		}
	})
}

func TestHandle_passes_over_other_types(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		placed := event.OrderPlaced.New(noon, "order", 1, fails, event.Placed{})
		if out := handle(t, New(db, Options{}), daybook, placed, paid(1)); out[0].State != Done || out[1].State != Done {
			t.Errorf("outcomes %v", out)
		}
		if n := number(t, db, testStmts.Must("dedupe_count")); n != 1 {
			t.Errorf("%d events were written down, want only the wanted one", n)
		}
	})
}

// I15: a poison event fails alone, five times, and then becomes a dead letter with its reason.
func TestHandle_poison(t *testing.T) {
	t.Parallel()
	for name, branch := range map[string]int64{"error": fails, "panic": panics, "refused by SQL": violate} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				var log bytes.Buffer
				b := New(db, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Pause: time.Second})
				poison := paid(branch)
				batch := []event.Event{paid(1), paid(2), poison, paid(3), paid(1)}
				for attempt := range int64(maxAttempts) {
					want := make([]Outcome, len(batch))
					want[2] = Outcome{Retry, time.Second << attempt}
					if attempt == maxAttempts-1 {
						want[2] = Outcome{State: Dead}
					}
					if diff := cmp.Diff(want, handle(t, b, daybook, batch...)); diff != "" {
						t.Fatalf("attempt %d (-want +got):\n%s", attempt+1, diff)
					}
				}
				testenv.Equal(t, 4, number(t, db, daybookPaid))
				dead := letters(t, db)
				if len(dead) != 1 || dead[0].ID != poison.ID || dead[0].Reason == "" {
					t.Errorf("dead letters %+v", dead)
				}
				if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), poison.ID) {
					t.Errorf("the log does not mention the dead letter:\n%s", log.String())
				}
				// A later delivery, as after a crash before the acknowledgement, changes nothing.
				if out := handle(t, b, daybook, poison); out[0].State != Dead || len(letters(t, db)) != 1 {
					t.Errorf("outcome %v, dead letters %v", out, letters(t, db))
				}
			})
		})
	}
}

// An event that can never be applied is tried once.
func TestHandle_poison_is_tried_once(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := New(db, Options{})
		hopeless := daybook
		hopeless.Apply = func(ctx context.Context, tx sqldb.Tx, events []event.Event) error {
			if err := countPaid(ctx, tx, events); err != nil {
				return fmt.Errorf("%w: %w", ErrPoison, err)
			}
			return nil
		}
		poison := paid(fails)
		out := handle(t, b, hopeless, paid(1), poison, paid(2))
		testenv.Equal(t, []Outcome{{}, {State: Dead}, {}}, out)
		if dead := letters(t, db); len(dead) != 1 || dead[0].ID != poison.ID {
			t.Errorf("dead letters %+v", dead)
		}
		testenv.Equal(t, 2, number(t, db, daybookPaid))
	})
}

// While the database is unavailable, nothing is counted.
func TestHandle_database_out_of_reach(t *testing.T) {
	t.Parallel()
	db := sqldbtest.SQLite(t)
	b := New(db, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	stopping := daybook
	stopping.Apply = func(context.Context, sqldb.Tx, []event.Event) error {
		cancel()
		return context.Canceled
	}
	for range 2 * maxAttempts {
		testenv.ErrorIs(t, context.Canceled, testenv.Err(b.Handle(ctx, stopping, []event.Event{paid(1)})))
	}
	testenv.Equal(t, 0, number(t, db, testStmts.Must("failure_count")))
}

func TestReplay(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := New(db, Options{})
		good, bad, known := paid(1), paid(fails), paid(2)
		for _, e := range []event.Event{good, bad, known} {
			testenv.NoError(t, b.StoreDeadLetter(t.Context(), "daybook", e, errPoison))
		}
		testenv.NoError(t, b.StoreDeadLetter(t.Context(), "kitchen", good, errPoison))
		handle(t, b, daybook, known) // applied now

		sum, err := b.Replay(t.Context(), daybook, eventsql.Filter{})
		if sum != (ReplayResult{Applied: 2, Failed: 1}) || err != nil {
			t.Errorf("Replay = %+v, %v", sum, err)
		}
		testenv.Equal(t, 2, number(t, db, daybookPaid))
		if dead := letters(t, db); len(dead) != 1 || dead[0].ID != bad.ID {
			t.Errorf("dead letters of the consumer: %+v", dead)
		}
		counts := testenv.Must(eventsql.CountDeadLetters(t.Context(), db))(t)
		want := []queue.DeadLetterCount{{Consumer: "daybook", Letters: 1}, {Consumer: "kitchen", Letters: 1}}
		testenv.Equal(t, want, counts)
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := New(db, Options{})
		events := make([]event.Event, purgeStep+1)
		for i := range events {
			events[i] = paid(1)
		}
		quiet := Consumer{Name: "quiet", Types: []string{"order.paid"},
			Apply: func(context.Context, sqldb.Tx, []event.Event) error { return nil }}
		handle(t, b, quiet, events...)
		handle(t, b, daybook, paid(fails))

		testenv.Equal(t, 0, testenv.Must(b.Purge(t.Context(), db.Now().Add(-time.Hour)))(t))
		if n, err := b.Purge(t.Context(), db.Now().Add(time.Hour)); n != int64(len(events))+1 || err != nil {
			t.Errorf("purged %d rows, %v; want %d", n, err, len(events)+1)
		}
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	b := New(sqldbtest.SQLite(t), Options{Metrics: NewMetrics(reg)})
	e := paid(1)
	handle(t, b, daybook, e, paid(2))
	handle(t, b, daybook, e)
	poison := paid(fails)
	for range maxAttempts {
		handle(t, b, daybook, poison)
	}
	got := map[string]float64{}
	families := testenv.Must(reg.Gather())(t)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "consumer_message_total" {
				got[m.GetLabel()[1].GetValue()] = m.GetCounter().GetValue()
			} else if m.GetHistogram().GetSampleCount() != 2+maxAttempts {
				t.Errorf("%d batches were timed, want %d", m.GetHistogram().GetSampleCount(), 2+maxAttempts)
			}
		}
	}
	want := map[string]float64{"ok": 2, "dup": 1, "retry": maxAttempts - 1, "dead": 1}
	testenv.Equal(t, want, got)
}

func TestConsumer_Check(t *testing.T) {
	t.Parallel()
	if err := daybook.Check(); err != nil {
		t.Errorf("a complete consumer: %v", err)
	}
	for name, change := range map[string]func(*Consumer){
		"no name":       func(c *Consumer) { c.Name = "" },
		"bad name":      func(c *Consumer) { c.Name = "Day Book" },
		"no types":      func(c *Consumer) { c.Types = nil },
		"unknown type":  func(c *Consumer) { c.Types = []string{"order.eaten"} },
		"all exchanges": func(c *Consumer) { c.Types = []string{"order.paid", "order.created"} },
		"no work":       func(c *Consumer) { c.Apply = nil },
	} {
		c := daybook
		change(&c)
		if c.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	externalConsumer := daybook
	externalConsumer.Types = []string{"order.created", "order.confirmed"}
	if err := externalConsumer.Check(); err != nil || !externalConsumer.External() || daybook.External() {
		t.Errorf("a consumer of other systems: %v", err)
	}
	other := daybook
	other.Queue = "store.order.paid"
	if daybook.QueueName() != "comanda.daybook" || other.QueueName() != "store.order.paid" {
		t.Errorf("queues %s, %s", daybook.QueueName(), other.QueueName())
	}
}
