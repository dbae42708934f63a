package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogredis"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/event/inbox"
	"comanda/internal/identity"
	"comanda/internal/keyspace"
	"comanda/internal/limit"
	"comanda/internal/live"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/payment"
	"comanda/internal/redisdb"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/uid"
	"comanda/internal/visit"
	"comanda/internal/visit/visitredis"
	"comanda/internal/visit/visitsql"
	"comanda/internal/web"
)

// OpenDatabase opens the configured database without migrating it.
func OpenDatabase(ctx context.Context, c Config) (*sqldb.DB, error) {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return sqldb.Open(ctx, sqldb.Config{URL: c.DatabaseURL})
}

func (c Config) redis(log *slog.Logger, reg prometheus.Registerer) (redisdb.Config, error) {
	namespace, err := keyspace.ParseNamespace(c.RedisNamespace)
	return redisdb.Config{
		URL: c.RedisURL, Namespace: namespace, Dir: c.DataDir, Listen: c.RedisListen, Log: log, Metrics: reg,
	}, err
}

// AttachRedis connects a command to the servers' Redis: the configured one, or the embedded one of the server that runs
// with the data folder. If that server does not run, it returns redisdb.ErrNotRunning.
func AttachRedis(ctx context.Context, c Config) (*redisdb.DB, error) {
	rc, err := c.redis(slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, err
	}
	return redisdb.Attach(ctx, rc)
}

// Core is all services on their stores, without HTTP and background loops.
type Core struct {
	Config   Config
	DB       *sqldb.DB
	Redis    *redisdb.DB
	Log      *slog.Logger
	Menus    *catalog.MenuCache
	Boards   *catalog.LiveMenus
	Branches *catalog.BranchAdmin
	Editor   *catalog.MenuEditor
	Guests   *visit.Guests
	Landing  *visit.Landing
	Floor    *visit.Floor
	Gate     *stockredis.Cache
	Keeper   *stock.Syncer
	Stock    *stocksql.Store
	Desk     *stocksql.Reservations
	Stores   *stock.ReservationService
	Recipes  *stock.RecipeCache
	Window   *stock.SnapshotService
	Ledger   *orderingsql.Ledger
	Reader   *orderingsql.Orders
	Reports  *report.Service
	Orders   *ordering.Service
	Kitchen  *ordering.BoardHub
	Limits   *limit.Limiter // nil when limits are off
	Carts    *cart.Service
	Baskets  *cartsql.Store
	Metrics  *metrics
	Live     *live.Hub

	Catalogue cataloghttp.Services
	photos    web.Photos

	people // set by wireIdentity
	access // set by wireAccess
	papers
	tills   *tills  // set by wirePayments
	station station // set by the process

	moving sync.RWMutex // locked while deadlines move with the clock
}

// NewCore creates the services. Close stops what it starts; the caller closes the stores.
func NewCore(c Config, db *sqldb.DB, redis *redisdb.DB, log *slog.Logger, reg prometheus.Registerer) *Core {
	k := &Core{Config: c, DB: db, Redis: redis, Log: log, Metrics: newMetrics(reg)}
	watchClock(reg, db.Clock())
	k.wireLimits(reg)
	k.wireCatalog()
	k.wireDocuments(reg)
	k.wireVisits(reg)
	k.wireStock(reg)
	k.Baskets = cartsql.New(k.DB, k.DB.Now)
	k.Carts = &cart.Service{Store: k.Baskets, LiveMenus: k.Boards}
	k.wireOrders(reg)
	k.wireLive(reg)
	return k
}

func (k *Core) wireCatalog() {
	store := catalogsql.New(k.DB, k.followQuota)
	k.Menus = catalog.NewMenuCache(store, catalogredis.New(k.Redis), k.DB.Now)
	k.Boards = catalog.NewLiveMenus(k.Menus, availability{k}, k.DB.Now)
	k.Branches = &catalog.BranchAdmin{Store: store, Menus: k.Menus, Now: k.DB.Now}
	k.Editor = &catalog.MenuEditor{Store: quotaStore{store, k}, Menus: k.Menus, Now: k.DB.Now}
	k.wireCatalogue(store)
}

