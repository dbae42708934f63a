package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account"
	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/brand"
	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogredis"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/event/inbox"
	"comanda/internal/keyspace"
	"comanda/internal/limit"
	"comanda/internal/limit/limitredis"
	"comanda/internal/live"
	"comanda/internal/notice"
	"comanda/internal/notice/noticesql"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordermail/ordermailsql"
	"comanda/internal/redisdb"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/seq"
	"comanda/internal/settings"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockmemory"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/system"
	"comanda/internal/tagcache"
	"comanda/internal/telemetry"
	"comanda/internal/visit"
	"comanda/internal/visit/visitredis"
	"comanda/internal/visit/visitsql"
	"comanda/internal/web"
)

// OpenDatabase opens the configured database without migrating it. The folder is private to its owner, because a SQLite
// database in it contains password hashes and keys.
func OpenDatabase(ctx context.Context, c Config) (*sqldb.DB, error) {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("COMANDA_DATA_DIR: %w; name a folder that this user may write to", err)
	}
	return c.openDatabase(ctx)
}

// OpenExisting opens the configured database, which must exist, and creates neither a file nor the data folder.
func OpenExisting(ctx context.Context, c Config) (*sqldb.DB, error) {
	if err := c.checkDatabase(); err != nil {
		return nil, err
	}
	return c.openDatabase(ctx)
}

// openDatabase says in errors what to do. Package sqldb does not know the names of settings.
func (c Config) openDatabase(ctx context.Context) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: c.DatabaseURL})
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w; this user must be able to write to the file and its folder", err)
	case errors.Is(err, sqldb.ErrUnavailable):
		return nil, fmt.Errorf("%w; check COMANDA_DATABASE_URL", err)
	}
	return db, err
}

// checkDatabase returns an error if the configured SQLite file does not exist. Commands create none: in a misspelt
// folder, an empty installation would hide the mistake.
func (c Config) checkDatabase() error {
	file, ok := strings.CutPrefix(c.DatabaseURL, "sqlite:")
	if !ok || file == "" {
		return nil // without a path, opening it fails
	}
	if _, err := os.Stat(strings.TrimPrefix(file, "//")); !errors.Is(err, fs.ErrNotExist) {
		return nil // any other error is that of opening the file
	}
	return fmt.Errorf("there is no database %s: check --data-dir, or create it with comanda serve or comanda migrate up", file)
}

// redis returns the configuration of package redisdb: without a URL it embeds a store whose socket is in the data
// folder.
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

// Core contains all services on their stores, without HTTP and background loops. Its services find each other in it, so
// a service may use one that is wired later, but only when it is called.
type Core struct {
	Config             Config
	DB                 *sqldb.DB
	Redis              *redisdb.DB
	Log                *slog.Logger
	Menus              *catalog.MenuCache
	LiveMenus          *catalog.LiveMenus
	Branches           *catalog.BranchAdmin
	Editor             *catalog.MenuEditor
	Guests             *visit.Guests
	Landing            *visit.Landing
	Floor              *visit.Floor
	AdmissionCache     stock.AdmissionCache
	Syncer             *stock.Syncer
	Stock              *stocksql.Store
	Reservations       *stocksql.Reservations
	ReservationService *stock.ReservationService
	Recipes            *stock.RecipeCache
	Snapshots          *stock.SnapshotService
	Ledger             *orderingsql.Ledger
	OrderReader        *orderingsql.Orders
	Reports            *report.Service
	Analytics          *analytics.Service
	Activity           *analytics.Activity
	Views              *analyticssql.Store
	Orders             *ordering.Service
	Vouchers           *ordering.Vouchers
	Boards             *ordering.BoardHub
	Limits             *limit.Limiter // nil when limits are off
	Carts              *cart.Service
	SharedCarts        *cart.SharedService
	CartStore          *cartsql.Store
	Cache              *tagcache.Cache // nil: every value is computed
	Metrics            *metrics
	Live               *live.Hub
	Notices            *notice.Service
	NoticeStore        *noticesql.Store

	CatalogServices cataloghttp.Services
	images          web.Photos

	accountServices
	authorization
	documents

	Settings    *settings.Service
	Brand       *brand.Service
	gateways    *gateways
	house       atomic.Pointer[houseSettings] // in force; see house.go
	followers   []func(*houseSettings) error  // see onSettings
	startWindow time.Duration                 // payment window at the start of this process
	applying    sync.Mutex                    // held while changed settings are applied
	unapplied   bool                          // a follower failed to apply the settings in house
	process     system.About

	memory      *stockmemory.Cache // the admission cache, if it is in this process
	cacheMemory *tagcache.Memory   // the values of Cache, if they are in this process

	mirror *stockredis.Cache    // its copy in the embedded store
	behind map[stock.Scope]bool // scopes whose copy is older; only the loop of the copies uses it

	pushKey *pushKey

	moving sync.RWMutex // locked while deadlines move with the clock
}

