package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

var (
	noon      = time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)
	errDown   = errors.New("the broker is down")
	errNacked = errors.New("the broker refused it")
)

// paid returns n events of different orders, ascending by id.
func paid(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		order := fmt.Sprintf("order%d", i)
		events[i] = event.OrderPaid.New(noon, order, 2, 7, event.Paid{OrderID: order, BranchID: 7})
	}
	return events
}

func commit(t testing.TB, db *sqldb.DB, events ...event.Event) {
	t.Helper()
	testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		Queue(tx, events)
		return nil
	}))
}

// broker is a publisher whose failures a test controls.
type broker struct {
	mu     sync.Mutex
	got    []event.Event
	ready  error
	lost   error                      // error of the next Publish, after it has accepted the events
	refuse func(event.Event) error    // nil refuses nothing
	during func(events []event.Event) // called while Publish runs
}

func (b *broker) Ready(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ready
}

func (b *broker) Publish(_ context.Context, events []event.Event) ([]error, error) {
	if b.during != nil {
		b.during(events)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	refused := make([]error, len(events))
	for i, e := range events {
		if b.refuse != nil {
			refused[i] = b.refuse(e)
		}
		if refused[i] == nil {
			b.got = append(b.got, e)
		}
	}
	if err := b.lost; err != nil {
		b.lost = nil
		return nil, err
	}
	return refused, nil
}

func (b *broker) ids() []string { return ids(b.got) }

func ids(events []event.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.ID
	}
	return out
}

// manualClock is a clock that only the test advances.
type manualClock struct{ at time.Time }

func (w *manualClock) now() time.Time          { return w.at }
func (w *manualClock) advance(d time.Duration) { w.at = w.at.Add(d) }
func newManualClock() *manualClock             { return &manualClock{noon} }
func run(t testing.TB, r *Relay) {
	t.Helper()
	testenv.NoError(t, r.RunOnce(t.Context()))
}

// count returns the number of pending, of published and of dead events.
func count(t testing.TB, db *sqldb.DB) (pending, published, dead int64) {
	t.Helper()
	one := func(q *sqldb.Stmt) int64 {
		return testenv.Must(sqldb.Scalar[int64](t.Context(), db, q))(t)
	}
	return one(countPending), one(countPublished), one(countDead)
}

func want(t testing.TB, db *sqldb.DB, pending, published, dead int64) {
	t.Helper()
	if p, l, d := count(t, db); p != pending || l != published || d != dead {
		t.Fatalf("pending, published, dead = %d, %d, %d; want %d, %d, %d", p, l, d, pending, published, dead)
	}
}

func TestRelay_publishes_committed_events(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(3)
		commit(t, db, events[0], events[1])
		commit(t, db, events[2])
		rolledBack := errors.New("no")
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			Queue(tx, paid(1))
			return rolledBack
		})
		testenv.ErrorIs(t, rolledBack, err)

		b := &broker{}
		r := New(db, b, Options{})
		run(t, r)
		run(t, r)
		if !slices.EqualFunc(b.got, events, sameEvent) {
			t.Errorf("published %v\nwant in the order of commits %v", b.got, events)
		}
		want(t, db, 0, 3, 0)
	})
}

func sameEvent(a, b event.Event) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Aggregate == b.Aggregate && a.AggregateID == b.AggregateID &&
		a.Seq == b.Seq && a.BranchID == b.BranchID && a.At.Equal(b.At) && string(a.Payload) == string(b.Payload)
}

func TestRelay_drains_more_than_a_batch(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(2*batchSize + 5)
		commit(t, db, events...)
		b := &broker{}
		run(t, New(db, b, Options{}))
		if !slices.Equal(b.ids(), ids(events)) {
			t.Errorf("published %d events, want %d in order", len(b.got), len(events))
		}
		want(t, db, 0, int64(len(events)), 0)
	})
}

// I16: while the broker is down or disconnected, events wait and no attempt is counted.
func TestRelay_broker_down_costs_no_attempts(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		commit(t, db, paid(3)...)
		b := &broker{ready: errDown}
		r := New(db, b, Options{})
		for range 2 * maxAttempts {
			if err := r.RunOnce(t.Context()); !errors.Is(err, errDown) {
				t.Fatalf("RunOnce = %v, want the broker's error", err)
			}
		}
		b.ready = nil
		for range 2 * maxAttempts {
			b.lost = errDown
			if err := r.RunOnce(t.Context()); !errors.Is(err, errDown) {
				t.Fatalf("RunOnce = %v, want the broker's error", err)
			}
			want(t, db, 3, 0, 0)
		}
		b.got = nil
		run(t, r)
		if len(b.got) != 3 {
			t.Errorf("published %d events after the repair, want 3", len(b.got))
		}
		want(t, db, 0, 3, 0)
	})
}