func (k *Core) wireVisits(reg prometheus.Registerer) {
	store := visitsql.New(k.DB)
	k.Guests = visit.NewGuests(store, visitredis.New(k.Redis), k.Menus, k.DB.Now)
	k.Landing = &visit.Landing{Store: store, Branches: k.Menus, Guests: k.Guests, Now: k.DB.Now, OnScan: countScans(reg)}
	k.Floor = &visit.Floor{Store: store, Guests: k.Guests, Now: k.DB.Now}
}

func (k *Core) wireStock(reg prometheus.Registerer) {
	k.Stock = stocksql.New(k.DB)
	k.Gate = stockredis.New(k.Redis, stockredis.Config{Now: k.DB.Now, Log: k.Log, Metrics: reg})
	k.Keeper = stock.NewSyncer(stock.SyncerConfig{
		Cache: k.Gate, Store: k.Stock, EndOfDay: k.dayEnds, Now: k.DB.Now, Log: k.Log, Observer: k.syncerObserver(),
	})
	k.Recipes = &stock.RecipeCache{Read: k.Stock.Recipes, Now: k.DB.Now}
	k.Desk = stocksql.NewReservations(k.DB, k.Keeper, k.DB.Now)
	k.Stores = &stock.ReservationService{Store: k.Desk, Admission: k.Keeper, Now: k.DB.Now}
	k.Desk.OnCommit = k.Metrics.decided
	watchGroup(reg, "reservations", k.Desk.Group())
	k.Window = &stock.SnapshotService{Cache: stockredis.NewSnapshotCache(k.Redis), Store: k.Desk, Now: k.DB.Now}
}

func (k *Core) wireOrders(reg prometheus.Registerer) {
	k.Ledger = orderingsql.NewLedger(k.DB, k.Keeper, k.DB.Now)
	watchGroup(reg, "orders", k.Ledger.Group())
	k.Reader = orderingsql.NewOrders(k.DB)
	k.Reports = report.NewService(reportsql.New(k.DB), k.Menus)
	k.Orders = &ordering.Service{
		Config: k.Config.orders(), Ledger: k.Ledger, Admission: k.Keeper, Reader: k.Reader, Catalog: k.Menus,
		Carts: k.Carts, Recipes: k.Recipes, Methods: payment.NewMethods(), Payments: k.Ledger,
		ReturnTo: k.Config.PublicURL, Log: k.Log, Now: k.DB.Now, Metrics: k.Metrics.orders(),
	}
	if k.Config.SandboxPayments {
		k.Orders.Methods = payment.NewMethods(payment.Sandbox)
	}
	k.Kitchen = &ordering.BoardHub{
		Reader: k.Reader, Catalog: k.Menus, Changes: k.Ledger, Warn: k.Config.TicketWarn, Late: k.Config.TicketLate,
		Interval: k.Config.StreamLook, Log: k.Log, Now: k.DB.Now,
	}
}

// wirePayments sets the payment gateways.
func (k *Core) wirePayments(t *tills) {
	k.tills = t
	k.Orders.Methods, k.Orders.Gateways = payment.NewMethods(t.methods(k.Config.SandboxPayments)...), t.gateways()
}

// Close commits the operations queued in the ledger and ends the syncer's tasks.
func (k *Core) Close() {
	talks, cancel := context.WithTimeout(context.Background(), stopTimeout/2)
	defer cancel()
	k.Orders.Close(talks)
	k.Baskets.Stop()
	k.Ledger.Stop()
	k.Desk.Stop()
	k.Keeper.Close()
}

// doubtGate invalidates the admission cache, so that it answers only after a rebuild from SQL. A process that was
// killed leaves provisional holds, and until they expire guests would be refused portions that are free. Other
// processes' provisional holds go too; that costs only a query, because SQL decides in any case.
func (k *Core) doubtGate(ctx context.Context) error {
	scopes, err := k.Stock.Scopes(ctx, k.DB.Now().AddDate(0, 0, -2).Format(time.DateOnly))
	if err != nil {
		return err
	}
	for s := range scopes {
		if _, err := k.Gate.BeginRebuild(ctx, s); err != nil {
			k.Log.DebugContext(ctx, "the gate is out of reach; it is looked at when it is back", "err", err)
			return nil
		}
	}
	return nil
}