// Deps are the dependencies of the services. The caller closes the stores and the gateways.
type Deps struct {
	Config   Config
	DB       *sqldb.DB
	Redis    *redisdb.DB
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	Gateways *gateways    // nil: the counter and, if configured, the sandbox
	Process  system.About // zero in a command
	NoCache  bool         // a command without the servers' Redis: it must not apply what servers have to apply
}

// NewCore creates all services. It reads the installation's keys, which the first start creates, and the revoked
// sessions. Close stops what it starts.
func NewCore(ctx context.Context, d Deps) (*Core, error) {
	k := &Core{
		Config: d.Config, DB: d.DB, Redis: d.Redis, Log: d.Log, Metrics: newMetrics(d.Metrics), gateways: d.Gateways,
		process: d.Process,
	}
	if k.gateways == nil {
		k.gateways = &gateways{}
	}
	// Services are wired in the order of their dependencies. wireSettings comes first, because it can fail before
	// there is anything to stop. wireIdentity follows the services that Close stops.
	if err := k.wireSettings(ctx); err != nil {
		return nil, err
	}
	exportClock(d.Metrics, k.DB.Clock())
	k.wireLimits(d.Metrics)
	k.wireCatalog()
	k.wireDocuments(d.Metrics)
	k.wireCache(d.Metrics)
	k.wireVisits(d.Metrics)
	k.wireStock(d.Metrics, d.NoCache)
	k.CartStore = cartsql.New(k.DB, k.DB.Now)
	k.Carts = &cart.Service{Store: k.CartStore, LiveMenus: k.LiveMenus}
	k.wireOrders(d.Metrics)
	k.SharedCarts = &cart.SharedService{Store: k.CartStore, LiveMenus: k.LiveMenus, Phones: k.OrderReader, Now: k.DB.Now}
	k.wireAnalytics(d.Metrics)
	k.wireNotices()
	k.wireLive(d.Metrics)
	if err := k.wireIdentity(ctx, d.Metrics); err != nil {
		k.Close()
		return nil, err
	}
	k.followActivity()
	k.wireAuthorization()
	return k, nil
}

// wireCatalog creates the menus' caches and services. A changed quota sets today's counter and the admission cache.
func (k *Core) wireCatalog() {
	store := catalogsql.New(k.DB, k.followQuota)
	store.OnQuota = k.updateCache
	k.Menus = catalog.NewMenuCache(store, catalogredis.New(k.Redis), k.DB.Now)
	k.LiveMenus = catalog.NewLiveMenus(k.Menus, availability{k}, k.DB.Now)
	k.Branches = &catalog.BranchAdmin{Store: store, Menus: k.Menus, Now: k.DB.Now}
	k.Editor = &catalog.MenuEditor{Store: store, Menus: k.Menus, Now: k.DB.Now}
	k.wireCatalogServices(store)
}