func TestRelay_refused_events_become_dead_letters(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(3)
		bad := events[1].ID
		commit(t, db, events...)
		tries := 0
		b := &broker{refuse: func(e event.Event) error {
			if e.ID != bad {
				return nil
			}
			tries++
			return errNacked
		}}
		clock := newManualClock()
		r := New(db, b, Options{Now: clock.now})
		run(t, r)
		want(t, db, 1, 2, 0) // other events are not delayed
		for attempt := int64(1); attempt < maxAttempts; attempt++ {
			clock.advance(pauses.After(int(attempt)) - time.Millisecond)
			run(t, r)
			if tries != int(attempt) {
				t.Fatalf("tried %d times before the pause was over, want %d", tries, attempt)
			}
			clock.advance(time.Millisecond)
			run(t, r)
		}
		want(t, db, 0, 2, 1)
		testenv.Equal(t, maxAttempts, tries)
		letters, err := eventsql.DeadLetters(t.Context(), db, eventsql.Filter{}, "", 10)
		if err != nil || len(letters) != 1 {
			t.Fatalf("dead letters: %v, %v", letters, err)
		}
		if !sameEvent(letters[0].Event, events[1]) || letters[0].Reason != errNacked.Error() {
			t.Errorf("dead letter %+v", letters[0])
		}
	})
}

func TestReplay_publishes_dead_letters_again(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(3)
		letters := make([]eventsql.DeadLetter, 0, 4)
		for _, e := range events {
			letters = append(letters, eventsql.DeadLetter{Event: e, Reason: "nacked", DiedAt: noon})
		}
		ofConsumer := eventsql.DeadLetter{Event: paid(1)[0], Consumer: "daybook", Reason: "broken", DiedAt: noon}
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			eventsql.InsertDeadLetters(tx, append(letters, ofConsumer))
			return nil
		}))

		replay := func(f eventsql.Filter, want int) {
			t.Helper()
			testenv.Equal(t, want, testenv.Must(Replay(t.Context(), db, f))(t))
		}
		replay(eventsql.Filter{Type: "order.placed"}, 0)
		replay(eventsql.Filter{ID: events[2].ID}, 1)
		replay(eventsql.Filter{}, 2)
		replay(eventsql.Filter{Consumer: "daybook"}, 0)

		b := &broker{}
		run(t, New(db, b, Options{}))
		if !slices.EqualFunc(b.got, events, sameEvent) {
			t.Errorf("published after the replay: %v", b.got)
		}
		want(t, db, 0, 0, 1) // none of the three is in the log
	})
}

func TestReadStatus(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, err := ReadStatus(t.Context(), db)
		if err != nil || s.Pending != 0 || s.OldestAgeSeconds != 0 || s.ByType == nil || s.Dead == nil {
			t.Errorf("empty outbox: %+v, %v", s, err)
		}
		hourAgo := db.Now().Add(-time.Hour)
		commit(t, db, event.OrderPlaced.New(db.Now(), "o1", 1, 1, event.Placed{}),
			event.OrderPaid.New(hourAgo, "o2", 2, 1, event.Paid{}), event.OrderPaid.New(db.Now(), "o3", 2, 1, event.Paid{}))
		s = testenv.Must(ReadStatus(t.Context(), db))(t)
		byType := []queue.PendingCount{{Type: "order.paid", Events: 2}, {Type: "order.placed", Events: 1}}
		if s.Pending != 3 || !slices.Equal(s.ByType, byType) {
			t.Errorf("status %+v", s)
		}
		if s.OldestAgeSeconds < 3600 || s.OldestAgeSeconds > 3660 {
			t.Errorf("oldest age %v s, want an hour", s.OldestAgeSeconds)
		}
	})
}

// PurgeLog deletes published events that were created before an instant, even if there are more than one statement handles.
func TestPurgeLog(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		at := func(n int, at time.Time) []event.Event {
			events := paid(n)
			for i := range events {
				events[i].At = at
			}
			return events
		}
		r := New(db, &broker{}, Options{})
		commit(t, db, at(purgeStep+1, noon)...)
		commit(t, db, at(2, noon.Add(time.Hour))...)
		run(t, r)
		pending := at(1, noon)
		commit(t, db, pending...)

		purged, err := PurgeLog(t.Context(), db, noon.Add(time.Minute))
		if err != nil || purged != purgeStep+1 {
			t.Errorf("PurgeLog = %d, %v; want %d", purged, err, purgeStep+1)
		}
		want(t, db, 1, 2, 0)

		// While the clock was wrong, a page of events was stored with times in the future. Older ones follow it.
		commit(t, db, at(purgeStep, db.Now().Add(time.Hour))...)
		commit(t, db, at(1, noon)...)
		run(t, r)
		if purged, err = PurgeLog(t.Context(), db, noon.Add(time.Minute)); err != nil || purged != 2 {
			t.Errorf("PurgeLog = %d, %v; want the event behind those of the future, and the one that was pending", purged, err)
		}
		if _, err := db.Exec(t.Context(), testStmts.Must("forget_future"), db.Now().UnixMilli()); err != nil {
			t.Error(err)
		}
		pending = at(1, noon)
		commit(t, db, pending...)
		if purged, err = PurgeLog(t.Context(), db, noon.Add(2*time.Hour)); err != nil || purged != 2 {
			t.Errorf("PurgeLog = %d, %v; want the two that are published", purged, err)
		}
		want(t, db, 1, 0, 0)
		run(t, r)
		want(t, db, 0, 1, 0)
	})
}
