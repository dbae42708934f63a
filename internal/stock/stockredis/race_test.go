package stockredis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

// rawClient sends commands that package redisdb does not allow.
func rawClient(t *testing.T, addr string) rueidis.Client {
	t.Helper()
	c := testenv.Must(rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true,
	}))(t)
	t.Cleanup(c.Close)
	return c
}

func TestCache_flush_under_load(t *testing.T) { // I9
	t.Run("redis", func(t *testing.T) {
		db, srv := redisdbtest.Real(t)
		flushInTheMiddle(newFixture(t, db), srv)
	})
	t.Run("cluster", func(t *testing.T) { // one of its nodes is emptied
		db, nodes := redisdbtest.OwnCluster(t)
		f := newFixture(t, db)
		slot := keyspace.LeasesDue(f.Scope.Branch).Slot()
		flushInTheMiddle(f, nodes[int(slot)*len(nodes)/16384])
	})
}

func flushInTheMiddle(f *fixture, home *testenv.Server) {
	t := f.T
	f.SetCap(stocktest.Noodles, 100_000)
	var flushed atomic.Bool
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 200 {
				before := flushed.Load()
				v, err := f.Reserve(context.Background(), f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1}))
				late := before && v.Status != stock.Cold
				if err != nil || late || v.Status != stock.Cold && v.Status != stock.Admitted {
					t.Errorf("after the flush %t: %s, %v", before, v.Status, err)
				}
			}
		})
	}
	all.Go(func() {
		if reply := home.Say("FLUSHALL"); !strings.HasPrefix(reply, "+OK") {
			t.Errorf("FLUSHALL is answered %q", reply)
		}
		flushed.Store(true)
	})
	all.Wait()
	if reply := home.Say("DBSIZE"); !strings.HasPrefix(reply, ":0\r") {
		t.Errorf("keys were written to an unknown scope: %q", reply)
	}
	f.Rebuild()
	f.WantTry(f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 10}), stock.Admitted)
}

func TestCache_without_redis(t *testing.T) { // I16
	srv := testenv.RedisServer(t)
	proxy := testenv.NewProxy(t, srv.Addr())
	db := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{
		URL: "redis://" + proxy.Addr(), Pause: 20 * time.Millisecond, MaxPause: 20 * time.Millisecond,
	}))(t)
	t.Cleanup(db.Close)
	f := newFixture(t, db)
	impatient := New(db, Config{Now: f.cfg.Now, Timeout: 50 * time.Millisecond})
	h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
	for range 30 { // all connections of the client are open now, so the next request reaches Redis
		f.WantTry(f.NewHold(stock.Line{Item: stocktest.Tea, Qty: 1}), stock.Admitted)
	}

	proxy.Mute(true) // Redis applies the request, and its reply is lost
	start := time.Now()
	testenv.Equal(t, stock.Cold, testenv.Must(impatient.Reserve(t.Context(), h))(t).Status)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the answer took %s", took)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := f.Reserve(left, f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})); v.Status != stock.Cold || err != nil {
		t.Errorf("a caller who has left: %s, %v", v.Status, err)
	}
	proxy.Cut()
	proxy.Mute(false)
	var due []stock.Hold
	testenv.Eventually(t, patience, func() bool {
		var err error
		due, err = f.ExpiredProvisional(t.Context(), f.Scope, f.Now.Add(time.Hour), 100)
		return err == nil
	})
	if !slices.ContainsFunc(due, func(d stock.Hold) bool { return d.ID == h.ID }) {
		t.Errorf("the unknown provisional hold is not due: %v", due)
	}

	srv.Kill()
	testenv.Eventually(t, patience, func() bool {
		v, err := f.Reserve(t.Context(), f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1}))
		return err == nil && v.Status == stock.Cold && !db.Up()
	})
	if applied, err := f.Apply(t.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: h}}); err == nil || applied[0] {
		t.Errorf("applied to nothing: %v, %v", applied, err)
	}
}

