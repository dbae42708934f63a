package bench

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/bench/load"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *testServer{
		"embedded": func(t *testing.T) *testServer { return open(t, sqldbtest.SQLiteURL(t), "", ordering.Limits{}) },
		"services": func(t *testing.T) *testServer {
			return open(t, sqldbtest.PostgresURL(t), "redis://"+testenv.RedisServer(t).Addr(), ordering.Limits{})
		},
	} {
		if testing.Short() && name == "services" {
			continue // each measurement is the same on both
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // half of the time the measurements wait, for servers and for the clock
			h := open(t)
			var steps []string
			h.Progress = func(i, n int, step string) {
				if steps = append(steps, step); len(steps) != i || i > n {
					t.Errorf("step %d of %d is the %d. one", i, n, len(steps))
				}
			}
			r := testenv.Must(Run(t.Context(), h.Config))(t)
			checkLoads(t, r)
			checkOptions(t, r)
			checkMembers(t, r, h.Rounds)
			checkNotices(t, r)
			checkReservations(t, r)
			checkStreams(t, r)
			checkLimits(t, r)
			if h.RedisURL != "" && (r.Memory.HoldKey < 50 || r.Memory.HoldKey > 1000 || r.Memory.Hold == 0) {
				t.Errorf("memory = %+v, want 50 to 1000 bytes of a hold's key and the bytes of a hold", r.Memory)
			}
			if runtime.GOOS == "linux" {
				checkProcesses(t, r, h.RedisURL != "")
			}
			h.checkLedger(t)
			h.checkCleared(t)
			if !slices.Contains(steps, "orders at 4 connections") || steps[len(steps)-1] != "limit: floor" {
				t.Errorf("steps: %q", steps)
			}
		})
	}
}

func checkLoads(t *testing.T, r Report) {
	t.Helper()
	loads := map[string]Load{
		"half": r.Half, "refusals": r.Refusals, "menu": r.Menu, "compressed": r.Compressed, "unchanged": r.Unchanged,
		"echo": r.Limits.Echo,
	}
	if len(r.Orders) != 2 || r.Orders[1].Conns != 4 {
		t.Errorf("orders = %+v, want two loads, the second over 4 connections", r.Orders)
	}
	for i, o := range r.Orders {
		loads[[]string{"first", "second"}[i]] = o.Load
		if b := o.Batches; b.Commit < 1 || b.Commit > 4 || b.Try < 1 || b.Try > 4 || b.Held < 1 || b.Cold > 0.2 {
			t.Errorf("batches at %d connections: %+v", o.Conns, b)
		}
	}
	if r.Sales == nil || r.Sales.Rate != reportRate || r.Sales.BodyBytes <= 0 {
		t.Fatalf("reports = %+v, want paced ones with a body", r.Sales)
	}
	loads["reports"] = *r.Sales
	for name, l := range loads {
		if l.PerSecond <= 0 || len(l.Errors) > 0 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max {
			t.Errorf("load of %s = %+v, want a rate, ordered quantiles and no errors", name, l)
		}
	}
	for name, ratio := range map[string]float64{
		"refusals": r.OverEcho.Refusals, "menu": r.OverEcho.Menu, "gzip": r.OverEcho.Compressed, "304": r.OverEcho.Unchanged,
	} {
		if ratio <= 0 {
			t.Errorf("the ratio of %s to the echo is %v", name, ratio)
		}
	}
	if r.Half.Rate < 1 || r.Half.Rate > r.Best().PerSecond {
		t.Errorf("paced at %.0f, the best is %.0f", r.Half.Rate, r.Best().PerSecond)
	}
	if r.Compressed.BodyBytes <= 0 || r.Compressed.BodyBytes > r.Menu.BodyBytes/2 || r.Unchanged.BodyBytes != 0 {
		t.Errorf("a menu has %.0f bytes, %.0f compressed, %.0f unchanged",
			r.Menu.BodyBytes, r.Compressed.BodyBytes, r.Unchanged.BodyBytes)
	}
}

// Each change of the menu reaches each stream of it, and a cancellation the stream of its order.
func checkStreams(t *testing.T, r Report) {
	t.Helper()
	l := r.Streams
	if l == nil || l.Streams != testStreams {
		t.Fatalf("streams = %+v, want %d", l, testStreams)
	}
	for name, c := range map[string]struct {
		StreamDelay
		changes int
		events  int64
	}{"menu": {l.Menu, menuChanges, menuChanges * testStreams / 2}, "orders": {l.Orders, testStreams / 2, testStreams / 2}} {
		if c.Changes != c.changes || c.Events != c.events || c.Missing != 0 || c.P50 <= 0 || c.P50 > c.P99 || c.P99 > c.Max {
			t.Errorf("%s = %+v, want %d changes and %d events, none missing", name, c.StreamDelay, c.changes, c.events)
		}
	}
}