// wireVisits creates the services of tables, visits and guests.
func (k *Core) wireVisits(reg prometheus.Registerer) {
	store := visitsql.New(k.DB)
	scans := telemetry.Metrics(reg).Counting("qr_exchange_total", "Scans of tables' codes, by result.", "result",
		visit.ScanOutcomes()...)
	k.Guests = visit.NewGuests(store, visitredis.New(k.Redis), k.Menus, k.DB.Now)
	k.Landing = &visit.Landing{Store: store, Branches: k.Menus, Guests: k.Guests, Now: k.DB.Now, OnScan: scans}
	k.Floor = &visit.Floor{Store: store, Guests: k.Guests, Now: k.DB.Now}
}

// wireStock creates the admission cache with its syncer, and the reservations of other systems. The syncer is shared
// with the orders' ledger: both hold units of the same counters.
func (k *Core) wireStock(reg prometheus.Registerer, noCache bool) {
	k.Stock = stocksql.New(k.DB)
	k.wireAdmissionCache(reg, noCache)
	k.Syncer = stock.NewSyncer(stock.SyncerConfig{
		Cache: k.AdmissionCache, Store: k.Stock, EndOfDay: k.dayEnds, Now: k.DB.Now, Log: k.Log, Observer: k.syncerObserver(),
	})
	k.Recipes = &stock.RecipeCache{Read: k.Stock.Recipes, Now: k.DB.Now}
	k.Reservations = stocksql.NewReservations(k.DB, k.Syncer, k.DB.Now)
	k.ReservationService = &stock.ReservationService{Store: k.Reservations, Admission: k.Syncer, Now: k.DB.Now}
	k.Reservations.OnCommit = k.Metrics.decided
	exportGroup(reg, "reservations", k.Reservations.Group())
	k.Snapshots = &stock.SnapshotService{Cache: stockredis.NewSnapshotCache(k.Redis), Store: k.Reservations, Now: k.DB.Now}
}

// wireOrders creates the ledger, which starts the goroutine of its group commit, and the services above it.
func (k *Core) wireOrders(reg prometheus.Registerer) {
	k.Ledger = orderingsql.NewLedger(k.DB, k.Syncer, k.DB.Now)
	exportGroup(reg, "orders", k.Ledger.Group())
	k.OrderProjector.Busy = busyGroup(k.Ledger.Group().Stats)
	k.OrderReader = orderingsql.NewOrders(k.DB)
	k.OrderReader.Counts = k.Cache
	k.Reports = report.NewService(reportsql.New(k.DB), k.Menus)
	k.Reports.Cache, k.Reports.Now = k.Cache, k.DB.Now
	k.Vouchers = &ordering.Vouchers{
		Store: orderingsql.NewVouchers(k.DB, k.Reservations, k.DB.Now), Catalog: k.Menus, Now: k.DB.Now,
		Changed: k.Menus.Invalidate,
	}
	k.Orders = &ordering.Service{
		Settings: func() ordering.Settings { return k.house.Load().orders }, Ledger: k.Ledger, Admission: k.Syncer,
		Reader: k.OrderReader, Catalog: k.Menus, Carts: k.Carts, Recipes: k.Recipes, Payments: k.Ledger, Log: k.Log,
		Vouchers: k.Vouchers, Now: k.DB.Now, Metrics: k.Metrics.orders(), UnpaidOfMember: k.unpaidOfMember,
	}
	k.Boards = &ordering.BoardHub{
		Reader: k.OrderReader, Catalog: k.Menus, Changes: k.Ledger, Ages: k.ages,
		Interval: k.Config.StreamLook, Notified: k.notified, Log: k.Log, Now: k.DB.Now,
	}
}

// Close commits the operations queued in the ledger and ends the syncer's tasks. Captures end first, because they
// still write to the ledger; they may take half of stopTimeout. The group commits follow, and the syncer is last,
// because every commit passes its changes to it.
func (k *Core) Close() {
	talks, cancel := context.WithTimeout(context.Background(), stopTimeout/2)
	defer cancel()
	k.Orders.Close(talks)
	k.CartStore.Stop()
	k.Ledger.Stop()
	k.Reservations.Stop()
	k.Syncer.Close()
}

