package bench

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/cart"
	"comanda/internal/cart/carthttp"
	"comanda/internal/cart/cartsql"
	"comanda/internal/catalog"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/catalog/catalogredis"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/event/bus"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/payment"
	"comanda/internal/payment/vnpay"
	"comanda/internal/redisdb"
	"comanda/internal/report"
	"comanda/internal/report/reporthttp"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockhttp"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/tagcache"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
	"comanda/internal/visit"
	"comanda/internal/visit/visithttp"
	"comanda/internal/visit/visitredis"
	"comanda/internal/visit/visitsql"
	"comanda/internal/worker"
)

// testServer is the product in this process: the real visits and the guests' routes on the test's own stores.
type testServer struct {
	Config

	db     *sqldb.DB
	redis  *redisdb.DB
	reg    *prometheus.Registry
	log    *slog.Logger
	menus  *catalog.MenuCache
	syncer *stock.Syncer
}

// open starts a testServer. Its guests have the given limits.
func open(t *testing.T, databaseURL, redisURL string, limits ordering.Limits) *testServer {
	t.Helper()
	h := &testServer{reg: telemetry.NewRegistry(telemetry.Build{}), log: slog.New(slog.DiscardHandler)}
	h.Config = Config{
		Streams: testStreams, Idle: 100 * time.Millisecond,

		DatabaseURL: databaseURL, RedisURL: redisURL, PID: os.Getpid(), Duration: 300 * time.Millisecond, Conns: []int{2, 4},
		Rounds: testenv.Size(6, leastRounds),
	}
	h.openStores(t)
	h.menus = catalog.NewMenuCache(catalogsql.New(h.db, nil), catalogredis.New(h.redis), h.db.Now)
	h.syncer = stock.NewSyncer(stock.SyncerConfig{
		Cache: stockredis.New(h.redis, stockredis.Config{Now: h.db.Now, Timeout: rawPatient, Metrics: h.reg}),
		Store: stocksql.New(h.db), Now: h.db.Now, Log: h.log,
		EndOfDay: func(context.Context, stock.Scope) (time.Time, error) { return h.db.Now().Add(24 * time.Hour), nil },
	})
	t.Cleanup(h.syncer.Close)
	server := h.server(t, limits)
	h.enterMembers(t)
	h.startLoops(t)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	h.Target = web.URL
	return h
}

func (h *testServer) openStores(t *testing.T) {
	t.Helper()
	h.db = testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: h.DatabaseURL}))(t)
	t.Cleanup(h.db.Close)
	testenv.NoError(t, h.db.Migrate(t.Context()))
	h.Tokens = testenv.Must(Seed(t.Context(), h.db, true))(t)
	h.OptionTokens = testenv.Must(SeedOptions(t.Context(), h.db))(t)
	config := redisdb.Config{URL: h.RedisURL, Timeout: rawPatient, Metrics: h.reg}
	h.redis = testenv.Must(redisdb.Open(t.Context(), config))(t)
	t.Cleanup(h.redis.Close)
}

func (h *testServer) server(t *testing.T, limits ordering.Limits) *httpapi.Server {
	t.Helper()
	ledger, reader := orderingsql.NewLedger(h.db, h.syncer, h.db.Now), orderingsql.NewOrders(h.db)
	t.Cleanup(ledger.Stop)
	store := visitsql.New(h.db)
	guests := visit.NewGuests(store, visitredis.New(h.redis), h.menus, h.db.Now)
	config := ordering.Defaults()
	config.Limits = limits

	boards, carts := catalog.NewLiveMenus(h.menus, h, h.db.Now), cartsql.New(h.db, h.db.Now)
	t.Cleanup(carts.Stop)
	baskets := &cart.Service{Store: carts, LiveMenus: boards}
	gateway := h.openGateway(t)
	orders := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: config, Methods: payment.NewMethods(payment.VNPay), Gateways: map[payment.Method]payment.Gateway{payment.VNPay: gateway}}
		},
		Ledger: ledger, Admission: h.syncer, Reader: reader, Catalog: h.menus, Carts: baskets, Now: h.db.Now, Payments: ledger, Log: h.log,
	}
	conf := httpapi.Default()
	conf.AccessLog = false
	h.ServiceToken = "0123456789abcdef0123456789abcdef"
	conf.ServiceToken = telemetry.Secret(h.ServiceToken)
	server := testenv.Must(httpapi.New(conf, h.log, h.reg))(t)
	cataloghttp.RegisterGuest(server.API(), boards, &visit.Floor{Store: store, Guests: guests, Now: h.db.Now})
	cataloghttp.RegisterLive(server.API(), boards, unsharedGuests{guests})
	visithttp.RegisterGuest(server.API(), &visit.Landing{Store: store, Branches: h.menus, Guests: guests, Now: h.db.Now})
	carthttp.Register(server.API(), baskets)
	orderinghttp.Register(server.API(), orders, guests, reader, ledger)
	orderinghttp.RegisterGateways(server.API(), orders, orderinghttp.Gateways{
		VNPay:   func() (orderinghttp.VNPay, bool) { return gateway, true },
		LINEPay: func() (orderinghttp.LINEPay, bool) { return nil, false },
	})
	reservations := stocksql.NewReservations(h.db, h.syncer, h.db.Now)
	t.Cleanup(reservations.Stop)
	stockhttp.RegisterInventory(server.API(), stockhttp.Services{
		Reservations: &stock.ReservationService{Store: reservations, Admission: h.syncer, Now: h.db.Now},
		Items: &stock.ItemService{
			Store: reservations, Queries: stocksql.New(h.db),
			Branches: func(context.Context) ([]int64, error) { return []int64{branchID}, nil },
		},
	})
	sales := report.NewService(reportsql.New(h.db), h.menus)
	sales.Cache, sales.Now = &tagcache.Cache{Store: tagcache.NewMemory(h.db.Now)}, h.db.Now
	reporthttp.Register(server.API(), sales)
	server.API().Handle(httpapi.Route{Pattern: "POST /auth/login", Policy: httpapi.Public, Handler: http.HandlerFunc(login)})
	server.SetAuthenticator(authzhttp.Authenticator{Tokens: accounttest.ByID{}, Routes: accounttest.ByID{}})
	return server
}