func checkOptions(t *testing.T, r Report) {
	t.Helper()
	o := r.Options
	if o == nil {
		t.Fatal("options were not measured")
	}
	for name, l := range map[string]Load{"with options": o.With.Load, "without": o.Without.Load, "a menu": o.Menu} {
		if l.PerSecond <= 0 || len(l.Errors) > 0 {
			t.Errorf("load %s = %+v, want a rate and no errors", name, l)
		}
	}
	if o.Ratio <= 0 || o.Rounds != floorRounds || o.MenuRatio <= 1 {
		t.Errorf("options = %+v, want a ratio of %d rounds and a larger menu", o, floorRounds)
	}
	if o.With.BodyBytes <= 0 {
		t.Errorf("an order with options is answered with %v bytes", o.With.BodyBytes)
	}
}

func checkMembers(t *testing.T, r Report, rounds int) {
	t.Helper()
	m := r.Members
	if m == nil || m.Rounds < rounds || m.Ratio != m.Checkouts.PerSecond/m.Orders.PerSecond {
		t.Fatalf("members = %+v, want at least %d rounds and the ratio of checkouts to orders", m, rounds)
	}
	for name, l := range map[string]Load{"reads": m.Read, "changes": m.Change, "checkouts": m.Checkouts.Load, "orders": m.Orders.Load} {
		if l.PerSecond <= 0 || len(l.Errors) > 0 || l.Conns != 4 {
			t.Errorf("load of members' %s = %+v, want a rate over 4 connections and no errors", name, l)
		}
	}
}

func checkNotices(t *testing.T, r Report) {
	t.Helper()
	n := r.Notices
	if n == nil || n.Rounds != noticeRounds || n.Ratio <= 0 {
		t.Fatalf("notices = %+v, want a ratio of %d rounds", n, noticeRounds)
	}
	for name, l := range map[string]Load{"first": n.First.Load, "again": n.Again.Load, "orders": n.Orders.Load} {
		if l.PerSecond <= 0 || len(l.Errors) > 0 {
			t.Errorf("load of notices, %s = %+v, want a rate and no errors", name, l)
		}
	}
	if runtime.GOOS == "linux" && (len(n.First.CPU) == 0 || len(r.Members.Checkouts.CPU) == 0) {
		t.Error("nothing is known of what they cost")
	}
}

func checkReservations(t *testing.T, r Report) {
	t.Helper()
	i := r.Reservations
	if i == nil {
		t.Fatal("nothing was reserved")
	}
	// inventory-tcc 003-H4: what a reservation costs is part of the report. A run this short may end with less memory, when
	// earlier keys expire meanwhile.
	if redis := strings.HasPrefix(r.Redis, "standalone"); redis && i.Memory == 0 || runtime.GOOS == "linux" && len(i.Try.CPU) == 0 {
		t.Errorf("a reservation takes %v and %.0f bytes of %s", i.Try.CPU, i.Memory, r.Redis)
	}
	for name, l := range map[string]Load{"try": i.Try.Load, "in turn": i.Alternating, "read": i.Read} {
		if l.PerSecond <= 0 || len(l.Errors) > 0 {
			t.Errorf("load of reservations, %s = %+v, want a rate and no errors", name, l)
		}
	}
}

func checkLimits(t *testing.T, r Report) {
	t.Helper()
	l := r.Limits
	if l.Script.PerSecond <= 0 || l.Commit.PerSecond <= 0 || l.Implied <= 0 || l.Ratio <= 0 {
		t.Errorf("limits = %+v, want every rate and the ratio", l)
	}
	if l.Implied > l.Echo.PerSecond || l.Implied > l.Script.PerSecond || l.Implied > l.Commit.PerSecond {
		t.Errorf("the whole is faster than a part: %+v", l)
	}
	for name, l := range map[string]RoundsLoad{"floor": l.Floor.RoundsLoad, "product in turn": l.Floor.Product} {
		if l.PerSecond <= 0 || len(l.Errors) > 0 || l.Conns != r.Best().Conns || l.P50 <= 0 {
			t.Errorf("load of the %s = %+v, want a rate over %d connections and no errors", name, l, r.Best().Conns)
		}
		if runtime.GOOS == "linux" && len(l.CPU) != len(r.Orders[0].CPU) {
			t.Errorf("%s: the costs are %+v", name, l.CPU)
		}
	}
	if l.Floor.Rounds != floorRounds || l.OverFloor <= 0 || l.Floor.Batch < 1 || l.Floor.Batch > 4 {
		t.Errorf("%+v, ratio %v", l.Floor, l.OverFloor)
	}
}

func checkProcesses(t *testing.T, r Report, services bool) {
	t.Helper()
	want := []string{"generator and server"}
	if services {
		want = append(want, "postgres", "redis")
	}
	var got []string
	for _, c := range r.Orders[0].CPU {
		got = append(got, c.Process)
	}
	if !slices.Equal(got, want) || r.Memory.IdleRSS < 1<<20 || r.Memory.LoadedRSS < 1<<20 {
		t.Errorf("processes %q, memory %+v", got, r.Memory)
	}
}

