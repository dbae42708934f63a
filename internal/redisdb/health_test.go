package redisdb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

const soon = 10 * time.Second // limit for operations that take milliseconds on an idle machine

func quick(addr string) redisdb.Config {
	return redisdb.Config{
		URL: "redis://" + addr, Pause: 20 * time.Millisecond, MaxPause: 50 * time.Millisecond,
		Heartbeat: 50 * time.Millisecond,
	}
}

func openDB(t *testing.T, cfg redisdb.Config) (*redisdb.DB, chan redisdb.Change) {
	t.Helper()
	db := testenv.Must(redisdb.Open(t.Context(), cfg))(t)
	t.Cleanup(db.Close)
	changes := make(chan redisdb.Change, 100)
	db.OnChange(func(c redisdb.Change) { changes <- c })
	return db, changes
}

func get(t *testing.T, db *redisdb.DB) error {
	return db.Do(t.Context(), "GET", keyspace.MenuActive(7)).Err()
}

func next(t *testing.T, changes chan redisdb.Change) redisdb.Change {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(soon):
		t.Fatal("the change was not reported")
		return redisdb.Change{}
	}
}

func TestDB_outage(t *testing.T) { // R4, R5
	srv := testenv.RedisServer(t)
	reg := prometheus.NewRegistry()
	cfg := quick(srv.Addr())
	cfg.Metrics = reg
	db, changes := openDB(t, cfg)
	testenv.NoError(t, get(t, db))

	srv.Kill()
	testenv.Eventually(t, soon, func() bool { _ = get(t, db); return !db.Up() })
	start := time.Now()
	err := get(t, db)
	if !errors.Is(err, redisdb.ErrDown) || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("while down: %v", err)
	}
	if took := time.Since(start); took > 100*time.Millisecond {
		t.Errorf("while down a call took %s", took)
	}
	if got := metric(t, reg, "breaker_state"); got != 1 {
		t.Errorf("breaker_state = %v", got)
	}

	srv.Restart()
	if c := next(t, changes); !c.Restarted {
		t.Error("another process was taken for the same server")
	}
	testenv.Eventually(t, soon, func() bool { return db.Up() && get(t, db) == nil })
	if got := metric(t, reg, "breaker_state"); got != 0 {
		t.Errorf("breaker_state = %v", got)
	}
	if metric(t, reg, "redis_error_total") == 0 {
		t.Error("no error was counted")
	}
}

// metric sums a metric over its labels.
func metric(t *testing.T, reg *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families := testenv.Must(reg.Gather())(t)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestOpen_before_the_server(t *testing.T) {
	srv := testenv.RedisServer(t)
	srv.Stop()
	db, changes := openDB(t, quick(srv.Addr()))
	testenv.ErrorIs(t, redisdb.ErrDown, get(t, db), "without a server")
	if _, err := redisdb.Attach(t.Context(), quick(srv.Addr())); !errors.Is(err, redisdb.ErrDown) {
		t.Errorf("a tool attached to nothing: error %v, want ErrDown", err)
	}
	srv.Restart()
	if c := next(t, changes); !c.Restarted {
		t.Error("a server that was never seen counts as the same")
	}
	testenv.Eventually(t, soon, func() bool { return get(t, db) == nil })
}

func TestDB_silent_restart(t *testing.T) { // no call fails, although all keys are lost
	srv := testenv.RedisServer(t)
	db, changes := openDB(t, quick(srv.Addr()))
	srv.Restart()
	if c := next(t, changes); !c.Restarted {
		t.Error("the restart was taken for an outage")
	}
	testenv.Eventually(t, soon, db.Up)
}

func TestDB_slow_server(t *testing.T) { // R4
	p := testenv.NewProxy(t, testenv.RedisServer(t).Addr())
	cfg := quick(p.Addr())
	cfg.Timeout = 50 * time.Millisecond
	db, changes := openDB(t, cfg)
	p.Mute(true)
	start := time.Now()
	for range 3 {
		testenv.ErrorIs(t, redisdb.ErrDown, get(t, db), "a silent server")
	}
	if took := time.Since(start); took > soon/2 {
		t.Errorf("three calls took %s", took)
	}
	testenv.Eventually(t, soon, func() bool { return !db.Up() })
	p.Mute(false)
	if c := next(t, changes); c.Restarted {
		t.Error("the same server was taken for another")
	}
	testenv.Eventually(t, soon, func() bool { return get(t, db) == nil })
}

func TestDB_impatient_callers_do_not_trip(t *testing.T) {
	p := testenv.NewProxy(t, testenv.RedisServer(t).Addr())
	cfg := quick(p.Addr())
	cfg.Heartbeat = time.Hour
	db, _ := openDB(t, cfg)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Microsecond)
		if err := db.Do(ctx, "GET", keyspace.MenuActive(7)).Err(); err == nil {
			t.Error("an answer within a microsecond")
		}
		cancel()
	}
	if !db.Up() {
		t.Error("callers without time took the server down")
	}
}

func TestDB_write_is_sent_once(t *testing.T) { // R2
	srv := testenv.RedisServer(t)
	p := testenv.NewProxy(t, srv.Addr())
	db, _ := openDB(t, quick(p.Addr()))
	warm(t, db)
	testenv.NoError(t, db.Run(t.Context(), count, []keyspace.Key{keyspace.MenuActive(7)}, []string{""}).Err())
	for name, send := range map[string]func() error{
		"command": func() error { return db.Do(t.Context(), "INCR", keyspace.MenuActive(7)).Err() },
		"script": func() error {
			return db.Run(t.Context(), count, []keyspace.Key{keyspace.MenuActive(7)}, []string{""}).Err()
		},
	} {
		testenv.Eventually(t, soon, func() bool { // the last round may still close the connection
			warm(t, db)
			before := value(t, srv)
			p.Mute(true) // the request arrives, the reply is lost
			if err := send(); !errors.Is(err, redisdb.ErrDown) {
				t.Errorf("%s without a reply: error %v, want ErrDown", name, err)
			}
			p.Cut()
			p.Mute(false)
			warm(t, db)
			after := value(t, srv)
			if after > before+1 {
				t.Errorf("%s: the value went from %d to %d", name, before, after)
			}
			return after == before+1
		})
	}
}

// warm makes calls until many in a row succeed. Then every connection of the client is open, so the next request
// reaches the server even if its reply is lost.
func warm(t *testing.T, db *redisdb.DB) {
	t.Helper()
	row := 0
	testenv.Eventually(t, soon, func() bool {
		row = 0
		for row < 40 && get(t, db) == nil {
			row++
		}
		return row == 40
	})
}

func value(t *testing.T, srv *testenv.Server) int64 {
	t.Helper()
	db := testenv.Must(redisdb.Attach(t.Context(), redisdb.Config{URL: "redis://" + srv.Addr()}))(t)
	defer db.Close()
	return testenv.Must(db.Do(t.Context(), "GET", keyspace.MenuActive(7)).Int())(t)
}
