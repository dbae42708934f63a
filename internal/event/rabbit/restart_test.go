package rabbit

import (
	"sync"
	"sync/atomic"
	"testing"

	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// A broker that is stopped or killed comes back with everything that it has confirmed. Publishers and consumers
// reconnect without any manual step. I7, I8: every committed event is published, and applied exactly once.
func TestRabbit_restarts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB, broker *broker) {
		r := newBrokerTest(t, broker.URL())
		c := r.config(daybook(nil))
		r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
		relay(t, r, c, db)
		if db.Engine() == sqldb.Postgres { // PostgreSQL allows any number of relays
			relay(t, r, c, db)
		}
		events := 0
		broker.all(t, func() {}) // both begin to write at the same time
		for _, end := range []func(){broker.Stop, broker.Kill, broker.Kill} {
			var writer sync.WaitGroup
			var ended atomic.Bool
			wrote := 0
			writer.Go(func() {
				for ; wrote < 1000 || !ended.Load(); wrote += 10 {
					commit(t, db, paid(10))
					testenv.Eventually(t, brokerTimeout, func() bool { // the other engine may take longer
						return wrote < 1000 || ended.Load() || count(t, db, relayedCount) >= events+wrote
					})
				}
			})
			testenv.Eventually(t, brokerTimeout, func() bool { return count(t, db, daybookPaid) >= events+300 })
			broker.all(t, end) // at a random point between a batch and its confirms or acknowledgements
			ended.Store(true)
			writer.Wait()
			commit(t, db, paid(500))
			events += wrote + 500
			if s, err := outbox.ReadStatus(t.Context(), db); err != nil || s.Pending < 500 {
				t.Errorf("%d events are pending without a broker, %v", s.Pending, err)
			}
			broker.all(t, broker.Restart)
		}
		applied(t, db, events)
		testenv.Eventually(t, brokerTimeout, func() bool { return count(t, db, relayedCount) == events })
		r.nothingWrong(t, db)
		r.wantDelivered(t, queuePaid, events)
	})
}

// A broker that has lost its disk is set up again by the first connection, and all later events arrive.
func TestRabbit_wiped(t *testing.T) {
	t.Parallel()
	db, broker := sqldbtest.SQLite(t), ownBroker(t)
	r := newBrokerTest(t, broker.URL())
	c := r.config(daybook(nil))
	r.consume(t, c, inbox.New(db, inbox.Options{}), nil)
	relay(t, r, c, db)
	commit(t, db, paid(100))
	applied(t, db, 100)
	broker.Kill()
	broker.Wipe()
	commit(t, db, paid(200))
	broker.Restart()
	applied(t, db, 300)
	testenv.Eventually(t, brokerTimeout, func() bool { return count(t, db, relayedCount) == 300 }) // consumers may be ahead of the relay
	r.nothingWrong(t, db)
	r.wantDelivered(t, queuePaid, 200) // the first hundred had not been read
}

// nothingWrong fails the test if an event is pending, dead, or has failed at its consumer.
func (r *brokerTest) nothingWrong(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if s, err := outbox.ReadStatus(t.Context(), db); err != nil || s.Pending != 0 || len(s.Dead) != 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	if n := count(t, db, failureCount); n != 0 {
		t.Errorf("%d events failed at the consumer", n)
	}
}

// wantDelivered waits until a queue has delivered want different events, and fails the test if there are more.
// Repetitions count once.
func (r *brokerTest) wantDelivered(t *testing.T, queue string, want int) {
	t.Helper()
	ch, ids := r.channel(t), map[string]bool{}
	testenv.Eventually(t, brokerTimeout, func() bool {
		for {
			d, ok := testenv.Must2(ch.Get(r.prefix+queue, true))(t)
			if !ok {
				return len(ids) >= want
			}
			ids[d.MessageId] = true
		}
	})
	if len(ids) != want {
		t.Errorf("%s has delivered %d events, want %d", queue, len(ids), want)
	}
}