// testStreams is the number of live streams that tests measure.
const testStreams = 20

// unsharedGuests implements cataloghttp.Guests for guests without a shared cart.
type unsharedGuests struct{ *visit.Guests }

func (l unsharedGuests) BranchOf(ctx context.Context, token string) (branch int64, key string, err error) {
	g, err := l.Resolve(ctx, token)
	return g.BranchID, g.TokenHash, err
}

func (unsharedGuests) CartVersion(context.Context, string) (int64, error) { return 0, nil }

func (unsharedGuests) FollowCart(context.Context, string, chan struct{}) (func(), error) {
	return func() {}, nil
}

// vnpayGateway implements orderinghttp.VNPay with a merchant account.
type vnpayGateway struct{ *vnpay.Merchant }

func (m vnpayGateway) Read(rawQuery string) (string, payment.Report, error) {
	n, err := m.Merchant.Read(rawQuery)
	return n.AttemptID, n.Report, err
}

func (vnpayGateway) Message(code string) string { return vnpay.ReplyFor(code).Message }

func (h *testServer) openGateway(t *testing.T) vnpayGateway {
	t.Helper()
	h.VNPay = Site{"BENCH001", "0123456789abcdef"}
	m := testenv.Must(vnpay.New(vnpay.Config{TmnCode: h.VNPay.TmnCode, HashSecret: telemetry.Secret(h.VNPay.HashSecret)},
		http.DefaultClient, h.db.Now))(t)
	return vnpayGateway{m}
}

// enterMembers creates accounts. Their numbers are their tokens and their passwords.
func (h *testServer) enterMembers(t *testing.T) {
	t.Helper()
	const first = 7001
	people := documenttest.Writer{DB: h.db}
	testenv.NoError(t, people.PutRole(t.Context(), 1, "USER"))
	for id := int64(first); id < first+5; id++ {
		name := strconv.FormatInt(id, 10)
		u := documenttest.User{ID: id, Email: name + "@example.com", Role: 1}
		testenv.NoError(t, people.PutUser(t.Context(), u))
		h.Members = append(h.Members, Login{u.Email, name})
	}
}

// login accepts every password and returns it as the token.
func login(w http.ResponseWriter, r *http.Request) {
	var in struct{ Password string }
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"accessToken": in.Password})
}

// Left implements catalog.Availability.
func (h *testServer) Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error) {
	counts, _, err := h.syncer.Counts(ctx, stock.Scope{Branch: branch, Date: date}, items)
	left := map[int64]int64{}
	for _, c := range counts {
		left[c.Item] = c.Left()
	}
	return left, err
}

// startLoops runs the loops that process the load's changes: the admission cache's, the relay and the projector.
func (h *testServer) startLoops(t *testing.T) {
	t.Helper()
	local := testenv.Must(bus.New(inbox.New(h.db, inbox.Options{}), orderingsql.Daybook()))(t)
	jobs := worker.NewMetrics(h.reg)
	rows := documentsql.New(h.db)
	projector := &document.Projector{Source: rows, Outbox: rows, Writer: documentredis.New(h.redis), Now: h.db.Now}
	var services []worker.Service
	for _, l := range []worker.Loop{
		{Name: "apply", Run: h.syncer.Apply},
		{Name: "recover", Run: h.syncer.Replay, Every: 10 * time.Millisecond},
		{Name: "relay", Run: outbox.New(h.db, local, outbox.Options{}).RunOnce, Every: 10 * time.Millisecond},
		{Name: "documents", Run: projector.RunOnce, Every: 10 * time.Millisecond},
	} {
		services = append(services, worker.New(l, h.log, jobs))
	}
	group := worker.NewGroup(services...)
	testenv.NoError(t, group.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() {
		if err := group.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