// checkLedger checks that the load has left no differences, and that the raw rows are not in the ledger (B3).
func (h *testServer) checkLedger(t *testing.T) {
	t.Helper()
	orders := testenv.Must(orderingsql.NewOrders(h.db).Drift(t.Context(), "", h.db.Now()))(t)
	counters := testenv.Must(stocksql.New(h.db).Drift(t.Context(), ""))(t)
	for _, d := range append(orders, counters...) {
		t.Error(d)
	}
	counts, err := stocksql.New(h.db).Counts(t.Context(), stock.Scope{Branch: branchID, Date: rawDate})
	if err != nil || len(counts) > 0 {
		t.Errorf("%d counters of raw orders, %v", len(counts), err)
	}
}

// checkCleared checks that Clear removes all keys of the benchmark from Redis, and no other key.
func (h *testServer) checkCleared(t *testing.T) {
	t.Helper()
	size := func() int64 {
		return testenv.Must(h.redis.Run(t.Context(), dbsize, unused, nil).Int())(t)
	}
	testenv.NoError(t, h.redis.Run(t.Context(), setForeign, unused, nil).Err())
	before := size()
	testenv.NoError(t, Clear(t.Context(), h.Config))
	if after := size(); h.RedisURL != "" && (before < 2*probes || after != 1) || h.RedisURL == "" && after < before {
		t.Errorf("%d keys before, %d after", before, after)
	}
}

// A server with limits would refuse most requests, so the run fails before it measures anything.
func TestRun_refusesAServerWithLimits(t *testing.T) {
	h := open(t, sqldbtest.SQLiteURL(t), "", ordering.Defaults().Limits)
	_, err := Run(t.Context(), h.Config)
	var status *statusError
	if !errors.As(err, &status) || status.got != http.StatusTooManyRequests {
		t.Errorf("Run = %v, want a statusError with %d", err, http.StatusTooManyRequests)
	}
}

func TestRun_stopsWithItsContext(t *testing.T) {
	h := open(t, sqldbtest.SQLiteURL(t), "", ordering.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h.Duration = time.Minute
	h.Progress = func(i, _ int, _ string) {
		if i == 2 {
			cancel()
		}
	}
	begin := time.Now()
	if _, err := Run(ctx, h.Config); !errors.Is(err, context.Canceled) || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

func TestRun_missing_requirements(t *testing.T) {
	h := open(t, sqldbtest.SQLiteURL(t), "", ordering.Limits{})
	c := h.Config
	c.Tokens = []string{"AAAAAAAAAAAAAAAAAAAAAA"}
	var status *statusError
	if _, err := Run(t.Context(), c); !errors.As(err, &status) || status.got != http.StatusNotFound {
		t.Errorf("an unknown token: %v", err)
	}
	c = h.Config
	c.DatabaseURL = "nothing"
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("a database that is none was opened")
	}
}

// The menu is read again before menus are measured. The dishes to order remain the same.
func TestOpenTables_and_readMenu(t *testing.T) {
	h := open(t, sqldbtest.SQLiteURL(t), "", ordering.Limits{})
	target := testenv.Must(load.ParseTarget(h.Target))(t)
	p, err := openTables(t.Context(), target, h.Tokens, 3)
	defer p.close()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if len(p.guests) != 3 || p.branch != branchID || len(p.items) != itemCount-1 || slices.Contains(p.items, p.soldOut) {
			t.Errorf("%d guests of branch %d, %d dishes, %s sold out", len(p.guests), p.branch, len(p.items), p.soldOut)
		}
		testenv.NoError(t, p.readMenu(t.Context()))
	}
	if p.etag == "" || !uid.Valid(p.lastID) {
		t.Errorf("etag %q, last order %q", p.etag, p.lastID)
	}
}

func TestConfig_Validate(t *testing.T) {
	good := Config{Target: "http://127.0.0.1:8080", Tokens: []string{"x"}, DatabaseURL: "sqlite:x"}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"no target":                func(c *Config) { c.Target = "" },
		"a server elsewhere":       func(c *Config) { c.Target = "http://192.0.2.1:8080" },
		"an echo server elsewhere": func(c *Config) { c.Echo = "http://192.0.2.1:8080" },
		"a floor elsewhere":        func(c *Config) { c.Floor = "http://192.0.2.1:8080" },
		"no tokens":                func(c *Config) { c.Tokens = nil },
		"no database":              func(c *Config) { c.DatabaseURL = "" },
		"too long":                 func(c *Config) { c.Duration = time.Hour },
		"too short":                func(c *Config) { c.Duration = time.Millisecond },
		"no connections":           func(c *Config) { c.Conns = []int{0} },
		"too many":                 func(c *Config) { c.Conns = []int{load.MaxConns + 1} },
		"too many streams":         func(c *Config) { c.Streams = MaxStreams + 1 },
		"too many loads":           func(c *Config) { c.Conns = make([]int, maxLoads+1) },
	} {
		c := good
		change(&c)
		_, err := Run(t.Context(), c)
		if err == nil || (c.Target != good.Target || c.Echo+c.Floor != "") && !errors.Is(err, load.ErrNotLoopback) {
			t.Errorf("Run with %s = %v, want an error, ErrNotLoopback for an address elsewhere", name, err)
		}
	}
}
