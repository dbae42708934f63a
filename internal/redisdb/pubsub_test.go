package redisdb_test

import (
	"context"
	"errors"
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

// messageLog receives messages in the background and passes them on.
type messageLog struct {
	begun    chan struct{}
	messages chan string
	ended    chan error
	stop     context.CancelFunc
}

func listen(t *testing.T, db *redisdb.DB) *messageLog {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	e := &messageLog{make(chan struct{}, 8), make(chan string, 64), make(chan error, 1), stop}
	go func() {
		e.ended <- db.Subscribe(ctx, keyspace.LiveUpdates(), func() { e.begun <- struct{}{} }, func(m string) { e.messages <- m })
	}()
	t.Cleanup(func() {
		stop()
		<-e.ended
		e.ended <- nil // for a test that has already waited
	})
	return e
}

func publish(t *testing.T, db *redisdb.DB, message string) {
	t.Helper()
	testenv.NoError(t, db.Publish(t.Context(), keyspace.LiveUpdates(), message))
}

// each runs a test on the servers that several processes may share.
func each(t *testing.T, test func(t *testing.T, db *redisdb.DB)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) {
		db := redisdbtest.Redis(t)
		test(t, db)
	})
	t.Run("cluster", func(t *testing.T) { test(t, redisdbtest.Cluster(t)) })
}

func TestDB_Listen(t *testing.T) {
	each(t, func(t *testing.T, db *redisdb.DB) {
		const early = "no subscriber"
		publish(t, db, early)
		e := listen(t, db)
		<-e.begun
		for _, m := range []string{"one", "", `{"two":"2"}`} {
			publish(t, db, m)
			got := <-e.messages
			for got == early { // nodes of a Cluster propagate subscriptions with a delay
				got = <-e.messages
			}
			testenv.Equal(t, m, got)
		}
		e.stop()
		if err := <-e.ended; err != nil {
			t.Errorf("who stops listening gets %v", err)
		}
		e.ended <- nil
		if !db.Up() {
			t.Error("the end of listening took the server down")
		}
	})
}

// A lost connection ends Subscribe; a new call receives the messages published from then on.
func TestDB_Listen_cut(t *testing.T) {
	_, srv := redisdbtest.Real(t)
	proxy := testenv.NewProxy(t, srv.Addr())
	db := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: "redis://" + proxy.Addr()}))(t)
	t.Cleanup(db.Close)
	e := listen(t, db)
	<-e.begun
	proxy.Cut()
	testenv.ErrorIs(t, redisdb.ErrDown, <-e.ended, "a lost connection")
	e.ended <- nil
	again := listen(t, db)
	select {
	case <-again.begun:
	case err := <-again.ended: // the breaker has noticed the cut as well
		testenv.ErrorIs(t, redisdb.ErrDown, err)
		again.ended <- nil
	}
}

func TestDB_Listen_refuses(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		none := func() {}
		if err := db.Subscribe(t.Context(), keyspace.Channel{}, none, nil); !errors.Is(err, redisdb.ErrChannel) {
			t.Errorf("listening to nothing that was declared: error %v, want ErrChannel", err)
		}
		testenv.ErrorIs(t, redisdb.ErrChannel, db.Publish(t.Context(), keyspace.Channel{}, "x"), "publishing there")
	})
	s := testenv.RedisServer(t)
	s.Stop()
	db := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: "redis://" + s.Addr()}))(t)
	defer db.Close()
	testenv.ErrorIs(t, redisdb.ErrDown, db.Subscribe(t.Context(), keyspace.LiveUpdates(), nil, nil), "without a server")
	if err := db.Publish(t.Context(), keyspace.LiveUpdates(), "x"); !errors.Is(err, redisdb.ErrDown) {
		t.Errorf("publishing without a server: error %v, want ErrDown", err)
	}
}

// An embedded store publishes nothing and keeps working.
func TestDB_Listen_embedded(t *testing.T) {
	db := redisdbtest.Embedded(t)
	e := listen(t, db)
	publish(t, db, "x")
	if err := db.Do(t.Context(), "GET", keyspace.MenuActive(7)).Err(); err != nil {
		t.Errorf("beside another subscriber: %v", err)
	}
	e.stop()
	if err := <-e.ended; err != nil || len(e.begun)+len(e.messages) > 0 {
		t.Errorf("begun %d, received %d, %v", len(e.begun), len(e.messages), err)
	}
	e.ended <- nil
}

// Messages do not cross namespaces.
func TestDB_Listen_namespace(t *testing.T) {
	plain, srv := redisdbtest.Real(t)
	north := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: "redis://" + srv.Addr(), Namespace: "north"}))(t)
	t.Cleanup(north.Close)
	e := listen(t, north)
	<-e.begun
	publish(t, plain, "for others")
	publish(t, north, "for us")
	testenv.Equal(t, "for us", <-e.messages)
}
