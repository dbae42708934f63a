package bench

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogredis"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/event/bus"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/payment"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/telemetry"
	"comanda/internal/visit"
	"comanda/internal/visit/visithttp"
	"comanda/internal/visit/visitredis"
	"comanda/internal/visit/visitsql"
	"comanda/internal/worker"
)

// house is the product in this process: the real rooms and the guests' routes on stores of the test's own.
type house struct {
	Config

	db     *sqldb.DB
	redis  *redisdb.DB
	reg    *prometheus.Registry
	log    *slog.Logger
	menus  *catalog.Menus
	keeper *stock.Gatekeeper
}

// open starts a house. Its guests have the given limits.
func open(t *testing.T, databaseURL, redisURL string, limits ordering.Limits) *house {
	t.Helper()
	h := &house{reg: telemetry.NewRegistry(telemetry.Build{}), log: slog.New(slog.DiscardHandler)}
	h.Config = Config{
		DatabaseURL: databaseURL, RedisURL: redisURL, PID: os.Getpid(), Duration: 100 * time.Millisecond, Conns: []int{2, 4},
	}
	h.openStores(t)
	h.menus = catalog.NewMenus(catalogsql.New(h.db, nil), catalogredis.New(h.redis), h.db.Now)
	h.keeper = stock.NewGatekeeper(stock.GatekeeperConfig{
		Gate:    stockredis.New(h.redis, stockredis.Config{Now: h.db.Now, Patience: rawPatient, Metrics: h.reg}),
		Journal: stocksql.New(h.db), Now: h.db.Now, Log: h.log,
		Ends: func(context.Context, stock.Scope) (time.Time, error) { return h.db.Now().Add(24 * time.Hour), nil },
	})
	t.Cleanup(h.keeper.Close)
	server := h.server(t, limits)
	h.startLoops(t)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	h.Target = web.URL
	return h
}

func (h *house) openStores(t *testing.T) {
	t.Helper()
	var err error
	if h.db, err = sqldb.Open(t.Context(), sqldb.Config{URL: h.DatabaseURL}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.db.Close)
	if err := h.db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.Tokens, err = Seed(t.Context(), h.db, true); err != nil {
		t.Fatal(err)
	}
	h.redis, err = redisdb.Open(t.Context(), redisdb.Config{URL: h.RedisURL, Timeout: rawPatient, Metrics: h.reg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.redis.Close)
}

func (h *house) server(t *testing.T, limits ordering.Limits) *httpapi.Server {
	t.Helper()
	ledger, reader := orderingsql.NewLedger(h.db, h.keeper, h.db.Now), orderingsql.NewOrders(h.db)
	t.Cleanup(ledger.Stop)
	store := visitsql.New(h.db)
	guests := visit.NewGuests(store, visitredis.New(h.redis), h.menus, h.db.Now)
	config := ordering.Defaults()
	config.Limits = limits

	conf := httpapi.Default()
	conf.AccessLog = false
	server, err := httpapi.New(conf, h.log, h.reg)
	if err != nil {
		t.Fatal(err)
	}
	cataloghttp.Guest(server.API(), catalog.NewBoards(h.menus, h, h.db.Now),
		&visit.Floor{Plan: store, Guests: guests, Now: h.db.Now})
	visithttp.Guest(server.API(), &visit.Door{Store: store, Branches: h.menus, Guests: guests, Now: h.db.Now})
	orderinghttp.Register(server.API(), &ordering.Service{
		Config: config, Ledger: ledger, Gate: h.keeper, Reader: reader, Catalog: h.menus,
		Methods: payment.NewMethods(), Now: h.db.Now,
	}, guests, reader, ledger)
	return server
}

// Left implements catalog.Availability.
func (h *house) Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error) {
	counts, _, err := h.keeper.Counts(ctx, stock.Scope{Branch: branch, Date: date}, items)
	left := map[int64]int64{}
	for _, c := range counts {
		left[c.Item] = c.Left()
	}
	return left, err
}

// startLoops runs what works a load off: the gate and the relay.
func (h *house) startLoops(t *testing.T) {
	t.Helper()
	local, err := bus.New(inbox.New(h.db, inbox.Options{}), orderingsql.Daybook())
	if err != nil {
		t.Fatal(err)
	}
	jobs := worker.NewMetrics(h.reg)
	var services []worker.Service
	for _, l := range []worker.Loop{
		{Name: "apply", Run: h.keeper.ApplyCommitted},
		{Name: "recover", Run: h.keeper.Recover, Every: 10 * time.Millisecond},
		{Name: "relay", Run: outbox.New(h.db, local, outbox.Options{}).RunOnce, Every: 10 * time.Millisecond},
	} {
		services = append(services, worker.New(l, h.log, jobs))
	}
	group := worker.NewGroup(services...)
	if err := group.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
