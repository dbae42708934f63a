package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// Statements that only tests need.
var (
	testStmts = sqldb.Load(fstest.MapFS{
		"count_pending.sql": {Data: []byte(`
			SELECT (SELECT count(*) FROM event_retry)
			     + (SELECT count(*) FROM event_log WHERE position > (SELECT position FROM event_cursor))`)},
		"count_published.sql": {Data: []byte(`
			SELECT count(*) FROM event_log
			WHERE position <= (SELECT position FROM event_cursor) AND id NOT IN (SELECT id FROM event_retry)
			      AND id NOT IN (SELECT id FROM dead_event WHERE consumer_name = '')`)},
		"forget_future.sql": {Data: []byte(`DELETE FROM event_log WHERE created_at > $1`)},
		"count_dead.sql":    {Data: []byte(`SELECT count(*) FROM dead_event`)},
	})
	countPending   = testStmts.Must("count_pending")
	countPublished = testStmts.Must("count_published")
	countDead      = testStmts.Must("count_dead")
)

// Several relays share the work on PostgreSQL without publishing an event twice.
func TestRelay_many_at_once(t *testing.T) {
	t.Parallel()
	db := sqldbtest.Postgres(t)
	events := paid(5 * batchSize)
	commit(t, db, events...)

	b := &broker{}
	var relays sync.WaitGroup
	for range 4 {
		relays.Go(func() {
			if err := New(db, b, Options{}).RunOnce(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	relays.Wait()
	got := b.ids()
	slices.Sort(got)
	if !slices.Equal(got, ids(events)) {
		t.Errorf("published %d events, %d different; want each of %d once", len(got), len(slices.Compact(got)), len(events))
	}
	want(t, db, 0, int64(len(events)), 0)
}

// Orders must not wait for the broker's confirms: SQLite has only one writer, and on PostgreSQL only the cursor is
// locked.
func TestRelay_writers_go_on_while_it_publishes(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		commit(t, db, paid(1)...)
		late := paid(1)[0]
		b := &broker{}
		b.during = func([]event.Event) {
			if len(b.got) == 0 {
				commit(t, db, late)
			}
		}
		r := New(db, b, Options{})
		run(t, r)
		want(t, db, 1, 1, 0)
		run(t, r)
		if len(b.got) != 2 || b.got[1].ID != late.ID {
			t.Errorf("published %v", b.ids())
		}
	})
}

// localBroker is a local publisher that records how it received events.
type localBroker struct {
	broker
	within   [][]event.Event
	repeated []bool // one for each batch in within
	fail     error
}

func (h *localBroker) Deliver(_ context.Context, _ sqldb.Tx, events []event.Event, repeated bool) error {
	if h.fail != nil {
		return h.fail
	}
	h.repeated = append(h.repeated, repeated)
	h.within = append(h.within, events)
	return nil
}

func TestRelay_delivers_locally_within_its_transaction(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(3)
		commit(t, db, events...)
		h := &localBroker{}
		run(t, New(db, h, Options{}))
		if len(h.got) != 0 || len(h.within) != 1 || !slices.EqualFunc(h.within[0], events, sameEvent) || h.repeated[0] {
			t.Errorf("delivered %v, possibly repeated %v, published %v; want one batch that is new", h.within, h.repeated, h.got)
		}
		want(t, db, 0, 3, 0)

		// Another process has published the next events, or has crashed before it did.
		commit(t, db, paid(2)...)
		down := &broker{lost: errDown}
		testenv.ErrorIs(t, errDown, New(db, down, Options{}).RunOnce(t.Context()))
		run(t, New(db, h, Options{}))
		if len(h.within) != 2 || !h.repeated[1] {
			t.Errorf("delivered %v, possibly repeated %v; want a second batch that may be repeated", h.within, h.repeated)
		}
		want(t, db, 0, 5, 0)
	})
}

func TestRelay_separates_good_from_bad_after_a_failed_delivery(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(3)
		commit(t, db, events...)
		h := &localBroker{fail: errors.New("one of them is bad")}
		h.refuse = func(e event.Event) error {
			if e.ID == events[0].ID {
				return h.fail
			}
			return nil
		}
		run(t, New(db, h, Options{}))
		if !slices.Equal(h.ids(), ids(events[1:])) {
			t.Errorf("published %v, want the last two of %v", h.ids(), ids(events))
		}
		want(t, db, 1, 2, 0)
	})
}