func TestCache_cluster(t *testing.T) { // K6: all keys of a script are on one node
	f := newFixture(t, redisdbtest.Cluster(t))
	for i := range int64(16) {
		f.Scope = stock.Scope{Branch: i / 2, Date: f.Now.Format(time.DateOnly)}
		if i%2 == 1 {
			f.Scope = stock.StockScope(i / 2)
		}
		f.Rebuild()
		h := f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 1})
		f.WantTry(h, stock.Admitted)
		f.WantTry(f.NewHold(stock.Line{Item: stocktest.Noodles, Qty: 10}), stock.Refused)
		f.WantApply(stock.OpConfirm, h, stock.Changed)
		f.WantCount(stocktest.Noodles, 0, 1)
		testenv.Equal(t, stock.Confirmed, f.StateOf(h.ID))
		if _, err := f.ExpiredProvisional(t.Context(), f.Scope, f.Now, 10); err != nil {
			t.Error(err)
		}
	}
}

func TestQueue_take(t *testing.T) {
	of := func(id string, lines int) *waiter {
		return &waiter{hold: stock.Hold{ID: id, Lines: make([]stock.Line, lines)}}
	}
	ids := func(ws []*waiter) (s string) {
		for _, w := range ws {
			s += w.hold.ID
		}
		return s
	}
	gone := of("g", 1)
	gone.cancelled.Store(true)
	q := &queue{waiting: []*waiter{of("a", 1), gone, of("b", 1), of("a", 2), of("c", 1)}}
	testenv.Equal(t, "abc", ids(q.take()))
	if got := ids(q.take()); got != "a" || len(q.take()) != 0 {
		t.Errorf("the second call takes %q", got)
	}
	for i := range 2*maxBatch + 1 {
		q.waiting = append(q.waiting, of(fmt.Sprint(i), 1))
	}
	if a, b, c := len(q.take()), len(q.take()), len(q.take()); a != maxBatch || b != maxBatch || c != 1 {
		t.Errorf("%d, %d, %d reservations", a, b, c)
	}
	for i := range 30 {
		q.waiting = append(q.waiting, of(fmt.Sprint(i), stock.MaxLines))
	}
	if a, b := len(q.take()), len(q.take()); a != maxLines/stock.MaxLines || b != 30-a {
		t.Errorf("%d, then %d reservations of %d lines", a, b, stock.MaxLines)
	}
}

// The largest call within the limits, with all items different.
func TestCache_largest_calls(t *testing.T) {
	each(t, func(f *fixture) {
		im := f.Snapshot(f.Begin())
		var ops []stock.Op
		var all sync.WaitGroup
		most := stock.MaxLines
		if f.Scope.IsStock() {
			most = stock.MaxStockLines
		}
		for i := range maxBatch * stock.MaxLines / most {
			h := stock.Hold{ID: f.NewID(), Scope: f.Scope}
			for l := range most {
				item := int64(2000 + i*most + l)
				im.Counts = append(im.Counts, stock.Count{Item: item, Cap: 1})
				h.Lines = append(h.Lines, stock.Line{Item: item, Qty: 1})
			}
			ops = append(ops, stock.Op{Kind: stock.OpConfirm, Hold: h})
		}
		testenv.NoError(t, f.FinishRebuild(f.Context(), im))
		for _, op := range ops {
			all.Go(func() { f.WantTry(op.Hold, stock.Admitted) })
		}
		all.Wait()
		if applied, err := f.Apply(f.Context(), ops); err != nil || slices.Contains(applied, false) {
			t.Errorf("Apply = %v, %v, want all applied", applied, err)
		}
		items := make([]int64, 0, len(im.Counts))
		for _, c := range im.Counts {
			items = append(items, c.Item)
		}
		counts, ok, err := f.Counts(f.Context(), f.Scope, items)
		if err != nil || !ok || len(counts) != len(items) {
			t.Fatalf("%d of %d counters, %t, %v", len(counts), len(items), ok, err)
		}
		for _, c := range counts[3:] {
			if c.Held != 0 || c.Used != 1 {
				t.Fatalf("counter = %+v, want one used unit", c)
			}
		}
	})
}