// invalidateCache makes the admission cache unusable until it is rebuilt from SQL. A process that was killed has left
// provisional holds, and until they expire guests would be refused portions that are free. The provisional holds of
// other processes are lost too; that costs only a query, because SQL decides in any case. The pause after a rebuild by
// another process does not apply: without it, the cache would be missing for that time after each start.
func (k *Core) invalidateCache(ctx context.Context) error {
	from := k.DB.Now().AddDate(0, 0, -2).Format(time.DateOnly)
	scopes, err := k.Stock.Scopes(ctx, from)
	if err != nil {
		return err
	}
	for s := range scopes {
		if _, err := k.AdmissionCache.BeginRebuild(ctx, s); err != nil {
			k.Log.DebugContext(ctx, "Redis is unavailable; the scope is compared again later", "err", err)
			return nil
		}
	}
	return k.Stock.ResetRebuilds(ctx, from)
}

// Consumers returns all event consumers, for RabbitMQ and the local bus alike. reservations may be nil, and the others
// zero, if the caller needs only their names and queues.
func Consumers(
	reservations *stocksql.Reservations, emails ordermailsql.Queue, flags orderingsql.ExpiryFlags, notices noticesql.Consumer,
) []inbox.Consumer {
	return append([]inbox.Consumer{
		orderingsql.Daybook(), emails.Consumer(), flags.Consumer(), notices.Consumer(),
	}, reservations.Consumers()...)
}

// consumers returns the event consumers of this process.
func (k *Core) consumers() []inbox.Consumer {
	return Consumers(k.Reservations, ordermailsql.Queue{Now: k.DB.Now, Sends: func(context.Context) (bool, error) {
		return k.house.Load().config.SMTPURL != "", nil
	}}, expiryFlags(k.DB, func(context.Context) (account.TrustRules, error) { return k.trustRules(), nil }), k.noticeConsumer())
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
	return stocksql.SetCap(ctx, tx, scope, item, quota, now)
}

// updateCache applies a committed quota to the admission cache at once, instead of in the next round of Replay. A
// failure is only logged: the row in redis_outbox stays, and the loop applies it later.
func (k *Core) updateCache(ctx context.Context) {
	if k.memory == nil && !k.Redis.Up() {
		return
	}
	if err := k.Syncer.ReplayAll(ctx); err != nil {
		k.Log.WarnContext(ctx, "a changed quota is applied to Redis later", "err", err)
	}
}

// availability reads the remaining units from the admission cache, else from the ledger. Its figures may be some
// milliseconds old; the ledger decides when an order is placed.
type availability struct{ core *Core }

// Left implements catalog.Availability.
func (a availability) Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error) {
	left := make(map[int64]int64, len(items))
	if len(items) > 0 {
		counts, _, err := a.core.Syncer.Counts(ctx, stock.Scope{Branch: branch, Date: date}, items)
		if err != nil {
			return nil, err
		}
		for _, c := range counts {
			left[c.Item] = c.Left()
		}
	}
	return left, a.byStock(ctx, branch, left)
}

// byStock lowers the remaining portions of dishes to the number for which the stock suffices. It limits dishes without
// a quota too, if their recipe uses stock.
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
	levels, _, err := a.core.Syncer.Counts(ctx, stock.StockScope(branch), slices.Sorted(maps.Keys(things)))
	for item, n := range stock.PortionsLeft(recipes, levels) {
		if before, counted := left[item]; !counted || before < 0 || n < before {
			left[item] = n
		}
	}
	return err
}

// wireLimits creates the rate limiter. COMANDA_LIMITS=off leaves it nil, which allows everything.
func (k *Core) wireLimits(reg prometheus.Registerer) {
	rejected := telemetry.Metrics(reg).Counting("ratelimit_rejected_total", "Requests refused by rate limits, by policy.",
		"policy", seq.Map(limit.Policies(), func(p limit.Policy) string { return p.Name })...)
	if k.Config.Limits {
		k.Limits = &limit.Limiter{
			Local: limit.NewMemory(), Now: k.DB.Now, Rejected: rejected,
		}
		if !k.Redis.InProcess() { // else no other process shares the limits
			k.Limits.Shared = limitredis.New(k.Redis)
		}
	}
}
