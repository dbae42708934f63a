package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var errRollback = errors.New("roll back")

// begin queues an event in a transaction that stays open until end is called.
func begin(t *testing.T, db *sqldb.DB, e event.Event) (end func(result error)) {
	t.Helper()
	queued, result, done := make(chan struct{}), make(chan error), make(chan error, 1)
	go func() {
		done <- db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			Queue(tx, []event.Event{e})
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			close(queued)
			return <-result
		})
	}()
	select {
	case <-queued:
	case err := <-done:
		t.Fatalf("the event was not queued: %v", err)
	}
	return func(want error) {
		t.Helper()
		result <- want
		testenv.ErrorIs(t, want, <-done, "Write")
	}
}

// An event is not skipped if its transaction commits after one with a higher position.
func TestRelay_waits_for_open_transactions(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"commit": nil, "rollback": errRollback} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := sqldbtest.Postgres(t) // SQLite has one writer
			before, open, after := paid(1)[0], paid(1)[0], paid(1)[0]
			commit(t, db, before)
			end := begin(t, db, open)
			commit(t, db, after)

			b := &broker{}
			r := New(db, b, Options{})
			run(t, r)
			if want := []string{before.ID}; !slices.Equal(b.ids(), want) {
				t.Errorf("published %v while a transaction is open, want %v", b.ids(), want)
			}
			end(result)
			run(t, r)
			want := []string{before.ID, open.ID, after.ID}
			if result != nil {
				want = slices.Delete(want, 1, 2)
			}
			if !slices.Equal(b.ids(), want) {
				t.Errorf("published %v, want %v", b.ids(), want)
			}
		})
	}
}

var lockStmts = sqldb.Load(fstest.MapFS{
	"key.sql": {Data: []byte(`
		SELECT min(((classid::bigint & 65535) << 32) + objid::bigint) FROM pg_locks
		WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = 17782 AND pid = pg_backend_pid()`)},
	"drawn.sql": {Data: []byte(`SELECT currval('event_log_position_seq')`)}, // by this connection
})

// A transaction's key is a position before its own, even while others draw positions. The sequence is logged every 33
// calls, and a reader that does not lock it may then see a position of the future.
func TestQueue_key_is_before_its_positions(t *testing.T) {
	t.Parallel()
	db := sqldbtest.Postgres(t)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for batch := paid(100); ; {
				select {
				case <-stop:
					return
				default:
					commit(t, db, batch...)
				}
			}
		})
	}
	for range 50 {
		testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			Queue(tx, paid(1))
			key, err := sqldb.Scalar[int64](ctx, tx, lockStmts.Must("key"))
			if err != nil {
				return err
			}
			position, err := sqldb.Scalar[int64](ctx, tx, lockStmts.Must("drawn"))
			if key >= position {
				t.Errorf("the key is %d, want less than the position %d", key, position)
			}
			return err
		}))
	}
	close(stop)
	writers.Wait()
}

// A transaction without events, such as a long change of the menu, delays no event.
func TestRelay_ignores_transactions_without_events(t *testing.T) {
	t.Parallel()
	db := sqldbtest.Postgres(t)
	b := &broker{}
	testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		eventsql.InsertDeadLetters(tx, []eventsql.DeadLetter{{Event: paid(1)[0], Reason: "a change", DiedAt: noon}})
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		commit(t, db, paid(2)...)
		return New(db, b, Options{}).RunOnce(ctx)
	}))
	testenv.Equal(t, 2, len(b.got))
}

// I7: whatever the order of commits and rollbacks, relays in several processes publish each committed event once.
func TestRelay_concurrent_writers(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const writers, each = 8, 30
		b := &broker{}
		var mu sync.Mutex
		var committed []string
		var group, relays sync.WaitGroup
		stop := make(chan struct{})
		n := 1
		if db.Engine() == sqldb.Postgres {
			n = 3 // on SQLite only one process relays
		}
		for range n {
			relays.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if err := New(db, b, Options{}).RunOnce(t.Context()); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		for range writers {
			group.Go(func() {
				for i := range each {
					events := paid(1 + i%3)
					err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
						Queue(tx, events[:1])
						if err := tx.Flush(ctx); err != nil || i%5 == 4 {
							return errors.Join(err, errRollback)
						}
						Queue(tx, events[1:])
						return nil
					})
					switch {
					case err == nil:
						mu.Lock()
						committed = append(committed, ids(events)...)
						mu.Unlock()
					case !errors.Is(err, errRollback):
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		close(stop)
		relays.Wait()
		run(t, New(db, b, Options{}))
		got := b.ids()
		slices.Sort(got)
		slices.Sort(committed)
		if !slices.Equal(got, committed) {
			t.Errorf("published %d events, %d of them different, want each of %d once", len(got), len(slices.Compact(got)), len(committed))
		}
		want(t, db, 0, int64(len(committed)), 0)
	})
}