// Consumers returns all event consumers, for RabbitMQ and the local bus alike. desk may be nil if only names and queues
// are needed.
func Consumers(desk *stocksql.Reservations) []inbox.Consumer {
	return append([]inbox.Consumer{orderingsql.Daybook()}, desk.Consumers()...)
}

// dayEnds returns the end of a scope's business day.
func (k *Core) dayEnds(ctx context.Context, s stock.Scope) (time.Time, error) {
	b, err := k.Menus.Branch(ctx, s.Branch)
	if err != nil {
		return time.Time{}, err
	}
	day, err := b.Calendar().Interval(s.Date)
	return day.End, err
}

// followQuota sets today's counter to an item's standing quota, in the transaction that changes the quota.
func (k *Core) followQuota(ctx context.Context, tx sqldb.Tx, branch, item int64, quota *int64) error {
	b, err := k.Menus.Branch(ctx, branch)
	if err != nil {
		return err
	}
	now := k.DB.Now()
	scope := stock.Scope{Branch: branch, Date: b.Calendar().BizDate(now)}
	return stocksql.SetCap(ctx, tx, scope, item, quota, uid.New(now), now.UnixMilli())
}

// quotaStore notifies the admission cache of a changed quota at once, instead of in the next round of recovery.
type quotaStore struct {
	*catalogsql.Store
	core *Core
}

// SetQuota changes an item's standing quota and today's counter.
func (s quotaStore) SetQuota(
	ctx context.Context, by identity.Actor, item int64, quota *int64, now time.Time,
) (int64, error) {
	branch, err := s.Store.SetQuota(ctx, by, item, quota, now)
	s.tell(ctx, err)
	return branch, err
}

// Publish publishes a draft with its quotas.
func (s quotaStore) Publish(
	ctx context.Context, by identity.Actor, version int64, now time.Time,
) (catalog.Version, error) {
	v, err := s.Store.Publish(ctx, by, version, now)
	s.tell(ctx, err)
	return v, err
}

func (s quotaStore) tell(ctx context.Context, err error) {
	if err != nil || !s.core.Redis.Up() {
		return
	}
	if err := s.core.Keeper.ReplayAll(ctx); err != nil {
		s.core.Log.WarnContext(ctx, "a changed quota reaches the gate later", "err", err)
	}
}

// availability reads what is left from the admission cache, else from the ledger.
type availability struct{ core *Core }

// Left implements catalog.Availability.
func (a availability) Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error) {
	left := make(map[int64]int64, len(items))
	if len(items) > 0 {
		counts, _, err := a.core.Keeper.Counts(ctx, stock.Scope{Branch: branch, Date: date}, items)
		if err != nil {
			return nil, err
		}
		for _, c := range counts {
			left[c.Item] = c.Left()
		}
	}
	return left, a.byStock(ctx, branch, left)
}

// byStock lowers the portions left of dishes to those that the stock suffices for.
func (a availability) byStock(ctx context.Context, branch int64, left map[int64]int64) error {
	recipes, err := a.core.Recipes.ForBranch(ctx, branch)
	if err != nil || len(recipes) == 0 {
		return err
	}
	things := map[int64]struct{}{}
	for _, lines := range recipes {
		for _, l := range lines {
			things[l.Item] = struct{}{}
		}
	}
	levels, _, err := a.core.Keeper.Counts(ctx, stock.StockScope(branch), slices.Sorted(maps.Keys(things)))
	for item, n := range stock.PortionsLeft(recipes, levels) {
		if before, counted := left[item]; !counted || before < 0 || n < before {
			left[item] = n
		}
	}
	return err
}

// ErrNoServer means that a command cannot reach Redis, because it is embedded in a server that does not run.
var ErrNoServer = redisdb.ErrNotRunning

// IsNoServer reports whether an error is ErrNoServer.
func IsNoServer(err error) bool { return errors.Is(err, ErrNoServer) }