func TestRelay_metrics(t *testing.T) {
	t.Parallel()
	db := sqldbtest.SQLite(t)
	events := paid(3)
	commit(t, db, events...)
	b := &broker{refuse: func(e event.Event) error {
		if e.ID == events[0].ID {
			return errNacked
		}
		return nil
	}}
	reg := prometheus.NewRegistry()
	clock := newManualClock()
	r := New(db, b, Options{Metrics: NewMetrics(reg), Now: clock.now})
	for n := range int64(maxAttempts) {
		run(t, r)
		if got := figure(t, reg, "outbox_pending", ""); n == 0 && got != 1 {
			t.Errorf("outbox_pending = %v, want 1", got)
		}
		clock.advance(max(pauses.After(int(n)+1), measureInterval))
	}
	for _, c := range []struct {
		name, label string
		want        float64
	}{
		{"outbox_publish_total", "ok", 2},
		{"outbox_publish_total", "refused", maxAttempts - 1},
		{"outbox_publish_total", "dead", 1},
		{"outbox_pending", "", 0},
		{"outbox_oldest_age_seconds", "", 0},
		{"dlq_messages", "relay", 1},
	} {
		if got := figure(t, reg, c.name, c.label); got != c.want {
			t.Errorf("%s{%s} = %v, want %v", c.name, c.label, got, c.want)
		}
	}
}

// figure returns a counter or gauge by its name and the value of its only label.
func figure(t *testing.T, reg *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families := testenv.Must(reg.Gather())(t)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() // it has only one of them
			}
		}
	}
	t.Errorf("no figure %s{%s}", name, label)
	return 0
}

// I7, I15: whatever the broker does, every committed event is eventually published, and nothing else is.
func TestRelay_loses_no_event_during_broker_faults(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rapid.Check(t, func(rt *rapid.T) { brokerFailures(t, rt, db) })
	})
}

// brokerFailures lets a broker fail in random ways and then recover.
func brokerFailures(t *testing.T, rt *rapid.T, db *sqldb.DB) {
	clock, b := newManualClock(), &broker{}
	r := New(db, b, Options{Now: clock.now})
	committed := map[string]bool{}
	nackEvery := 0
	seen := 0
	b.refuse = func(event.Event) error {
		seen++
		if nackEvery > 0 && seen%nackEvery == 0 {
			return errNacked
		}
		return nil
	}
	for range rapid.IntRange(1, 20).Draw(rt, "steps") {
		switch rapid.SampledFrom([]string{"commit", "down", "lost", "nack", "well", "wait"}).Draw(rt, "step") {
		case "commit":
			events := paid(rapid.IntRange(1, 5).Draw(rt, "events"))
			commit(t, db, events...)
			for _, e := range events {
				committed[e.ID] = true
			}
		case "down":
			b.ready = errDown
		case "lost":
			b.ready, b.lost = nil, errDown
		case "nack":
			b.ready, nackEvery = nil, rapid.IntRange(1, 3).Draw(rt, "every")
		case "well":
			b.ready, nackEvery = nil, 0
		case "wait":
			clock.advance(pauses.Max)
		}
		_ = r.RunOnce(t.Context()) // may fail
	}
	b.ready, b.lost, nackEvery = nil, nil, 0
	clock.advance(pauses.Max)
	testenv.NoError(rt, r.RunOnce(t.Context()))
	testenv.Must(Replay(t.Context(), db, eventsql.Filter{}))(rt)
	testenv.NoError(rt, r.RunOnce(t.Context()))
	published := map[string]bool{}
	for _, e := range b.got {
		published[e.ID] = true
	}
	if len(published) != len(committed) {
		rt.Fatalf("published %d different events of %d committed", len(published), len(committed))
	}
	for id := range committed {
		if !published[id] {
			rt.Fatalf("%s was committed and never published", id)
		}
	}
	if pending, _, dead := count(t, db); pending != 0 || dead != 0 {
		rt.Fatalf("%d events wait, %d are dead", pending, dead)
	}
}
