package stocksql_test

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// syncer is another system that fills the stock and takes from it.
var syncer = authz.Actor{Kind: authz.Service, AllBranches: true}

// fixture is a branch's stock in a database and a Redis, and two processes that work on it.
type fixture struct {
	*testing.T
	*process          // the first process
	second   *process // with its own connection
	clock    *clock
	redis    *redisdb.DB
	branch   int64
}

// process has the stock services of one process.
type process struct {
	db           *sqldb.DB
	reservations *stocksql.Reservations
	ledger       *stocksql.Store
	cache        *stockredis.Cache
	syncer       *stock.Syncer
	stores       *stock.ReservationService
}

// clock is the time of all processes in a test.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead).Truncate(time.Millisecond).UTC()
}

func (c *clock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(30, 100))
	redisdbtest.VerifyMain(m, &virtualHost.Shared)
}

// eachFixture runs a test on SQLite with the store inside the process, and on PostgreSQL with Redis.
func eachFixture(t *testing.T, test func(s *fixture)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(newFixture(t, sqldbtest.SQLiteURL(t), redisdbtest.Embedded(t))) })
	t.Run("postgres", func(t *testing.T) {
		test(newFixture(t, sqldbtest.Unsynced(sqldbtest.PostgresURL(t)), redisdbtest.Redis(t)))
	})
}

func newFixture(t *testing.T, address string, redis *redisdb.DB) *fixture {
	t.Helper()
	s := &fixture{T: t, clock: &clock{}, redis: redis, branch: 1}
	s.process = s.start(address)
	testenv.NoError(t, s.db.Migrate(t.Context()))
	s.second = s.start(address)
	orderingtest.Open(t, s.db, s.branch)
	return s
}

// start starts a process, whose syncer applies committed changes to Redis.
func (s *fixture) start(address string) *process {
	s.Helper()
	db := testenv.Must(sqldb.Open(s.Context(), sqldb.Config{URL: address, MaxConns: 8}))(s)
	s.Cleanup(db.Close)
	p := &process{db: db, ledger: stocksql.New(db)}
	p.cache = stockredis.New(s.redis, stockredis.Config{Now: s.clock.now, Timeout: 5 * time.Second})
	p.syncer = stock.NewSyncer(stock.SyncerConfig{
		Cache: p.cache, Store: p.ledger, Now: s.clock.now, RebuildInterval: -1, Log: slog.New(slog.DiscardHandler),
		EndOfDay: func(context.Context, stock.Scope) (time.Time, error) { return s.clock.now().Add(24 * time.Hour), nil },
	})
	p.reservations = stocksql.NewReservations(db, p.syncer, s.clock.now)
	p.stores = &stock.ReservationService{Store: p.reservations, Admission: p.syncer, Now: s.clock.now}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = p.syncer.Apply(ctx) })
	s.Cleanup(func() {
		p.reservations.Stop()
		cancel()
		loops.Wait()
		p.syncer.Close()
	})
	return p
}

// receive adds units to an item and returns its number.
func (s *fixture) receive(sku string, units int64) int64 {
	s.Helper()
	level := testenv.Must(s.reservations.Adjust(s.Context(), syncer, stock.Adjustment{
		Branch: s.branch, SKU: sku, Kind: stock.Received, Units: units, Create: true,
	}))(s)
	return level.ID
}

// awaitBuilt waits until the cache has the stock scope. A rebuild in the background may have read Redis before the test
// changed it, so it waits for a rebuild that began afterwards.
func (s *fixture) awaitBuilt() {
	s.Helper()
	for range 2 {
		before := s.epoch()
		testenv.Eventually(s.T, 20*time.Second, func() bool {
			testenv.NoError(s, s.syncer.Rebuild(s.Context(), stock.StockScope(s.branch)))
			now := s.epoch()
			return now != "" && now != before
		})
	}
}

// epoch returns the epoch of the last rebuild, or "" if the cache does not have the stock scope.
func (s *fixture) epoch() string {
	s.Helper()
	shown, _ := testenv.Must2(s.cache.ReadScope(s.Context(), stock.StockScope(s.branch)))(s)
	return shown.Epoch
}

func request(id string, items ...stock.SKULine) stock.ReservationRequest {
	return stock.ReservationRequest{ID: id, Branch: 1, Items: items, TTL: time.Minute}
}

func (s *fixture) reserve(id string, items ...stock.SKULine) (stock.Reservation, error) {
	s.Helper()
	res, _, err := s.stores.Reserve(s.Context(), syncer, request(id, items...))
	return res, err
}

func (s *fixture) mustReserve(id string, items ...stock.SKULine) {
	s.Helper()
	if res, err := s.reserve(id, items...); err != nil || res.Status != stock.StatusReserved {
		s.Fatalf("Reserve(%s) = %+v, %v, want RESERVED", id, res, err)
	}
}

// must fails the test if a command was not executed.
func (s *fixture) must(_ stock.Reservation, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// wantRefused checks that a command was refused, and with which code.
func (s *fixture) wantRefused(want string, err error) {
	s.Helper()
	if code(err) != want {
		s.Errorf("%v, want %s", err, want)
	}
}

func (s *fixture) counts() []stock.Count {
	s.Helper()
	return testenv.Must(s.ledger.Counts(s.Context(), stock.StockScope(s.branch)))(s)
}

// wantLevel compares an item in SQL, and in the cache once everything is applied.
func (s *fixture) wantLevel(item, available, reserved, sold int64) {
	s.Helper()
	for _, c := range s.counts() {
		if c.Item == item && (c.Left() != available || c.Held != reserved || c.Used != sold) {
			s.Errorf("available %d, reserved %d, sold %d; want %d, %d, %d", c.Left(), c.Held, c.Used, available, reserved, sold)
		}
	}
	s.wantCacheEqual()
}

// wantCacheEqual waits until the cache equals SQL (I9), if it has the stock scope, and checks SQL itself (I1). Entries
// committed during a rebuild of the cache are replayed by recovery.
func (s *fixture) wantCacheEqual(also ...func(context.Context) error) {
	s.Helper()
	if found, err := s.ledger.Drift(s.Context(), ""); err != nil || len(found) != 0 {
		s.Errorf("SQL contradicts itself: %v, %v", found, err)
	}
	diff := ""
	defer func() {
		if diff != "" {
			s.Errorf("the cache differs: %s", diff)
		}
	}()
	testenv.Eventually(s.T, 20*time.Second, func() bool {
		for _, repair := range append(also, s.syncer.ReplayAll) {
			if err := repair(s.Context()); err != nil {
				s.Error(err)
			}
		}
		shown, ok, err := s.cache.ReadScope(s.Context(), stock.StockScope(s.branch))
		if err != nil || !ok { // the scope is unknown, which is not a difference
			diff = ""
			return err == nil
		}
		diff = cmp.Diff(s.counts(), shown.Counts)
		return diff == ""
	})
}

// events counts the events that are not published yet.
func (s *fixture) events(kind string) int64 {
	s.Helper()
	return (&orderingtest.Restaurant{DB: s.db}).Events(s.T, kind)
}

func rice(n int64) stock.SKULine { return stock.SKULine{SKU: "rice", Qty: n} }

func eggs(n int64) stock.SKULine { return stock.SKULine{SKU: "eggs", Qty: n} }

func name(i int) string { return "r" + strconv.Itoa(i) }
